"""Linear layers: a GEMM over the prompt, a GEMV for one token."""

from collections.abc import Mapping

from scripts.models.linears import Linear
from scripts.models.padding import padded
from scripts.models.plan import DECODE, PREFILL, CallSite, call

# Precision contract -> the kernel that keeps it.
_GEMM_OF_TIER = {"high": "gemm", "low": "gemm_low"}


def prefill_gemm(linear: Linear, rows: int, tiers: Mapping[str, str]) -> CallSite:
    """The GEMM of a projection over `rows` positions, in the contract that `tiers` gives its shape."""
    dims, notes = padded("gemm", {"M": rows, "K": linear.width_in, "N": linear.width_out}, ("K", "N"))
    kernel = _GEMM_OF_TIER[tiers.get("{M}x{K}x{N}".format_map(dims), "high")]
    return call(kernel, PREFILL, linear.site, linear.weights, notes, **dims)


def decode_gemv(linear: Linear) -> CallSite:
    """The GEMV of a projection of one token."""
    dims, notes = padded("gemv", {"M": linear.width_out, "K": linear.width_in}, ("M", "K"))
    return call("gemv", DECODE, linear.site, linear.weights, notes, **dims)


def bias_add(linear: Linear, phase: str, rows: int, site: str) -> CallSite:
    """The broadcast add after a projection, which upstream fuses: it has no harness."""
    return call("bias_add", phase, site, linear.biases, M=rows, N=linear.width_out)
