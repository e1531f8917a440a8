"""QK-norm: an RMSNorm of the queries and keys before RoPE, over each head or over all heads together."""

from scripts.models.config import ModelConfig
from scripts.models.norms import norm_weight
from scripts.models.plan import PREFILL, CallSite, call


def qk_norm(config: ModelConfig, phase: str, positions: int) -> list[CallSite]:
    """Its calls; none for a model without it.

    Over all heads, a row is a position. Over each head, it is one call per head over a prompt, with a row
    per position; for one token, one call for the query heads and one for the key heads, with a row per head
    (published row: 2048x128 at 16 and 8 heads).
    """
    if config.qk_norm is None:
        return []
    if config.qk_norm == "width":
        return [_call(phase, name, positions, width) for name, width in _widths(config)]
    heads = (("Q norm", config.heads), ("K norm", config.kv_heads))
    return [
        _call(phase, name, positions if phase == PREFILL else rows, config.head_dim) for name, rows in heads
    ]


def _widths(config: ModelConfig) -> tuple[tuple[str, int], ...]:
    return (("Q norm", config.q_dim), ("K norm", config.kv_dim))


def _call(phase: str, name: str, rows: int, width: int) -> CallSite:
    return call("rmsnorm", phase, "QK-norm", (norm_weight(name, width),), M=rows, N=width)
