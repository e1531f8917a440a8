"""Linear layers: a GEMM over the prompt, a GEMV for one token."""

from collections.abc import Mapping

from scripts.models.plan import DECODE, PREFILL, CallSite, call

# Precision contract -> the kernel that keeps it.
_GEMM_OF_TIER = {"high": "gemm", "low": "gemm_low"}


def prefill_gemm(site: str, rows: int, width_in: int, width_out: int, tiers: Mapping[str, str]) -> CallSite:
    """The GEMM of a projection over `rows` positions, in the contract that `tiers` gives its shape."""
    tier = tiers.get(f"{rows}x{width_in}x{width_out}", "high")
    return call(_GEMM_OF_TIER[tier], PREFILL, site, M=rows, K=width_in, N=width_out)


def decode_gemv(site: str, width_in: int, width_out: int) -> CallSite:
    """The GEMV of a projection of one token."""
    return call("gemv", DECODE, site, M=width_out, K=width_in)
