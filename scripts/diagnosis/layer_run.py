"""Both sides through the layers, in step, so that one layer's weights are in memory at a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from scripts.diagnosis.arithmetic import Arithmetic
from scripts.diagnosis.decoder_layer import empty_cache, run_layer
from scripts.diagnosis.operations import Operations
from scripts.diagnosis.weights import LayerWeights, layer_weights, token_embeddings
from scripts.models.config import ModelConfig
from scripts.models.plan import DECODE, PREFILL

WeightsOfLayer = Callable[[int], LayerWeights]
OperationsOfLayer = Callable[[int], Operations]


@dataclass(frozen=True)
class Prompt:
    """What enters the first layer."""

    prefill: np.ndarray  # bf16 [seq_len, hidden]
    decode: np.ndarray  # bf16 [decode tokens, hidden], the positions that follow, one at a time

    @property
    def positions(self) -> int:
        """All of them."""
        return len(self.prefill) + len(self.decode)


def prompt_of(config: ModelConfig, seq_len: int, decode_tokens: int) -> Prompt:
    """Seeded embeddings of a prompt and of the tokens after it."""
    embeddings = token_embeddings(config, seq_len + decode_tokens)
    return Prompt(embeddings[:seq_len], embeddings[seq_len:])


@dataclass(frozen=True)
class LayerOutput:
    """`ffn_out` of one layer."""

    layer: int  # from 0
    phases: dict[str, np.ndarray]  # bf16 [T, hidden] by "prefill" and "decode"


def run_layers(
    config: ModelConfig,
    arithmetic: Arithmetic,
    operations: OperationsOfLayer,
    prompt: Prompt,
    layers: int,
    weights: WeightsOfLayer | None = None,
) -> Iterator[LayerOutput]:
    """Outputs layer by layer: the prefill of the prompt, then its decode tokens one at a time.

    The tokens are fed, not sampled, so the decode of a layer needs nothing of the layers behind it.
    """
    weights = weights or (lambda layer: layer_weights(config, layer))
    table = arithmetic.rope_table(np.arange(prompt.positions))
    length = len(prompt.prefill)
    x, tokens = prompt.prefill, prompt.decode
    for layer in range(layers):
        of_layer, ops = weights(layer), operations(layer)
        cache = empty_cache(config, x.dtype)
        x, cache = run_layer(config, ops, of_layer, x, table[:length], cache)
        outputs = []
        for index in range(len(tokens)):
            at = length + index
            token = tokens[index : index + 1]
            out, cache = run_layer(config, ops, of_layer, token, table[at : at + 1], cache)
            outputs.append(out)
        tokens = np.concatenate(outputs) if outputs else tokens
        yield LayerOutput(layer, {PREFILL: x, DECODE: tokens})
