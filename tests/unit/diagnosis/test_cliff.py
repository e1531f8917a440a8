"""The judgement of layers, and the figures it reads."""

import numpy as np
import pytest
from ml_dtypes import bfloat16

from scripts.diagnosis.cliff import Thresholds, find_cliff
from scripts.diagnosis.records import LayerRecord, layer_record

THRESHOLDS = Thresholds(min_cosine=0.99, max_step=0.002)


def layers(*cosines: float) -> list[LayerRecord]:
    return [LayerRecord("prefill", layer, cosine, {}, {}) for layer, cosine in enumerate(cosines)]


def test_a_slow_decline_is_no_cliff() -> None:
    assert find_cliff(layers(0.9995, 0.998, 0.9965, 0.995), THRESHOLDS) is None


@pytest.mark.parametrize(
    ("cosines", "layer"),
    [
        ((0.9999, 0.9998, 0.9961, 0.996), 2),  # a step, though above the threshold
        ((0.997, 0.996), 0),  # the first layer is measured from 1
        ((0.9985, 0.997, 0.9955, 0.994, 0.9925, 0.991, 0.9895), 6),  # below the threshold, by small steps
        ((0.0,), 0),
    ],
)
def test_the_first_break_is_named(cosines: tuple[float, ...], layer: int) -> None:
    cliff = find_cliff(layers(*cosines), THRESHOLDS)
    assert cliff is not None and (cliff.layer, cliff.cosine) == (layer, cosines[layer])


def test_figures_of_a_layer() -> None:
    expected = np.array([[3.0, 4.0], [0.0, 2.0]], dtype=bfloat16)
    actual = np.array([[4.0, 3.0], [0.0, 2.0]], dtype=bfloat16)
    record = layer_record("decode", 3, actual, expected)
    assert record.cosine["min"] == pytest.approx(24 / 25) and record.cosine["median"] == pytest.approx(0.98)
    assert record.whole_cosine == pytest.approx(28 / 29)
    assert record.errors == {"max_abs": 1.0, "mean_abs": 0.5}


def test_what_is_no_number_is_as_wrong_as_can_be() -> None:
    expected = np.ones((2, 4), dtype=bfloat16)
    actual = expected.copy()
    actual[1, 1] = np.nan
    record = layer_record("prefill", 0, actual, expected)
    assert record.whole_cosine == 0.0 and record.cosine["min"] == 0.0 and record.errors["max_abs"] > 1e300
    nothing = np.zeros((1, 4), dtype=bfloat16)
    assert layer_record("prefill", 0, nothing, nothing).whole_cosine == 1.0
    assert layer_record("prefill", 0, nothing, expected[:1]).whole_cosine == 0.0
