"""Comparing an output with its reference, element by element, in bounded memory."""

from collections.abc import Iterator
from dataclasses import dataclass

import ml_dtypes
import numpy as np

# Elements taken at a time: small enough for a float64 chunk and its temporaries to stay in the cache.
CHUNK_ELEMENTS = 1 << 16
# Added to a denominator so that a zero reference gives a huge ratio, not a division by zero
# (xrt_runner.py).
ZERO_GUARD = 1e-30


@dataclass(frozen=True)
class Failure:
    """One element outside the tolerance. The figures are numpy scalars of the dtype compared in."""

    index: tuple[int, ...]  # position in the output, plain ints
    expected: np.floating  # reference value
    actual: np.floating  # value the kernel wrote


@dataclass(frozen=True)
class Comparison:
    """Error statistics of one output against its reference."""

    elements: int  # elements compared; never zero
    mean_rel_L1: float  # mean|a-e| / mean|e|
    rel_err_max: float  # max |a-e| / |e|; blows up where the reference is near zero, and gates nothing
    abs_err_max: float  # max |a-e|
    mismatches: int  # elements not proven close: not |a-e| <= atol + rtol*|e|; a NaN is never close
    first_failures: tuple[Failure, ...]  # the first failing elements in C order


def compare(
    actual: np.ndarray, expected: np.ndarray, rtol: float, atol: float, listed: int = 20
) -> Comparison:
    """Compare `actual` with `expected` (same size, shape of `expected`) and list the first failures.

    bf16 is compared in float64, float32 in float32, both as xrt_runner.py does; sums are float64.
    `numpy.isclose` semantics: |a-e| <= atol + rtol*|e|, infinities equal only to themselves.
    Raises ValueError if the sizes differ or there is nothing to compare.
    """
    if actual.size != expected.size or expected.size == 0:
        raise ValueError(f"{actual.size} elements cannot be compared with {expected.size}")
    error_sum = reference_sum = 0.0
    relative_max = absolute_max = 0.0
    mismatches = 0
    failures: list[Failure] = []
    with np.errstate(invalid="ignore", over="ignore"):
        for start, a, e in chunks(actual, expected):
            error, magnitude = np.abs(a - e), np.abs(e)
            close = _close(a, e, error, magnitude, rtol, atol)
            error_sum += float(error.sum(dtype=np.float64))
            reference_sum += float(magnitude.sum(dtype=np.float64))
            absolute_max = float(np.maximum(absolute_max, error.max()))  # keeps a NaN
            error /= magnitude + ZERO_GUARD
            relative_max = float(np.maximum(relative_max, error.max()))
            failing = close.size - int(np.count_nonzero(close))
            if failing and len(failures) < listed:
                failures += _failures(start, a, e, close, expected.shape, listed - len(failures))
            mismatches += failing
    mean = (error_sum / expected.size) / (reference_sum / expected.size + ZERO_GUARD)
    return Comparison(expected.size, mean, relative_max, absolute_max, mismatches, tuple(failures))


def chunks(actual: np.ndarray, expected: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield (start, actual, expected) flat chunks, bf16 widened to float64."""
    flat_actual, flat_expected = actual.reshape(-1), expected.reshape(-1)
    for start in range(0, expected.size, CHUNK_ELEMENTS):
        span = slice(start, start + CHUNK_ELEMENTS)
        yield start, _widened(flat_actual[span]), _widened(flat_expected[span])


def _widened(values: np.ndarray) -> np.ndarray:
    """Widen bf16 to float64; a bf16 is the upper half of a float32, so no rounding takes place."""
    if values.dtype != ml_dtypes.bfloat16:
        return values
    bits = np.ascontiguousarray(values).view(np.uint16).astype(np.uint32)
    bits <<= 16
    return bits.view(np.float32).astype(np.float64)


def _close(
    a: np.ndarray, e: np.ndarray, error: np.ndarray, magnitude: np.ndarray, rtol: float, atol: float
) -> np.ndarray:
    """Boolean mask of the elements proven close to the reference."""
    close = error <= atol + rtol * magnitude
    if not np.isfinite(magnitude).all():
        # An infinite reference makes the tolerance infinite: only the same infinity is close to it.
        close = (close & np.isfinite(e)) | (a == e)
    return close


def _failures(
    start: int, a: np.ndarray, e: np.ndarray, close: np.ndarray, shape: tuple[int, ...], wanted: int
) -> list[Failure]:
    """The first `wanted` failing elements of a chunk that starts at flat index `start`."""
    failures = []
    for position in np.flatnonzero(~close)[:wanted]:
        index = tuple(int(i) for i in np.unravel_index(start + int(position), shape))
        failures.append(Failure(index, e[position], a[position]))
    return failures
