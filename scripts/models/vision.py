"""A vision tower's calls for one image, and the connector's: part of the prefill."""

from collections.abc import Mapping

from scripts.errors import InputError
from scripts.models.attention import attention_call
from scripts.models.config import ModelConfig
from scripts.models.linears import Linear
from scripts.models.padding import MULTIPLE, sequence_fits
from scripts.models.plan import PREFILL, CallSite, call, in_layers
from scripts.models.projections import bias_add, prefill_gemm
from scripts.models.vision_config import VisionConfig
from scripts.models.weights import Weight

_BIAS = "vision bias"


def vision_calls(config: ModelConfig, tiers: Mapping[str, str]) -> list[CallSite]:
    """Every call for one image, in the order of the data, up to the decoder's tokens; none without a tower.

    Raises InputError for a number of patches that no legal tile takes: it cannot be padded, because full
    attention would look at the padding.
    """
    vision = config.vision
    if vision is None:
        return []
    layer = _layer(vision, tiers)
    if not sequence_fits(layer):
        found = (
            f"{config.path}: vision_config: {vision.patches} patches are a number that no legal tile takes"
        )
        raise InputError(
            f"{found}; a multiple of {MULTIPLE} is needed: full attention has no mask for padding"
        )
    patch = Linear("patch embedding", ("patch embedding",), vision.patch_values, vision.hidden_size)
    connector = Linear("connector proj", ("connector proj",), vision.token_width, config.hidden_size)
    return [
        *_biased(patch, vision.patches, tiers),
        *in_layers(layer, vision.layers),
        _norm(vision, ("post norm",)),
        prefill_gemm(connector, vision.tokens, tiers),
    ]


def _layer(vision: VisionConfig, tiers: Mapping[str, str]) -> list[CallSite]:
    """One layer: LayerNorm and attention, LayerNorm and MLP, a residual after each."""
    rows, hidden, wide = vision.patches, vision.hidden_size, vision.intermediate_size
    qkv = Linear("vision Q/K/V proj", ("vision Q proj", "vision K proj", "vision V proj"), hidden, hidden)
    return [
        _norm(vision, ("vision norm 1", "vision norm 2")),
        *_biased(qkv, rows, tiers),
        attention_call("vision attention", rows, vision.head_dim, vision.heads, vision.heads, "full"),
        *_biased(Linear("vision O proj", ("vision O proj",), hidden, hidden), rows, tiers),
        call("eltwise_add", PREFILL, "vision residual", N=rows * hidden),
        *_biased(Linear("vision MLP fc1", ("vision fc1",), hidden, wide), rows, tiers),
        call("gelu", PREFILL, "vision MLP GELU", N=rows * wide),
        *_biased(Linear("vision MLP fc2", ("vision fc2",), wide, hidden), rows, tiers),
    ]


def _biased(linear: Linear, rows: int, tiers: Mapping[str, str]) -> list[CallSite]:
    """A projection and the add of its bias."""
    return [prefill_gemm(linear, rows, tiers), bias_add(linear, PREFILL, rows, _BIAS)]


def _norm(vision: VisionConfig, names: tuple[str, ...]) -> CallSite:
    """LayerNorms over every patch; a weight and a bias each."""
    kinds = (("norm", "{}"), ("bias", "{} bias"))
    weights = tuple(
        Weight(text.format(name), kind, (vision.hidden_size,)) for name in names for kind, text in kinds
    )
    return call("layernorm", PREFILL, "vision LayerNorm", weights, M=vision.patches, N=vision.hidden_size)
