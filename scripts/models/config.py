"""A Hugging Face config.json, read and checked."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.errors import InputError
from scripts.models.families import Family, composites, families
from scripts.models.fields import Fields
from scripts.models.refusals import activation_of, refuse_unsupported
from scripts.models.vision_config import VisionConfig, vision_of
from scripts.models.windows import window_of


@dataclass(frozen=True)
class ModelConfig:
    """What decides which kernels a supported decoder calls, and with what shapes."""

    path: Path  # the config file, for complaints
    name: str  # display name: the config file's stem
    model_type: str
    hidden_size: int
    intermediate_size: int
    layers: int
    heads: int  # query heads
    kv_heads: int  # key and value heads
    head_dim: int
    rotary_dim: int  # elements of a head that RoPE turns
    vocab_size: int
    norms: str  # where a block is normed: "pre", "pre+post" or "post"
    qk_norm: str | None  # RMSNorm before RoPE: None, over each "head", or over the "width" of all heads
    qkv_bias: bool  # bias on the Q, K and V projections
    output_bias: bool  # bias on the O projection
    mlp_bias: bool  # bias on the Gate, Up and Down projections
    activation: str  # of the MLP's gate, "silu" or "gelu_tanh"
    fused_weights: bool  # the checkpoint holds one qkv_proj and one gate_up_proj
    tied_embeddings: bool  # the LM head is the embedding
    attention_soft_cap: float | None  # scores become cap * tanh(score / cap), None for none
    logit_soft_cap: float | None  # the same for the LM head's output
    scalings: tuple[str, ...]  # scalings of weights or activations outside of any kernel, in words
    max_positions: int | None  # longest sequence the model was made for, None when the config does not say
    window: int | None  # keys a query may look back on, None for full attention in every layer
    window_layers: tuple[int, ...]  # the layers that use it
    vision: VisionConfig | None  # the tower before the decoder, None for a model of text alone

    @property
    def q_dim(self) -> int:
        """Width of all query heads; not always hidden_size."""
        return self.heads * self.head_dim

    @property
    def kv_dim(self) -> int:
        """Width of all key (or value) heads."""
        return self.kv_heads * self.head_dim

    @property
    def pre_norm(self) -> bool:
        """Whether a block norms its input."""
        return self.norms != "post"

    @property
    def post_norm(self) -> bool:
        """Whether a block norms its output, before the residual."""
        return self.norms != "pre"


def load_config(path: Path) -> ModelConfig:
    """The model whose config is at `path`.

    Raises InputError naming the file, the field, what was found and what is allowed: for a file that is
    missing or not a JSON object, a field that is missing or of the wrong type, head counts that do not
    divide, and an architecture that is not a supported dense decoder.
    """
    whole = Fields(path, read_object(path))
    refuse_unsupported(whole)
    composite = composites().get(whole.values["model_type"])
    if composite is None:
        return _decoder(whole, whole, None)
    whole = Fields(path, whole.values, composite.defaults)
    text = whole.section("text_config", {"model_type": composite.text})
    refuse_unsupported(text)
    return _decoder(text, whole, vision_of(whole, composite.tower) if composite.tower else None)


def _decoder(text: Fields, whole: Fields, vision: VisionConfig | None) -> ModelConfig:
    """The model of the decoder in `text`, which is a part of `whole` or all of it."""
    model_type = text.get("model_type")
    family = families().get(model_type)
    if family is None:
        raise text.error("model_type", f"found {model_type!r}", f"one of {', '.join(families())}")
    fields = Fields(text.path, text.values, family.defaults, text.prefix)
    tied = whole if whole.get("tie_word_embeddings") is not None else fields
    layers = fields.size("num_hidden_layers")
    window, window_layers = window_of(fields, family, layers)
    return ModelConfig(
        path=text.path,
        name=text.path.stem,
        model_type=model_type,
        hidden_size=fields.size("hidden_size"),
        intermediate_size=fields.size("intermediate_size"),
        layers=layers,
        **_heads(fields, family),
        **_biases(fields, family),
        **_soft_caps(fields),
        vocab_size=fields.size("vocab_size"),
        norms=family.norms,
        qk_norm=family.qk_norm,
        activation=activation_of(fields, family.activation_field),
        fused_weights=family.fused_weights,
        tied_embeddings=tied.flag("tie_word_embeddings"),
        scalings=_scalings(fields, family),
        max_positions=fields.optional_size("max_position_embeddings"),
        window=window,
        window_layers=window_layers,
        vision=vision,
    )


def read_object(path: Path) -> Mapping[str, Any]:
    """The JSON object in the file."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", path.stem):
        raise InputError(
            f"{path}: the file's name names the model; letters, digits, '.', '_', '-' are allowed"
        )
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; a Hugging Face config.json is needed") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON: {error}; a Hugging Face config.json is needed") from None
    if not isinstance(values, dict):
        raise InputError(f"{path}: holds a JSON {type(values).__name__}; an object is needed")
    return values


