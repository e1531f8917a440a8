"""GEMM with FP32 output: the inputs of `gemm`, and its reference before the rounding."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kernels.gemm.reference import make_inputs, product

__all__ = ["make_inputs", "reference"]


def reference(dims: Mapping[str, int], inputs: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> np.ndarray:
    """C[M, N] in FP32."""
    return product(arrays)
