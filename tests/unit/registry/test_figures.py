"""How figures are written."""

import pytest

from scripts.registry.figures import figure_text, scientific


@pytest.mark.parametrize(
    "number, text",
    [
        ("0.0097", "9.7e-3"),
        ("0.00926", "9.26e-3"),
        ("0.0095708", "9.5708e-3"),
        ("1.0e-2", "1.0e-2"),
        ("0.01", "1.0e-2"),
        ("1.25e-1", "1.25e-1"),
        ("4.0e+0", "4.0e0"),
        ("1.56e-2", "1.56e-2"),
        ("0.0", "0"),
        ("-0.5", "-5.0e-1"),
    ],
)
def test_scientific_keeps_every_digit(number, text):
    assert scientific(number) == text


@pytest.mark.parametrize(
    "figure, value, printed, text",
    [
        ("latency_us", 437, "437", "437 µs"),
        ("latency_us", 437.2, None, "437 µs"),
        ("gbps", 57.7, "57.7", "57.7 GB/s"),
        ("gflops", 1065, "1065–1116", "1065–1116"),
        ("gflops", 7889.0, None, "7889"),
        ("gflops", 9.512, None, "9.5"),
        ("mean_rel_L1", 0.01, "1.0e-2", "1.0e-2"),
        ("mean_rel_L1", 0.009279, None, "9.279e-3"),
        ("rel_err_max", 458800.0, None, "4.588e5"),
        ("abs_err_max", 0.0, "0.0", "0"),
        ("abs_err_max", None, None, "-"),
    ],
)
def test_figure_text(make_row, figure, value, printed, text):
    row = make_row(printed={figure: printed} if printed else {}, **{figure: value})
    assert figure_text(row, figure) == text
