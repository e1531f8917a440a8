"""GEMM in low precision: the inputs and the reference of `gemm`, for the reference is the exact contract."""

from kernels.gemm.reference import make_inputs, reference

__all__ = ["make_inputs", "reference"]
