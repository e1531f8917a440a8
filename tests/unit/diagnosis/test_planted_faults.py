"""A fault in one layer is found in that layer."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from scripts.diagnosis.arithmetic import Arithmetic, arithmetic_of
from scripts.diagnosis.cliff import Thresholds, find_cliffs
from scripts.diagnosis.layer_run import prompt_of, run_layers
from scripts.diagnosis.numpy_operations import NumpyOperations
from scripts.diagnosis.records import LayerRecord, layer_record
from scripts.diagnosis.weights import LayerWeights, layer_weights
from scripts.models.config import ModelConfig, load_config

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "models"
LAYERS, PROMPT, TOKENS, FAULTY = 9, 64, 2, 7
THRESHOLDS = Thresholds(min_cosine=0.99, max_step=0.002)


@pytest.fixture(scope="module")
def config() -> ModelConfig:
    small = {"hidden_size": 256, "intermediate_size": 512, "heads": 4, "kv_heads": 2, "layers": LAYERS}
    return replace(load_config(FIXTURES / "tiny.json"), **small)


@pytest.fixture(scope="module")
def arithmetic(config: ModelConfig) -> Arithmetic:
    return arithmetic_of(config)


class WrongTheta(NumpyOperations):
    """RoPE turns by the angles of theta 10000, not of the model's 500000."""

    def rotate(self, x: np.ndarray, table: np.ndarray) -> np.ndarray:
        half = table.shape[1] // 2
        # The first frequency is 1 for every theta, so its angle is the position itself (below pi).
        positions = np.arange(len(x)) if len(x) > 1 else np.array([PROMPT])
        angles = np.outer(positions, 10000.0 ** -(np.arange(half) / half))
        return super().rotate(x, np.concatenate([np.cos(angles), np.sin(angles)], axis=1))


class DroppedResidual(NumpyOperations):
    """The residual is not added to what the MLP gives."""

    def project_and_add(
        self, x: np.ndarray, weights: LayerWeights, name: str, residual: np.ndarray
    ) -> np.ndarray:
        if name == "down":
            return self.linear(x, weights, name)
        return super().project_and_add(x, weights, name, residual)


def swapped_head(config: ModelConfig, layer: int) -> LayerWeights:
    """K and V of the first head change places in the faulty layer."""
    weights, width = layer_weights(config, layer), config.head_dim
    if layer != FAULTY:
        return weights
    k, v = weights.k.copy(), weights.v.copy()
    k[:, :width], v[:, :width] = weights.v[:, :width], weights.k[:, :width]
    return replace(weights, k=k, v=v)


def records(
    config: ModelConfig,
    arithmetic: Arithmetic,
    faulty: type[NumpyOperations] = NumpyOperations,
    weights: Callable[[int], LayerWeights] | None = None,
) -> Iterator[LayerRecord]:
    """The layers with a fault beside those without one."""
    sound = NumpyOperations(config, arithmetic.norm_eps)
    wrong = faulty(config, arithmetic.norm_eps)
    prompt = prompt_of(config, PROMPT, TOKENS)

    def operations(layer: int) -> NumpyOperations:
        return wrong if layer == FAULTY else sound

    actual = run_layers(config, arithmetic, operations, prompt, LAYERS, weights)
    expected = run_layers(config, arithmetic, lambda _: sound, prompt, LAYERS)
    for with_fault, without in zip(actual, expected, strict=True):
        for phase, output in with_fault.phases.items():
            yield layer_record(phase, with_fault.layer, output, without.phases[phase])


def test_no_fault_no_cliff(config: ModelConfig, arithmetic: Arithmetic) -> None:
    found = list(records(config, arithmetic))
    assert len(found) == 2 * LAYERS and all(record.whole_cosine == pytest.approx(1) for record in found)
    assert find_cliffs(found, THRESHOLDS) == {"prefill": None, "decode": None}


@pytest.mark.parametrize("fault", ["wrong theta", "swapped head", "dropped residual"])
def test_a_fault_is_localised_to_its_layer(config: ModelConfig, arithmetic: Arithmetic, fault: str) -> None:
    if fault == "swapped head":
        found = list(records(config, arithmetic, weights=lambda layer: swapped_head(config, layer)))
    else:
        found = list(records(config, arithmetic, WrongTheta if fault == "wrong theta" else DroppedResidual))
    cliffs = find_cliffs(found, THRESHOLDS)
    assert cliffs["prefill"] is not None and cliffs["prefill"].layer == FAULTY
    assert cliffs["decode"] is None or cliffs["decode"].layer == FAULTY
    assert cliffs["prefill"].text().startswith(f"prefill layer {FAULTY}: ffn_out cosine 0.")
