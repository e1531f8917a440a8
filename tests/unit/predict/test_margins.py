"""The margin by which an output passes or fails, and the smallest atol that passes."""

import numpy as np
import pytest
from ml_dtypes import bfloat16

from scripts.precision.comparison import compare
from scripts.prediction.margins import predict

RTOL, ATOL = 1.6e-2, 1.5e-3


def test_the_margin_is_taken_at_the_element_that_is_nearest_to_failing() -> None:
    expected = np.array([[1.0, 0.0], [2.0, -4.0]], np.float32)
    actual = np.array([[1.0, 0.001], [2.0, -4.03]], np.float32)
    result = predict(actual, expected, RTOL, ATOL)
    assert (result.passes, result.mismatches, result.elements) == (True, 0, 4)
    assert result.margin == pytest.approx(0.001 / ATOL, rel=1e-6)
    assert result.margin_index == (0, 1)
    assert result.abs_err_max == pytest.approx(0.03, rel=1e-4)
    assert result.smallest_atol == pytest.approx(0.001, rel=1e-3)


def test_a_failing_output_has_a_margin_above_one() -> None:
    expected = np.array([0.0, 1.0, 0.0], np.float32)
    result = predict(np.array([0.003, 1.0, -0.002], np.float32), expected, RTOL, ATOL)
    assert (result.passes, result.mismatches, result.margin_index) == (False, 2, (0,))
    assert result.margin == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize("dtype", [bfloat16, np.float32])
def test_the_smallest_atol_passes_and_a_smaller_one_does_not(dtype: type) -> None:
    rng = np.random.default_rng(17)
    expected = rng.standard_normal(200_000).astype(dtype)
    actual = (expected.astype(np.float32) + rng.standard_normal(expected.size) * 0.01).astype(dtype)
    smallest = predict(actual, expected, RTOL, ATOL).smallest_atol
    assert smallest > 0.01
    assert compare(actual, expected, RTOL, smallest).mismatches == 0
    assert compare(actual, expected, RTOL, smallest * 0.999).mismatches > 0


def test_an_exact_output_needs_no_atol() -> None:
    values = np.array([0.0, 1.0, np.inf], np.float32)
    result = predict(values, values, 0.0, 0.0)
    assert (result.passes, result.margin, result.smallest_atol) == (True, 0.0, 0.0)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_no_atol_mends_a_value_that_is_not_finite(wrong: float) -> None:
    expected = np.array([1.0, 2.0], np.float32)
    result = predict(np.array([1.0, wrong], np.float32), expected, RTOL, ATOL)
    assert not result.passes
    assert (result.margin, result.smallest_atol, result.margin_index) == (None, None, (1,))
