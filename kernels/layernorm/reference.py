"""Affine LayerNorm: the harness's inputs and the FP32 reference."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from kernels.seeded import legacy_normals


def make_inputs(dims: Mapping[str, int], inputs: Mapping[str, Any]) -> list[np.ndarray]:
    """x[M, N] and param[2N] = weight[N] then bias[N], bf16 normals (harness: layer_norm.py)."""
    state, width = np.random.RandomState(inputs["seed"]), dims["N"]
    x = legacy_normals(state, (dims["M"], width))
    # Weight and bias are drawn one after the other, so one draw of both is the same stream.
    return [x, legacy_normals(state, (2 * width,))]


def reference(dims: Mapping[str, int], inputs: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> np.ndarray:
    """y[M, N] in bf16: (x - mean) / sqrt(variance + eps) * weight + bias, the variance a biased one."""
    x, param = (array.astype(np.float32) for array in arrays)
    weight, bias = np.split(param, 2)
    x -= np.mean(x, axis=-1, keepdims=True)
    x *= 1.0 / np.sqrt(np.mean(np.square(x), axis=-1, keepdims=True) + np.float32(inputs["eps"]))
    x *= weight
    x += bias
    return x.astype(bfloat16)
