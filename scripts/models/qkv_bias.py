"""Biases of the attention's projections: a broadcast add, fused upstream and so without a harness."""

from scripts.models.config import ModelConfig
from scripts.models.plan import CallSite, call


def qkv_bias(config: ModelConfig, phase: str, positions: int) -> list[CallSite]:
    """The adds after the Q, K and V projections of `positions` rows; none for a model without biases."""
    if not config.qkv_bias:
        return []
    widths = (("QKV bias (Q)", config.q_dim), ("QKV bias (K/V)", config.kv_dim))
    return [call("bias_add", phase, site, M=positions, N=width) for site, width in widths]


def output_bias(config: ModelConfig, phase: str, positions: int) -> list[CallSite]:
    """The add after the O projection; none for a model without that bias."""
    if not config.output_bias:
        return []
    return [call("bias_add", phase, "O bias", M=positions, N=config.hidden_size)]
