"""Seeded random weights of a decoder's layers, at the model's real dimensions."""

from dataclasses import dataclass, field

import numpy as np
from ml_dtypes import bfloat16

from scripts.models.config import ModelConfig

SEED = 0
PROJECTION_GAIN = 0.9
"""Standard deviation of a projection's output for an input of unit variance: what the `initializer_range`
of the Llama and Qwen configs, 0.02, gives at a width of 2048."""
SCORE_STD = 2.0
"""Standard deviation of attention scores that Q and K are drawn for. Attention then looks at a few keys, as a
trained model's does; spread over all of them it would hardly depend on RoPE, or on which head is which."""
NORM_STD = 0.1
"""Standard deviation of norm weights around 1, so that a norm which forgets its weight shows."""
BIAS_STD = 0.1
"""Standard deviation of biases: large enough that one which is dropped shows."""


@dataclass(frozen=True)
class LayerWeights:
    """Tensors of one layer, all bf16. Projections are [in, out], as a GEMM reads them."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    o: np.ndarray
    gate: np.ndarray
    up: np.ndarray
    down: np.ndarray
    norms: dict[str, np.ndarray]  # "attention input", "attention output", "MLP input", "MLP output", "Q", "K"
    biases: dict[str, np.ndarray]  # by the projection's field name; none for a projection without bias
    turned: dict[int, np.ndarray] = field(default_factory=dict)  # [out, in], made when a GEMV first asks

    def by_rows(self, projection: np.ndarray) -> np.ndarray:
        """The projection as [out, in], as a GEMV reads it."""
        key = id(projection)
        if key not in self.turned:
            self.turned[key] = np.ascontiguousarray(projection.T)
        return self.turned[key]


def layer_weights(config: ModelConfig, layer: int) -> LayerWeights:
    """The weights of one layer. They depend on the seed, the layer and the shapes alone."""
    draw = _Draw(np.random.default_rng([SEED, layer]))
    hidden, inner = config.hidden_size, config.intermediate_size
    shapes = {
        "q": (hidden, config.q_dim),
        "k": (hidden, config.kv_dim),
        "v": (hidden, config.kv_dim),
        "o": (config.q_dim, hidden),
        "gate": (hidden, inner),
        "up": (hidden, inner),
        "down": (inner, hidden),
    }
    projections = {name: draw.normal(shape, _std(name, shape[0])) for name, shape in shapes.items()}
    norms = {
        name: draw.normal((width,), NORM_STD, SCORE_STD**0.5 if name in "QK" else 1.0)
        for name, width in _norm_widths(config).items()
    }
    biases = {name: draw.normal((shapes[name][1],), BIAS_STD) for name in _biased(config)}
    return LayerWeights(**projections, norms=norms, biases=biases)


def token_embeddings(config: ModelConfig, tokens: int) -> np.ndarray:
    """bf16 [tokens, hidden]: what enters the first layer.

    Of unit variance, so that the residual stream weighs as much as what a layer adds to it.
    """
    generator = np.random.default_rng([SEED, config.layers, tokens])
    return _Draw(generator).normal((tokens, config.hidden_size), 1.0)


def _std(name: str, width_in: int) -> float:
    """Of a projection's weights. Scaled scores of q and k deviate as much as the variance of q and k."""
    return (SCORE_STD**0.5 if name in "qk" else PROJECTION_GAIN) / width_in**0.5


def _norm_widths(config: ModelConfig) -> dict[str, int]:
    widths = {}
    for block in ("attention", "MLP"):
        widths |= {f"{block} input": config.hidden_size} if config.pre_norm else {}
        widths |= {f"{block} output": config.hidden_size} if config.post_norm else {}
    if config.qk_norm == "head":
        widths |= {"Q": config.head_dim, "K": config.head_dim}
    elif config.qk_norm == "width":
        widths |= {"Q": config.q_dim, "K": config.kv_dim}
    return widths


def _biased(config: ModelConfig) -> list[str]:
    """Projections that have a bias."""
    groups = (
        (config.qkv_bias, ("q", "k", "v")),
        (config.output_bias, ("o",)),
        (config.mlp_bias, ("gate", "up", "down")),
    )
    return [name for has_bias, names in groups if has_bias for name in names]


@dataclass(frozen=True)
class _Draw:
    generator: np.random.Generator

    def normal(self, shape: tuple[int, ...], std: float, mean: float = 0.0) -> np.ndarray:
        values = self.generator.standard_normal(shape, dtype=np.float32)
        values *= np.float32(std)
        values += np.float32(mean)
        return values.astype(bfloat16)
