"""Attention: projections in, norm and rotation of the heads, the attention itself, projection out."""

from collections.abc import Mapping

from scripts.models.config import ModelConfig
from scripts.models.linears import key_value, output, query
from scripts.models.norms import norm_weight
from scripts.models.padding import padded
from scripts.models.plan import DECODE, PREFILL, CallSite, call
from scripts.models.projections import decode_gemv, prefill_gemm
from scripts.models.qk_norm import qk_norm
from scripts.models.qkv_bias import output_bias, qkv_bias


def prefill_attention(config: ModelConfig, seq_len: int, tiers: Mapping[str, str]) -> list[CallSite]:
    """The attention block's calls over the whole prompt, from its input's projections to its output's."""
    return [
        prefill_gemm(query(config), seq_len, tiers),
        prefill_gemm(key_value(config), seq_len, tiers),
        *qkv_bias(config, PREFILL, seq_len),
        *qk_norm(config, PREFILL, seq_len),
        *_rope(config, PREFILL, seq_len),
        _flash_attention(config, seq_len),
        prefill_gemm(output(config), seq_len, tiers),
        *output_bias(config, PREFILL, seq_len),
    ]


def decode_attention_input(config: ModelConfig) -> list[CallSite]:
    """What stands before the attention of one token; the attention itself runs on the CPU."""
    hidden = config.hidden_size
    weights = (norm_weight("attention input norm", hidden),)
    return [
        *([call("rmsnorm", DECODE, "RMSNorm", weights, M=1, N=hidden)] if config.pre_norm else []),
        decode_gemv(query(config)),
        decode_gemv(key_value(config)),
        *qkv_bias(config, DECODE, 1),
        *qk_norm(config, DECODE, 1),
        *_rope(config, DECODE, 1),
    ]


def attention_call(
    site: str,
    positions: int,
    head_dim: int,
    heads: int,
    kv_heads: int,
    mask: str,
    notes: tuple[str, ...] = (),
) -> CallSite:
    """FlashAttention of `positions` queries over as many keys, `mask` being "causal" or "full"."""
    lengths = {"LQ": positions, "LK": positions, "DK": head_dim, "DV": head_dim}
    counts = {"HQ": heads, "HKV": kv_heads}
    dims, widened = padded(
        "flash_attention", {**lengths, **counts, "mask": int(mask == "causal")}, ("DK", "DV")
    )
    return call("flash_attention", PREFILL, site, notes=(*notes, *widened), **{**dims, "mask": mask})


def _rope(config: ModelConfig, phase: str, positions: int) -> list[CallSite]:
    """The rotations of the query and of the key heads: a row per head and position."""
    heads = (("RoPE-Q", config.heads), ("RoPE-K", config.kv_heads))
    part = f"{config.rotary_dim} of {config.head_dim} elements"
    notes = (part,) if config.rotary_dim != config.head_dim else ()
    return [
        call("rope", phase, site, notes=notes, ROWS=count * positions, HEAD_DIM=config.rotary_dim)
        for site, count in heads
    ]


def _flash_attention(config: ModelConfig, seq_len: int) -> CallSite:
    notes = [f"window {config.window} is inert"] if config.window is not None else []
    if config.attention_soft_cap is not None:
        notes.append("scores not soft-capped")
    sizes = (seq_len, config.head_dim, config.heads, config.kv_heads)
    return attention_call("attention", *sizes, "causal", tuple(notes))
