"""Every kernel call of a model, layer by layer: the derivation of the working shape list."""

from collections.abc import Mapping

from scripts.errors import InputError
from scripts.models.attention import decode_attention_input, prefill_attention
from scripts.models.config import ModelConfig
from scripts.models.fused_decode import decode_output
from scripts.models.lm_head import lm_head
from scripts.models.plan import PREFILL, CallSite, PlannedCase, call, merge
from scripts.models.projections import prefill_gemm


def derive(config: ModelConfig, seq_len: int, tiers: Mapping[str, str]) -> list[PlannedCase]:
    """The cases `config` needs for a prefill of `seq_len` positions and a decode of one.

    `tiers` gives the precision contract, "high" or "low", of GEMM shapes; a shape it lacks is "high".
    Raises InputError when the model's attention or positions do not cover `seq_len`.
    """
    check_sequence(config, seq_len)
    return merge([*_prefill(config, seq_len, tiers), *_decode(config)])


def check_sequence(config: ModelConfig, seq_len: int) -> None:
    """Raise InputError when `seq_len` is too long for the model, or a sliding window would be in use."""
    if config.max_positions is not None and seq_len > config.max_positions:
        limit = f"{config.path}: max_position_embeddings is {config.max_positions}"
        raise InputError(f"{limit}; a sequence length up to that is allowed, found {seq_len}")
    if config.window is not None and config.window < seq_len:
        found = f"{config.path}: sliding_window: {config.window} is in use at sequence length {seq_len}"
        raise InputError(f"{found}; full attention is needed (a window of the sequence length or more is)")


def _prefill(config: ModelConfig, seq_len: int, tiers: Mapping[str, str]) -> list[CallSite]:
    """A layer's calls over the whole prompt, in the order of the data."""
    hidden, wide = config.hidden_size, config.intermediate_size
    return [
        call("rmsnorm", PREFILL, "RMSNorm", M=seq_len, N=hidden),
        *prefill_attention(config, seq_len, tiers),
        call("eltwise_add", PREFILL, "residual", N=seq_len * hidden),
        prefill_gemm("Gate/Up proj", seq_len, hidden, wide, tiers),
        call("silu_and_mul", PREFILL, "SwiGLU", N=seq_len * wide),
        prefill_gemm("Down proj", seq_len, wide, hidden, tiers),
    ]


def _decode(config: ModelConfig) -> list[CallSite]:
    """A layer's calls for one token, and the LM head's.

    Attention over the cache, the residual add, the norm and the SwiGLU between the projections, and the
    final norm run on the CPU for one token, as upstream runs them: a launch costs more than they do.
    """
    return [*decode_attention_input(config), *decode_output(config), lm_head(config)]
