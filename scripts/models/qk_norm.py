"""QK-norm (Qwen3): an RMSNorm over the head dimension of each query and key head, before RoPE."""

from scripts.models.config import ModelConfig
from scripts.models.plan import PREFILL, CallSite, call


def qk_norm(config: ModelConfig, phase: str, positions: int) -> list[CallSite]:
    """Its calls; none for a model without it.

    Over a prompt it is one call per head, with a row per position; for one token, one call for the query
    heads and one for the key heads, with a row per head (published row: 2048x128 at 16 and 8 heads).
    """
    if not config.qk_norm:
        return []
    rows = [positions] if phase == PREFILL else [config.heads, config.kv_heads]
    return [call("rmsnorm", phase, "QK-norm", M=count, N=config.head_dim) for count in rows]
