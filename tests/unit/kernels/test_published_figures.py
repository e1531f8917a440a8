"""Each kernel and method against figures that were measured on NPU2, digit for digit.

The smallest published shapes of each are run here; `python -m benchmarks.published_figures` runs them all.
"""

from math import prod
from pathlib import Path

import pytest

from benchmarks.published_figures import compare_row, published_rows
from benchmarks.row_results import PublishedRow, rounds_to

SHAPES_PER_METHOD = 2
# Rows the model is known not to meet, and why: one that starts to match fails its test.
OPEN = {
    "silu_and_mul_655360": "the tanh unit between 0.5 and 2 is calibrated, not known",
}


def smallest_rows() -> list[PublishedRow]:
    """The smallest published shapes of each kernel and method."""
    return [
        row
        for rows in published_rows().values()
        for row in sorted(rows, key=lambda row: prod(size or 1 for size in row.case.dims.values()))[
            :SHAPES_PER_METHOD
        ]
    ]


def parameter(row: PublishedRow) -> object:
    name = row.case.name
    marks = [pytest.mark.xfail(strict=True, reason=OPEN[name])] if name in OPEN else []
    return pytest.param(row, id=f"{name}-{row.method}", marks=marks)


@pytest.mark.parametrize("row", [parameter(row) for row in smallest_rows() if row.case.kernel != "gemv"])
def test_the_host_target_prints_what_the_device_printed(row: PublishedRow, tmp_path: Path) -> None:
    result = compare_row(row, tmp_path)
    assert result.figures
    assert [figure for figure in result.figures if not figure.matches] == []


@pytest.mark.parametrize(
    "row", [parameter(row) for row in published_rows()["gemv", None] if prod(row.case.dims.values()) < 2**20]
)
def test_gemv_differs_from_the_reference_by_single_flips_at_most(row: PublishedRow, tmp_path: Path) -> None:
    # Which sums flip depends on the order of the machine's own BLAS too, so digits are not compared.
    result = compare_row(row, tmp_path)
    assert result.passed
    assert float(result.figures[0].host) < 1e-5


@pytest.mark.parametrize(
    ("measured", "published", "same"),
    [
        ("9.278e-03", "9.3e-3", True),
        ("9.251e-03", "9.3e-3", True),
        ("9.249e-03", "9.3e-3", False),
        ("1.026e-02", "0.01", True),
        ("1.060e-02", "0.01", False),
        ("0.000e+00", "0.0", True),
        ("1.641e-09", "0.0", False),
        ("1.875e-01", "0.188", True),
        ("4.000e+00", "4.0e+0", True),
    ],
)
def test_a_figure_matches_when_it_rounds_to_the_published_digits(measured, published, same) -> None:
    assert rounds_to(measured, published) is same
