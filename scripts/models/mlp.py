"""The MLP: Gate and Up, the gate's activation and product, Down."""

from collections.abc import Mapping

from scripts.models.config import ModelConfig
from scripts.models.linears import Linear, down, gate_up
from scripts.models.plan import DECODE, PREFILL, CallSite, call
from scripts.models.projections import bias_add, decode_gemv, prefill_gemm


def prefill_mlp(config: ModelConfig, seq_len: int, tiers: Mapping[str, str]) -> list[CallSite]:
    """The MLP's calls over the whole prompt."""
    return [
        prefill_gemm(gate_up(config), seq_len, tiers),
        *_bias(config, gate_up(config), PREFILL, seq_len),
        *_gating(config, seq_len * config.intermediate_size),
        prefill_gemm(down(config), seq_len, tiers),
        *_bias(config, down(config), PREFILL, seq_len),
    ]


def decode_mlp(config: ModelConfig) -> list[CallSite]:
    """The MLP's calls for one token, where no cascade takes them; the gating runs on the CPU."""
    return [
        decode_gemv(gate_up(config)),
        *_bias(config, gate_up(config), DECODE, 1),
        decode_gemv(down(config)),
        *_bias(config, down(config), DECODE, 1),
    ]


def _gating(config: ModelConfig, elements: int) -> list[CallSite]:
    """The gate's activation times Up. Only SiLU has one kernel with a harness for both."""
    if config.activation == "silu":
        return [call("silu_and_mul", PREFILL, "SwiGLU", N=elements)]
    return [
        call("gelu", PREFILL, "GELU", N=elements),
        call("eltwise_mul", PREFILL, "GELU gate times Up", N=elements),
    ]


def _bias(config: ModelConfig, linear: Linear, phase: str, rows: int) -> list[CallSite]:
    site = linear.site.replace("proj", "bias")
    return [bias_add(linear, phase, rows, site)] if config.mlp_bias else []
