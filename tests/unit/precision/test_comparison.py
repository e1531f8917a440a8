"""Statistics of a comparison, against plain numpy over whole arrays."""

import tracemalloc

import ml_dtypes
import numpy as np
import pytest

from scripts.precision.comparison import CHUNK_ELEMENTS, compare

RTOL, ATOL = 1.6e-2, 1.5e-3
BF16 = ml_dtypes.bfloat16


def whole_array_figures(actual: np.ndarray, expected: np.ndarray) -> tuple[float, float, float, int]:
    """The same figures without chunks: bf16 in float64, float32 as it is."""
    if expected.dtype == BF16:
        actual, expected = actual.astype(np.float64), expected.astype(np.float64)
    error, magnitude = np.abs(actual - expected), np.abs(expected)
    mismatches = int(np.count_nonzero(~np.isclose(actual, expected, rtol=RTOL, atol=ATOL)))
    mean = error.mean(dtype=np.float64) / (magnitude.mean(dtype=np.float64) + 1e-30)
    return mean, (error / (magnitude + 1e-30)).max(), error.max(), mismatches


def noisy_pair(dtype: type, elements: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    expected = random.standard_normal(elements).astype(dtype)
    noise = 1 + 6e-3 * random.standard_normal(elements)
    return (expected.astype(np.float64) * noise).astype(dtype), expected


@pytest.mark.parametrize("dtype", [BF16, np.float32])
@pytest.mark.parametrize("elements", [1, CHUNK_ELEMENTS - 1, CHUNK_ELEMENTS, 3 * CHUNK_ELEMENTS + 17])
def test_figures_do_not_depend_on_chunks(dtype: type, elements: int) -> None:
    actual, expected = noisy_pair(dtype, elements)
    result = compare(actual, expected, RTOL, ATOL)
    mean, relative, absolute, mismatches = whole_array_figures(actual, expected)
    assert result.elements == elements
    assert result.mean_rel_L1 == pytest.approx(mean, rel=1e-12)
    assert (result.rel_err_max, result.abs_err_max) == (pytest.approx(relative), pytest.approx(absolute))
    assert result.mismatches == mismatches
    assert elements == 1 or mismatches > 0


@pytest.mark.parametrize("dtype", [BF16, np.float32])
def test_special_values_are_close_only_to_themselves(dtype: type) -> None:
    inf, nan = np.inf, np.nan
    actual = np.array([inf, -inf, inf, 1.0, nan, 1.0, nan, inf], dtype=dtype)
    expected = np.array([inf, -inf, -inf, inf, 1.0, nan, nan, 1.0], dtype=dtype)
    result = compare(actual, expected, RTOL, ATOL)
    assert [failure.index for failure in result.first_failures] == [(i,) for i in range(2, 8)]
    assert result.mismatches == 6
    assert np.isnan(result.mean_rel_L1) and np.isnan(result.rel_err_max) and np.isnan(result.abs_err_max)


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_nan_survives_in_every_maximum(position: int) -> None:
    """A running maximum that compares with < would drop it."""
    expected = np.ones(3 * CHUNK_ELEMENTS, dtype=BF16)
    actual = expected.copy()
    actual[position * CHUNK_ELEMENTS + 5] = np.nan
    result = compare(actual, expected, RTOL, ATOL)
    assert np.isnan(result.rel_err_max) and np.isnan(result.abs_err_max)
    assert result.mismatches == 1


def test_the_tolerance_scales_with_the_reference_not_with_the_output() -> None:
    expected, actual = np.full(4, 100.0, np.float32), np.full(4, 101.62, np.float32)
    assert compare(actual, expected, RTOL, 0.0).mismatches == 4
    assert compare(expected, actual, RTOL, 0.0).mismatches == 0


def test_an_error_at_the_tolerance_is_close_and_one_above_is_not() -> None:
    expected = np.zeros(2, np.float32)
    limit = np.float32(ATOL)
    actual = np.array([limit, np.nextafter(limit, np.float32(1))])
    assert [failure.index for failure in compare(actual, expected, RTOL, ATOL).first_failures] == [(1,)]


def test_failures_are_listed_in_order_across_chunks_with_the_outputs_indices() -> None:
    shape = (40, CHUNK_ELEMENTS // 8)
    expected = np.ones(shape, dtype=BF16)
    actual = expected.copy()
    failing = [(1, 7), (8, 0), (17, 3), (39, CHUNK_ELEMENTS // 8 - 1)]
    for index in failing:
        actual[index] = 2
    result = compare(actual.reshape(-1), expected, RTOL, ATOL, listed=3)
    assert [failure.index for failure in result.first_failures] == failing[:3]
    assert result.mismatches == 4
    assert all(type(number) is int for failure in result.first_failures for number in failure.index)


def test_an_array_that_is_not_contiguous_is_compared_in_c_order() -> None:
    expected = np.arange(12, dtype=np.float32).reshape(3, 4).astype(BF16)
    actual = np.asfortranarray(expected)
    actual[2, 1] += 1
    assert [failure.index for failure in compare(actual, expected, RTOL, ATOL).first_failures] == [(2, 1)]


@pytest.mark.parametrize("sizes", [(0, 0), (4, 5)])
def test_nothing_to_compare_is_refused(sizes: tuple[int, int]) -> None:
    """An empty output would otherwise pass: no element exceeds the tolerance."""
    with pytest.raises(ValueError, match="cannot be compared"):
        compare(*(np.zeros(size, np.float32) for size in sizes), RTOL, ATOL)


def test_memory_does_not_grow_with_the_output() -> None:
    actual, expected = noisy_pair(BF16, 4_000_000)
    tracemalloc.start()
    compare(actual, expected, RTOL, ATOL)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8_000_000
