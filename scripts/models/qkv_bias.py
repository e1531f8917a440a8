"""Biases of the attention's projections: a broadcast add, fused upstream and so without a harness."""

from scripts.models.config import ModelConfig
from scripts.models.linears import key_value, output, query
from scripts.models.plan import CallSite
from scripts.models.projections import bias_add


def qkv_bias(config: ModelConfig, phase: str, positions: int) -> list[CallSite]:
    """The adds after the Q, K and V projections of `positions` rows; none for a model without biases."""
    if not config.qkv_bias:
        return []
    return [
        bias_add(query(config), phase, positions, "QKV bias (Q)"),
        bias_add(key_value(config), phase, positions, "QKV bias (K/V)"),
    ]


def output_bias(config: ModelConfig, phase: str, positions: int) -> list[CallSite]:
    """The add after the O projection; none for a model without that bias."""
    return [bias_add(output(config), phase, positions, "O bias")] if config.output_bias else []
