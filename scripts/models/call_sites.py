"""Every kernel call of a model, layer by layer: the derivation of the working shape list."""

from collections.abc import Mapping

from scripts.errors import InputError
from scripts.models.attention import decode_attention_input, prefill_attention
from scripts.models.config import ModelConfig
from scripts.models.fused_decode import decode_output
from scripts.models.lm_head import lm_head
from scripts.models.mlp import prefill_mlp
from scripts.models.norms import block_norms
from scripts.models.padding import rounded_up, sequence_fits, with_note
from scripts.models.plan import PREFILL, CallSite, PlannedCase, call, in_layers, merge
from scripts.models.vision import vision_calls
from scripts.models.weights import WeightSite, weight_sites
from scripts.models.windows import layers_text


def derive(config: ModelConfig, seq_len: int, tiers: Mapping[str, str]) -> list[PlannedCase]:
    """The cases `config` needs for a prefill of `seq_len` positions and a decode of one.

    `tiers` gives the precision contract, "high" or "low", of GEMM shapes; a shape it lacks is "high".
    Raises InputError when the model's attention or positions do not cover `seq_len`.
    """
    check_sequence(config, seq_len)
    return merge([*prefill_calls(config, seq_len, tiers), *decode_calls(config)])


def check_sequence(config: ModelConfig, seq_len: int) -> None:
    """Raise InputError when `seq_len` is too long for the model, or a sliding window would be in use."""
    if config.max_positions is not None and seq_len > config.max_positions:
        limit = f"{config.path}: max_position_embeddings is {config.max_positions}"
        raise InputError(f"{limit}; a sequence length up to that is allowed, found {seq_len}")
    if config.window is not None and config.window < seq_len:
        layers = layers_text(config.window_layers, config.layers)
        found = f"{config.path}: sliding_window: {config.window} is in use at sequence length {seq_len}"
        allowed = f"at most {config.window} positions are allowed"
        raise InputError(f"{found} in {layers}; the causal kernel has no window: {allowed}")


def prefill_calls(config: ModelConfig, seq_len: int, tiers: Mapping[str, str]) -> list[CallSite]:
    """Every call over a prompt of `seq_len` positions, padded where no legal tile takes that many."""
    return [*vision_calls(config, tiers), *in_layers(_padded_layer(config, seq_len, tiers), config.layers)]


def _padded_layer(config: ModelConfig, seq_len: int, tiers: Mapping[str, str]) -> list[CallSite]:
    """A layer's calls over the prompt; a longer one where each call then has a tile, and not before."""
    longer = rounded_up(seq_len)
    sites = _prefill_layer(config, seq_len, tiers)
    if longer == seq_len or sequence_fits(sites):
        return sites
    return with_note(_prefill_layer(config, longer, tiers), f"seq {seq_len} padded to {longer}")


def _prefill_layer(config: ModelConfig, seq_len: int, tiers: Mapping[str, str]) -> list[CallSite]:
    """A layer's calls over the whole prompt, in the order of the data."""
    before_attention, after_attention = block_norms(config, "attention", seq_len)
    before_mlp, after_mlp = block_norms(config, "MLP", seq_len)
    return [
        *before_attention,
        *prefill_attention(config, seq_len, tiers),
        *after_attention,
        call("eltwise_add", PREFILL, "residual", N=seq_len * config.hidden_size),
        *before_mlp,
        *prefill_mlp(config, seq_len, tiers),
        *after_mlp,
    ]


def decode_calls(config: ModelConfig) -> list[CallSite]:
    """A layer's calls for one token, and the LM head's.

    Attention over the cache, the residual add, the norm and the gating between the projections, and the
    final norm run on the CPU for one token, as upstream runs them: a launch costs more than they do.
    """
    layer = [*decode_attention_input(config), *decode_output(config)]
    return [*in_layers(layer, config.layers), lm_head(config)]


def model_weights(config: ModelConfig) -> list[WeightSite]:
    """Every tensor of the checkpoint besides embeddings, from the calls that read it.

    That is the prefill's calls, the LM head's, and the final norm, which runs on the CPU.
    """
    # No weight depends on the length of the prompt.
    calls = [*prefill_calls(config, 1, {}), lm_head(config)]
    return [*weight_sites(calls), WeightSite("final norm", "norm", (config.hidden_size,), 1)]