def _heads(fields: Fields, family: Family) -> dict[str, int]:
    """Head counts and dimensions; head_dim is the hidden size over the query heads where no field says it."""
    hidden, heads = fields.size("hidden_size"), fields.size("num_attention_heads")
    kv_heads = fields.optional_size("num_key_value_heads") or heads
    if heads % kv_heads:
        allowed = f"a divisor of num_attention_heads ({heads})"
        raise fields.error("num_key_value_heads", f"{kv_heads} does not divide the query heads", allowed)
    head_dim = fields.optional_size("head_dim")
    if head_dim is None and hidden % heads:
        found = f"{heads} does not divide hidden_size ({hidden}), and there is no head_dim"
        raise fields.error("num_attention_heads", found, "a divisor")
    head_dim = head_dim or hidden // heads
    rotary_dim = int(head_dim * _rotary_factor(fields)) if family.partial_rotary else head_dim
    return {"heads": heads, "kv_heads": kv_heads, "head_dim": head_dim, "rotary_dim": rotary_dim}


def _rotary_factor(fields: Fields) -> float:
    """The part of a head that RoPE turns: partial_rotary_factor, of its own or in rope_parameters."""
    inside = fields.section("rope_parameters", {"partial_rotary_factor": fields.get("partial_rotary_factor")})
    factor = inside.number("partial_rotary_factor") or 1.0
    if factor > 1:
        raise inside.error("partial_rotary_factor", f"found {factor}", "a number up to 1")
    return factor


def _biases(fields: Fields, family: Family) -> dict[str, bool]:
    output = fields.flag(family.bias_field) if family.bias_field else False
    mlp = fields.flag(family.mlp_bias_field) if family.mlp_bias_field else False
    return {"qkv_bias": family.qkv_bias or output, "output_bias": output, "mlp_bias": mlp}


def _soft_caps(fields: Fields) -> dict[str, float | None]:
    caps = {"attention_soft_cap": "attn_logit_softcapping", "logit_soft_cap": "final_logit_softcapping"}
    return {cap: fields.number(name) if name in fields.defaults else None for cap, name in caps.items()}


def _scalings(fields: Fields, family: Family) -> tuple[str, ...]:
    """Scalings that no kernel does: they have to be folded into weights, or done by hand."""
    found = ["norms scale by 1 + weight"] * family.norm_offset
    if family.scaled_embeddings:
        found.append("embeddings are multiplied by the root of hidden_size")
    scalar = fields.number("query_pre_attn_scalar") if "query_pre_attn_scalar" in fields.defaults else None
    if scalar not in (None, _heads(fields, family)["head_dim"]):
        found.append(f"attention scores are scaled by {scalar:g} ** -0.5")
    values = {name: fields.number(name) for name in family.multipliers}
    return (*found, *(f"{name} = {value:g}" for name, value in values.items() if value not in (None, 1.0)))
