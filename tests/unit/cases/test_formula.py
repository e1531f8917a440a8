"""Formulas: what they compute, and what they refuse."""

import pytest

from scripts.cases.formula import Formula
from scripts.errors import InputError


@pytest.mark.parametrize(
    ("text", "variables", "value"),
    [
        ("2 * M * K", {"M": 3, "K": 5}, 30),
        ("M % (tile * herd)", {"M": 100, "tile": 16, "herd": 2}, 4),
        ("M // 3 ** 2", {"M": 20}, 2),
        ("lqp / tiles - 64", {"lqp": 256, "tiles": 4}, 0.0),
        ("-a + 1", {"a": 3}, -2),
        ("M * K >= 4e9", {"M": 2**16, "K": 2**16}, True),
        ("a > 1 and not b", {"a": 2, "b": 0}, True),
        ("a > 1 or b", {"a": 1, "b": 0}, False),
        ("True", {}, True),
    ],
)
def test_value(text: str, variables: dict[str, int], value: float) -> None:
    formula = Formula(text)
    assert formula(variables) == value
    assert formula.names == set(variables)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "M.real",
        "f(1)",
        "[1][0]",
        "'text'",
        "1 if M else 2",
        "M +",
        "",
        "lambda: 1",
        "1 < M < 3",
    ],
)
def test_refuses_what_is_not_arithmetic(text: str) -> None:
    with pytest.raises(InputError, match="formula"):
        Formula(text)


def test_names_the_missing_variable() -> None:
    with pytest.raises(InputError, match="no value for tile"):
        Formula("M % tile")({"M": 4})


def test_division_by_zero_is_bad_input() -> None:
    with pytest.raises(InputError, match="division by zero"):
        Formula("M % tile")({"M": 4, "tile": 0})
