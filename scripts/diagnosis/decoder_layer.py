"""One decoder layer, put together from operations by the traits of the model."""

from dataclasses import dataclass

import numpy as np

from scripts.diagnosis.operations import Operations
from scripts.diagnosis.weights import LayerWeights
from scripts.models.config import ModelConfig


@dataclass
class KeyValueCache:
    """Keys, rotated, and values of the positions so far; bf16 [S, kv_heads, head_dim]."""

    keys: np.ndarray
    values: np.ndarray

    def extended(self, keys: np.ndarray, values: np.ndarray) -> "KeyValueCache":
        """The cache with more positions behind those that are there."""
        return KeyValueCache(np.concatenate([self.keys, keys]), np.concatenate([self.values, values]))


def empty_cache(config: ModelConfig, dtype: np.dtype) -> KeyValueCache:
    """A cache of no position."""
    shape = (0, config.kv_heads, config.head_dim)
    return KeyValueCache(np.empty(shape, dtype), np.empty(shape, dtype))


def run_layer(
    config: ModelConfig,
    operations: Operations,
    weights: LayerWeights,
    x: np.ndarray,
    table: np.ndarray,
    cache: KeyValueCache,
) -> tuple[np.ndarray, KeyValueCache]:
    """The layer's output (`ffn_out`, bf16 like x[T, hidden]) and the cache with x's positions in it.

    `table` holds the cosines and sines of x's positions (`Arithmetic.rope_table`).
    """
    attended, cache = _attention(config, operations, weights, x, table, cache)
    if config.post_norm:
        projected = operations.linear(attended, weights, "o")
        middle = operations.add(x, operations.norm(projected, weights.norms["attention output"]))
    else:
        middle = operations.project_and_add(attended, weights, "o", x)
    gated = operations.normed_gating(middle, weights)
    if config.post_norm:
        projected = operations.linear(gated, weights, "down")
        return operations.add(middle, operations.norm(projected, weights.norms["MLP output"])), cache
    return operations.project_and_add(gated, weights, "down", middle), cache


def _attention(
    config: ModelConfig,
    operations: Operations,
    weights: LayerWeights,
    x: np.ndarray,
    table: np.ndarray,
    cache: KeyValueCache,
) -> tuple[np.ndarray, KeyValueCache]:
    """The attention's output before the O projection, [T, q_dim]."""
    normed = operations.norm(x, weights.norms["attention input"]) if config.pre_norm else x
    q, k, v = (operations.linear(normed, weights, name) for name in "qkv")
    if config.qk_norm == "width":
        q, k = operations.norm(q, weights.norms["Q"]), operations.norm(k, weights.norms["K"])
    q, k, v = (each.reshape(len(x), -1, config.head_dim) for each in (q, k, v))
    if config.qk_norm == "head":
        q = _norm_heads(operations, q, weights.norms["Q"])
        k = _norm_heads(operations, k, weights.norms["K"])
    cache = cache.extended(operations.rotate(k, table), v)
    attended = operations.attention(operations.rotate(q, table), cache.keys, cache.values)
    return attended.reshape(len(x), -1), cache


def _norm_heads(operations: Operations, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The norm over each head: a call per head over a prompt, one call for all heads of one token."""
    if len(x) == 1:
        return operations.norm(x[0], weight)[None]
    heads = [operations.norm(np.ascontiguousarray(x[:, head]), weight) for head in range(x.shape[1])]
    return np.stack(heads, axis=1)
