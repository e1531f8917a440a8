"""Element-wise add: the harness's inputs and the FP32 reference, a + b."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from kernels.seeded import normals


def make_inputs(dims: Mapping[str, int], inputs: Mapping[str, Any]) -> list[np.ndarray]:
    """a[N] and b[N], bf16 normals (harness: eltwise_add.py)."""
    generator = np.random.default_rng(inputs["seed"])
    a = normals(generator, (dims["N"],))
    return [a, normals(generator, (dims["N"],))]


def reference(dims: Mapping[str, int], inputs: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> np.ndarray:
    """y[N] in bf16: the FP32 sum, rounded once."""
    a, b = arrays
    return (a.astype(np.float32) + b.astype(np.float32)).astype(bfloat16)
