"""GELU: the harness's inputs and the FP32 reference, the tanh form."""

from collections.abc import Mapping, Sequence
from math import pi, sqrt
from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from kernels.seeded import normals

# Hendrycks and Gimpel's approximation: x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))).
_SCALE = np.float32(sqrt(2.0 / pi))
_CUBIC = np.float32(0.044715)


def make_inputs(dims: Mapping[str, int], inputs: Mapping[str, Any]) -> list[np.ndarray]:
    """x[N], bf16 normals (harness: gelu.py)."""
    return [normals(np.random.default_rng(inputs["seed"]), (dims["N"],))]


def reference(dims: Mapping[str, int], inputs: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> np.ndarray:
    """y[N] in bf16."""
    x = arrays[0].astype(np.float32)
    inner = _SCALE * (x + _CUBIC * x * x * x)
    return (0.5 * x * (1.0 + np.tanh(inner))).astype(bfloat16)
