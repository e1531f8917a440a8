"""GEMV: the harness's inputs and the FP32 reference, C[M] = A[M, K] @ x[K]."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from kernels.seeded import legacy_normals


def make_inputs(dims: Mapping[str, int], inputs: Mapping[str, Any]) -> list[np.ndarray]:
    """A[M, K] and x[K], bf16 normals times `scale` (harness: matvec.py)."""
    state, scale = np.random.RandomState(inputs["seed"]), inputs["scale"]
    # A first: both come from one stream.
    a = legacy_normals(state, (dims["M"], dims["K"]), scale)
    return [a, legacy_normals(state, (dims["K"],), scale)]


def reference(dims: Mapping[str, int], inputs: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> np.ndarray:
    """C[M] in bf16: the FP32 product, rounded once."""
    a, x = arrays
    return np.dot(a.astype(np.float32), x.astype(np.float32)).astype(bfloat16)
