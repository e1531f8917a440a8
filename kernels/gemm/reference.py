"""GEMM: the harness's inputs and the FP32 reference, C[M, N] = A[M, K] @ B[K, N]."""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from kernels.seeded import legacy_normals


def make_inputs(dims: Mapping[str, int], inputs: Mapping[str, Any]) -> list[np.ndarray]:
    """A[M, K] and B[K, N], bf16 normals over sqrt(K), so that C has variance 1/K (harness: run.py)."""
    state, scale = np.random.RandomState(inputs["seed"]), 1.0 / sqrt(dims["K"])
    # A first: both come from one stream.
    a = legacy_normals(state, (dims["M"], dims["K"]), scale)
    return [a, legacy_normals(state, (dims["K"], dims["N"]), scale)]


def reference(dims: Mapping[str, int], inputs: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> np.ndarray:
    """C[M, N] in bf16: the FP32 product of A and B, rounded once."""
    return product(arrays).astype(bfloat16)


def product(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """C[M, N] in FP32."""
    a, b = arrays
    return a.astype(np.float32) @ b.astype(np.float32)
