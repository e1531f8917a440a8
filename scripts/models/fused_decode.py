"""The decode step after attention: one fused cascade where it is reachable, else GEMVs of their own."""

from scripts.cases.kernel_facts import load_kernel
from scripts.models.config import ModelConfig
from scripts.models.plan import DECODE, CallSite, call
from scripts.models.projections import decode_gemv
from scripts.models.qkv_bias import output_bias


def cascade_reachable(config: ModelConfig) -> bool:
    """Whether O, Gate/Up and Down fit the fused cascade: a narrow hidden size, and aligned lengths.

    A bias on O keeps it from fusing, because nothing may stand between a projection and its residual.
    """
    below = load_kernel("rmsnorm_gate_up_swiglu").launch_limits["hidden_below"]
    multiple = load_kernel("gemv_add").launch_limits["multiple_of"]
    lengths = (config.hidden_size, config.q_dim, config.intermediate_size)
    aligned = all(length % multiple == 0 for length in lengths)
    return config.hidden_size < below and aligned and not config.output_bias


def decode_output(config: ModelConfig) -> list[CallSite]:
    """The calls from the O projection to the end of the layer, for one token."""
    hidden, wide = config.hidden_size, config.intermediate_size
    if cascade_reachable(config):
        return [
            call("gemv_add", DECODE, "O proj", M=hidden, K=config.q_dim),
            call("rmsnorm_gate_up_swiglu", DECODE, "Gate/Up proj", M=wide, K=hidden),
            call("gemv_add", DECODE, "Down proj", M=hidden, K=wide),
        ]
    return [
        decode_gemv("O proj", config.q_dim, hidden),
        *output_bias(config, DECODE, 1),
        decode_gemv("Gate/Up proj", hidden, wide),
        decode_gemv("Down proj", wide, hidden),
    ]
