"""The LM head: a GEMV, in partitions where the vocabulary is too tall for one launch."""

from dataclasses import replace

from scripts.cases.kernel_facts import load_kernel
from scripts.models.config import ModelConfig
from scripts.models.linears import Linear
from scripts.models.plan import CallSite
from scripts.models.projections import decode_gemv


def lm_head(config: ModelConfig) -> CallSite:
    """Its call for one token: partitions of equal height, the last one padded, share one case."""
    limits = load_kernel("gemv").launch_limits
    whole = Linear("LM-head", ("LM-head",), config.hidden_size, config.vocab_size)
    if config.vocab_size <= limits["tallest_single_launch"]:
        return decode_gemv(whole)
    rows = limits["partition_rows"]
    partitions = -(-config.vocab_size // rows)
    one = decode_gemv(replace(whole, width_out=rows))
    return replace(one, weights=whole.weights, notes=(f"{partitions} partitions of {rows}", *one.notes))
