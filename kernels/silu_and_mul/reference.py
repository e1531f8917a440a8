"""SiLU-and-Mul: the harness's inputs and the FP32 reference, gate * sigmoid(gate) * up."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from kernels.seeded import normals


def make_inputs(dims: Mapping[str, int], inputs: Mapping[str, Any]) -> list[np.ndarray]:
    """gate[N] and up[N], bf16 normals (harness: silu_and_mul.py)."""
    generator = np.random.default_rng(inputs["seed"])
    gate = normals(generator, (dims["N"],))
    return [gate, normals(generator, (dims["N"],))]


def reference(dims: Mapping[str, int], inputs: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> np.ndarray:
    """y[N] in bf16, with the true sigmoid 1 / (1 + e^-gate): the kernel's tanh unit is what it measures."""
    gate, up = (array.astype(np.float32) for array in arrays)
    result = np.exp(-gate)
    result += 1.0
    np.reciprocal(result, out=result)
    result *= gate
    result *= up
    return result.astype(bfloat16)
