"""The lines a harness prints for one output, in upstream's own format, for both targets."""

from collections.abc import Sequence

import numpy as np

from scripts.precision.comparison import Comparison, Failure, compare
from scripts.precision.harness_log import FAIL_LINE, PASS_LINE

# Failing elements listed one by one before the rest is only counted (xrt_runner.py).
LISTED_FAILURES = 20


def harness_lines(
    actual: np.ndarray, expected: np.ndarray, rtol: float, atol: float
) -> tuple[list[str], bool]:
    """Compare `actual` with the reference `expected`; return the lines to print and whether it passed.

    `expected` is already cast to the output dtype (bf16 or float32) and gives the output's shape;
    `actual` has the same size. Raises ValueError if the sizes differ or the output is empty.
    """
    result = compare(actual, expected, rtol, atol, LISTED_FAILURES)
    lines = [format_precision_line(result, rtol, atol)]
    passed = result.mismatches == 0
    if not passed:
        lines += mismatch_lines(result, expected.shape)
    lines.append(PASS_LINE if passed else FAIL_LINE)
    return lines, passed


def format_precision_line(result: Comparison, rtol: float, atol: float, output: int = 0) -> str:
    """The `[precision]` line of output number `output`."""
    return (
        f"[precision] Output {output} ({result.elements} elements): "
        f"mean_rel_L1={result.mean_rel_L1:.3e} | rel_err max={result.rel_err_max:.3e} | "
        f"abs_err max={result.abs_err_max:.3e} | rtol={rtol:.1e} atol={atol:.1e}"
    )


def format_latency_line(latency_us: float, flops: float | None) -> str:
    """The `Latency (us)` line; throughput only for kernels whose FLOP count is meaningful."""
    line = f"Latency (us): {latency_us:.1f}"
    if flops is not None:
        line += f" | Throughput: {flops / latency_us / 1e3:.6e} GFLOP/s"
    return line


def mismatch_lines(result: Comparison, shape: Sequence[int], output: int = 0) -> list[str]:
    """The lines between `[precision]` and `failed.`: the count, then the first failing elements."""
    percent = 100 * result.mismatches / result.elements
    lines = [
        f"ERROR: Output {output} does not meet expected output.",
        f"Shape: {tuple(int(extent) for extent in shape)}",
        f"Mismatches: {result.mismatches} / {result.elements} elements ({percent:.2f}%)",
        f"First {len(result.first_failures)} mismatched locations:",
    ]
    lines += [_failure_line(failure) for failure in result.first_failures]
    unlisted = result.mismatches - len(result.first_failures)
    if unlisted > 0:
        lines.append(f"  ... and {unlisted} more mismatches")
    return lines


def _failure_line(failure: Failure) -> str:
    with np.errstate(invalid="ignore"):
        difference = abs(failure.actual - failure.expected)
    return (
        f"  Index {failure.index}: expected={failure.expected!s}, actual={failure.actual!s}, "
        f"diff={difference!s}"
    )
