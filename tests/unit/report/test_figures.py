"""Figures in one style, and the published value of the right row."""

import pytest

from scripts.report.figures import measured_scientific, published_mean


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (9.279e-3, "9.279e-3"),
        (0.01025, "1.025e-2"),  # the log's figure of 1.0245e-2; three digits would make it 1.03e-2
        (0.0, "0"),
        (1.0, "1.000e0"),
        (1.641e-9, "1.641e-9"),
        (None, "-"),
        (5.074e26, "5.074e26"),
    ],
)
def test_ours_have_the_digits_of_the_log(value: float | None, text: str) -> None:
    assert measured_scientific(value) == text


def row(method: str, mean: str, kind: str = "published", shape: str = "8x8x8") -> dict:
    return {"shape": shape, "method": method, "printed": {"mean_rel_L1": mean}, "evidence": {"kind": kind}}


def test_the_row_of_the_same_method_comes_first() -> None:
    rows = [row("drain", "0.0093"), row("fused-cast", "0.0097")]
    assert published_mean(rows, "8x8x8", "fused-cast") == ("9.7e-3", None)
    assert published_mean(rows, "8x8x8", "drain") == ("9.3e-3", None)


def test_another_methods_value_says_whose_it_is() -> None:
    assert published_mean([row("drain", "0.0093")], "8x8x8", "fused-cast") == ("9.3e-3", "drain")


@pytest.mark.parametrize("other", [row("drain", "1", kind="simulated"), row("drain", "1", shape="8x8x16")])
def test_nothing_else_counts_as_published(other: dict) -> None:
    assert published_mean([other], "8x8x8", "drain") == ("-", None)
