"""RoPE, half-split: the harness's inputs and the FP32 reference."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from kernels.seeded import normals


def make_inputs(dims: Mapping[str, int], inputs: Mapping[str, Any]) -> list[np.ndarray]:
    """x[ROWS * HEAD_DIM] and table[ROWS * HEAD_DIM], bf16 (harness: rope_halfsplit.py)."""
    rows, head_dim = dims["ROWS"], dims["HEAD_DIM"]
    x = normals(np.random.default_rng(inputs["seed"]), (rows * head_dim,))
    return [x, rotation_table(rows, head_dim, inputs["theta"])]


def rotation_table(rows: int, head_dim: int, theta: float) -> np.ndarray:
    """bf16 table[rows * head_dim]: row r is position r, its cosines and then its sines.

    Pair i of a row turns by r / theta^(2i / head_dim) radians, computed in float64: at row 65535 a
    float32 angle would be off by more than the table's own rounding.
    """
    half = head_dim // 2
    frequencies = 1.0 / theta ** (2.0 * np.arange(half, dtype=np.float64) / head_dim)
    angles = np.outer(np.arange(rows, dtype=np.float64), frequencies)
    table = np.empty((rows, head_dim), dtype=np.float32)
    np.cos(angles, out=table[:, :half], casting="same_kind")
    np.sin(angles, out=table[:, half:], casting="same_kind")
    return table.astype(bfloat16).reshape(-1)


def reference(dims: Mapping[str, int], inputs: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> np.ndarray:
    """y[ROWS * HEAD_DIM] in bf16: element i of a row rotated against element i + HEAD_DIM / 2."""
    x, table = (array.astype(np.float32).reshape(-1, dims["HEAD_DIM"]) for array in arrays)
    first, second = np.split(x, 2, axis=1)
    cosine, sine = np.split(table, 2, axis=1)
    rotated = np.concatenate((first * cosine - second * sine, first * sine + second * cosine), axis=1)
    return rotated.astype(bfloat16).reshape(-1)
