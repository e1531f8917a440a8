"""Weighted RMSNorm: the harness's inputs and the FP32 reference, y = x / sqrt(mean(x^2) + eps) * w."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from kernels.seeded import legacy_normals


def make_inputs(dims: Mapping[str, int], inputs: Mapping[str, Any]) -> list[np.ndarray]:
    """x[M, N] and weight[N], bf16 normals (harness: weighted_rms_norm.py)."""
    state = np.random.RandomState(inputs["seed"])
    x = legacy_normals(state, (dims["M"], dims["N"]))
    return [x, legacy_normals(state, (dims["N"],))]


def reference(dims: Mapping[str, int], inputs: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> np.ndarray:
    """y[M, N] in bf16, `eps` from the harness and not from a model's config."""
    x, weight = (array.astype(np.float32) for array in arrays)
    root_mean_square = np.sqrt(np.mean(np.square(x), axis=-1, keepdims=True) + np.float32(inputs["eps"]))
    x /= root_mean_square
    x *= weight
    return x.astype(bfloat16)
