"""FlashAttention: the harness's inputs and the FP32 reference, softmax(q k^T / sqrt(dk)) v per head."""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from kernels.seeded import normals

# A masked score: exp of it is 0, and a row that has nothing else still has a finite maximum.
_MASKED = np.float32(-1e9)
# Scores held at a time, 64 MiB of FP32: memory stays bounded at any length.
_SCORES = 1 << 24


def make_inputs(dims: Mapping[str, int], inputs: Mapping[str, Any]) -> list[np.ndarray]:
    """q[HQ, LQ, DK], k[HKV, LK, DK], v[HKV, LK, DV], bf16 of float64 normals (harness: attn_npu2.py)."""
    generator = np.random.default_rng(inputs["seed"])
    shapes = (
        (dims["HQ"], dims["LQ"], dims["DK"]),
        (dims["HKV"], dims["LK"], dims["DK"]),
        (dims["HKV"], dims["LK"], dims["DV"]),
    )
    return [normals(generator, shape, np.float64) for shape in shapes]


def reference(dims: Mapping[str, int], inputs: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> np.ndarray:
    """out[HQ, LQ, DV] in bf16. Query head h reads key and value head h // (HQ / HKV)."""
    q, k, v = arrays
    out = np.empty((dims["HQ"], dims["LQ"], dims["DV"]), dtype=bfloat16)
    group, rows = dims["HQ"] // dims["HKV"], max(1, _SCORES // dims["LK"])
    for head in range(dims["HQ"]):
        keys, values = (array[head // group].astype(np.float32) for array in (k, v))
        for start in range(0, dims["LQ"], rows):
            queries = q[head, start : start + rows].astype(np.float32)
            first_row = start if dims["mask"] else None
            out[head, start : start + rows] = _attention(queries, keys, values, first_row).astype(bfloat16)
    return out


def _attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, first_row: int | None) -> np.ndarray:
    """FP32 attention of some rows of one head; `first_row` is the position of the first, None for no mask."""
    scores = q @ k.T
    scores *= np.float32(1.0 / sqrt(q.shape[1]))
    if first_row is not None:
        positions = np.arange(first_row, first_row + len(q))
        scores[np.arange(len(k)) > positions[:, None]] = _MASKED
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores @ v
