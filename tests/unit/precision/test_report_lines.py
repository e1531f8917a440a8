"""The harness's lines, character by character."""

import ml_dtypes
import numpy as np

from scripts.precision.harness_log import parse_attempt
from scripts.precision.report_lines import format_latency_line, harness_lines

BF16 = ml_dtypes.bfloat16


def test_a_pass_prints_figures_and_pass() -> None:
    expected = np.array([1.0, 2.0, 4.0, 1.0], dtype=BF16)
    actual = np.array([1.0, 2.0, 4.0, 1.0078125], dtype=BF16)
    lines, passed = harness_lines(actual, expected, 1.6e-2, 1.5e-3)
    assert passed
    assert lines == [
        "[precision] Output 0 (4 elements): mean_rel_L1=9.766e-04 | rel_err max=7.812e-03 | "
        "abs_err max=7.812e-03 | rtol=1.6e-02 atol=1.5e-03",
        "PASS!",
    ]


def test_a_failure_lists_the_elements_with_plain_numbers() -> None:
    expected = np.array([[0.000457763671875, 1.0], [1.0, 2.0]], dtype=BF16)
    actual = np.array([[0.002166748046875, 1.0], [1.0, np.nan]], dtype=BF16)
    lines, passed = harness_lines(actual, expected, 1.6e-2, 1.5e-3)
    assert not passed
    assert lines[1:] == [
        "ERROR: Output 0 does not meet expected output.",
        "Shape: (2, 2)",
        "Mismatches: 2 / 4 elements (50.00%)",
        "First 2 mismatched locations:",
        "  Index (0, 0): expected=0.000457763671875, actual=0.002166748046875, diff=0.001708984375",
        "  Index (1, 1): expected=2.0, actual=nan, diff=nan",
        "failed.",
    ]


def test_twenty_failures_are_listed_and_the_others_counted() -> None:
    expected, actual = np.ones(30, np.float32), np.zeros(30, np.float32)
    lines, _ = harness_lines(actual, expected, 1.6e-2, 1.5e-3)
    assert lines[4] == "First 20 mismatched locations:"
    assert lines[5] == "  Index (0,): expected=1.0, actual=0.0, diff=1.0"
    assert lines[-2:] == ["  ... and 10 more mismatches", "failed."]
    assert len(lines) == 5 + 20 + 2


def test_float32_is_printed_as_float32() -> None:
    lines, _ = harness_lines(np.array([0.3], np.float32), np.array([0.1], np.float32), 0.0, 0.0)
    assert lines[5] == "  Index (0,): expected=0.1, actual=0.3, diff=0.20000002"


def test_what_is_printed_is_what_the_parser_reads() -> None:
    random = np.random.default_rng(1)
    expected = random.standard_normal((64, 32)).astype(BF16)
    actual = expected.copy()
    actual[5, 7], actual[63, 31] = 9, np.nan
    log = parse_attempt(harness_lines(actual, expected, 1.6e-2, 4e-3)[0])
    assert log.failed and not log.passed and not log.malformed
    assert (log.mismatches, log.mismatch_total, log.listed) == (2, 2048, 2)
    assert [each.index for each in log.first_mismatches] == [(5, 7), (63, 31)]
    assert log.first_mismatches[0].expected == float(expected[5, 7])
    assert (log.precision[0].rtol, log.precision[0].atol) == ("1.6e-02", "4.0e-03")


def test_the_latency_line_has_a_throughput_where_flops_are_meaningful() -> None:
    assert format_latency_line(437.24, None) == "Latency (us): 437.2"
    line = format_latency_line(8712.4, 2 * 2048 * 2048 * 8192)
    assert line == "Latency (us): 8712.4 | Throughput: 7.887548e+03 GFLOP/s"
    log = parse_attempt([line])
    assert (log.latency_us, log.gflops) == (8712.4, 7887.548)
