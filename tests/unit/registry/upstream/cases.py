"""Verdicts of a device, made up for tests, and the shapes they are of."""

from collections.abc import Sequence
from dataclasses import replace

from scripts.precision.verdict import Perf, Verdict
from tests.unit.judged import passing_verdict

USED_BY = ("tiny-1b prefill Q proj", "tiny-1b prefill O proj")
NEW = (
    "gemm_2048x2048x4096",
    "gemm_512x1024x512",
    "gemm_low_2048x2048x4096",
    "gemm_f32_2048x2048x4096",
    "gemv_2048x4096",
    "rmsnorm_1024x2048",
    "layernorm_2048x768",
    "rope_1024x64",
    "silu_and_mul_1048576",
    "gelu_16777216",
    "eltwise_add_524288",
    "flash_attention_1024x1024_d64x64_h8x4_causal",
)
"""A shape that no registry has, of each kernel; the GEMMs of each contract and method."""

KNOWN = {
    "gemm_2048x2048x2048": 0.0097,
    "gemm_2048x1024x1024": 0.0094,
    "gemm_low_2048x2048x2048": 0.013,
    "gemm_f32_2048x2048x2048": 0.0093,
    "gemv_2048x2048": 1.6e-9,
    "rmsnorm_2048x2048": 0.0042,
    "layernorm_1024x768": 0.0044,
    "rope_2048x64": 0.0028,
    "silu_and_mul_4194304": 0.01,
    "gelu_3145728": 0.0084,
    "eltwise_add_4194304": 0.0019,
    "flash_attention_2048x2048_d64x64_h32x8_causal": 0.039,
}
"""A shape that is on file, of each kernel, with its mean_rel_L1 there."""


def device_verdict(
    case: str, mean: float = 0.00967, used_by: Sequence[str] = USED_BY, perf: Perf | None = None
) -> Verdict:
    """A pass on NPU2 that nobody measured: a made-up log, judged, as evidence of a device."""
    verdict = passing_verdict(case, mean=f"{mean:.3e}", used_by=tuple(used_by))
    evidence = replace(verdict.evidence, kind="hardware", target="npu2", device="NPU2, made up for a test")
    timing = perf or Perf(latency_us=1234.5, gflops=5123.4, gbps=45.67)
    return replace(verdict, evidence=evidence, perf=timing)
