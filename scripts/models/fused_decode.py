"""The decode step after attention: one fused cascade where it is reachable, else GEMVs of their own."""

from scripts.cases.kernel_facts import load_kernel
from scripts.models.config import ModelConfig
from scripts.models.linears import Linear, down, gate_up, output
from scripts.models.mlp import decode_mlp
from scripts.models.norms import norm_weight
from scripts.models.plan import DECODE, CallSite, call
from scripts.models.projections import decode_gemv
from scripts.models.qkv_bias import output_bias


def cascade_reachable(config: ModelConfig) -> bool:
    """Whether O, Gate/Up and Down fit the fused cascade: a narrow hidden size, and aligned lengths.

    It has an RMSNorm before Gate and Up and a SiLU after them, and nothing between a projection and its
    residual: a bias or a norm there keeps a model from it, as another activation does.
    """
    below = load_kernel("rmsnorm_gate_up_swiglu").launch_limits["hidden_below"]
    multiple = load_kernel("gemv_add").launch_limits["multiple_of"]
    lengths = (config.hidden_size, config.q_dim, config.intermediate_size)
    aligned = all(length % multiple == 0 for length in lengths)
    plain = config.norms == "pre" and config.activation == "silu"
    return config.hidden_size < below and aligned and plain and not (config.output_bias or config.mlp_bias)


def decode_output(config: ModelConfig) -> list[CallSite]:
    """The calls from the O projection to the end of the layer, for one token."""
    if cascade_reachable(config):
        return [_gemv_add(output(config)), _gate_up_cascade(config), _gemv_add(down(config))]
    return [decode_gemv(output(config)), *output_bias(config, DECODE, 1), *decode_mlp(config)]


def _gemv_add(linear: Linear) -> CallSite:
    return call("gemv_add", DECODE, linear.site, linear.weights, M=linear.width_out, K=linear.width_in)


def _gate_up_cascade(config: ModelConfig) -> CallSite:
    linear = gate_up(config)
    weights = (norm_weight("MLP input norm", config.hidden_size), *linear.weights)
    sizes = {"M": linear.width_out, "K": linear.width_in}
    return call("rmsnorm_gate_up_swiglu", DECODE, linear.site, weights, **sizes)
