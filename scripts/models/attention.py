"""Attention: projections in, norm and rotation of the heads, the attention itself, projection out."""

from collections.abc import Mapping

from scripts.models.config import ModelConfig
from scripts.models.plan import DECODE, PREFILL, CallSite, call
from scripts.models.projections import decode_gemv, prefill_gemm
from scripts.models.qk_norm import qk_norm
from scripts.models.qkv_bias import output_bias, qkv_bias


def prefill_attention(config: ModelConfig, seq_len: int, tiers: Mapping[str, str]) -> list[CallSite]:
    """The attention block's calls over the whole prompt, from its input's projections to its output's."""
    hidden = config.hidden_size
    return [
        prefill_gemm("Q proj", seq_len, hidden, config.q_dim, tiers),
        prefill_gemm("K/V proj", seq_len, hidden, config.kv_dim, tiers),
        *qkv_bias(config, PREFILL, seq_len),
        *qk_norm(config, PREFILL, seq_len),
        *_rope(config, PREFILL, seq_len),
        _flash_attention(config, seq_len),
        prefill_gemm("O proj", seq_len, config.q_dim, hidden, tiers),
        *output_bias(config, PREFILL, seq_len),
    ]


def decode_attention_input(config: ModelConfig) -> list[CallSite]:
    """What stands before the attention of one token; the attention itself runs on the CPU."""
    return [
        call("rmsnorm", DECODE, "RMSNorm", M=1, N=config.hidden_size),
        decode_gemv("Q proj", config.hidden_size, config.q_dim),
        decode_gemv("K/V proj", config.hidden_size, config.kv_dim),
        *qkv_bias(config, DECODE, 1),
        *qk_norm(config, DECODE, 1),
        *_rope(config, DECODE, 1),
    ]


def _rope(config: ModelConfig, phase: str, positions: int) -> list[CallSite]:
    """The rotations of the query and of the key heads: a row per head and position."""
    heads = (("RoPE-Q", config.heads), ("RoPE-K", config.kv_heads))
    return [
        call("rope", phase, site, ROWS=count * positions, HEAD_DIM=config.head_dim) for site, count in heads
    ]


def _flash_attention(config: ModelConfig, seq_len: int) -> CallSite:
    dims = {"LQ": seq_len, "LK": seq_len, "DK": config.head_dim, "DV": config.head_dim}
    heads = {"HQ": config.heads, "HKV": config.kv_heads}
    return call("flash_attention", PREFILL, "attention", **dims, **heads, mask="causal")
