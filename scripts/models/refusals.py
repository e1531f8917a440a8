"""Architectures that Phase 1 does not cover, and how a config gives them away."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from scripts.errors import InputError
from scripts.models.families import composites, families, supported_types
from scripts.models.fields import Fields


def _is_set(value: Any) -> bool:
    return value not in (None, False, 0)


def _is_partial(value: Any) -> bool:
    return value not in (None, 1)


# What is refused -> the fields that show it and the values with which they do.
_SIGNS: dict[str, tuple[tuple[str, ...], Callable[[Any], bool]]] = {
    "encoder-decoder": (("is_encoder_decoder", "num_decoder_layers", "decoder_layers"), _is_set),
    "multi-head latent attention, MLA": (("kv_lora_rank",), _is_set),
    "mixture of experts, MoE": (("num_local_experts", "num_experts", "n_routed_experts"), _is_set),
    "quantised weights": (("quantization_config",), _is_set),
    "attention in both directions": (("use_bidirectional_attention",), _is_set),
}
# The same, where the family does not read the field.
_SIGNS_OF_OTHERS = {
    "bias in the MLP": ("mlp_bias", _is_set, "mlp_bias_field"),
    "rotary embedding of a part of the head": ("partial_rotary_factor", _is_partial, "partial_rotary"),
}

# What the MLP's activation may be called -> what it is.
_ACTIVATIONS = {"silu": "silu", "gelu_pytorch_tanh": "gelu_tanh", "gelu_new": "gelu_tanh"}


def refuse_unsupported(fields: Fields) -> None:
    """Raise InputError, naming file, field and value, unless `fields` are those of a supported decoder."""
    model_type = fields.get("model_type")
    known = isinstance(model_type, str) and model_type in {**families(), **composites()}
    reasons = [reason for what, sign in _SIGNS.items() if (reason := _reason(what, fields.values, *sign))]
    family = families().get(model_type) if known else None
    for what, (name, shows, trait) in _SIGNS_OF_OTHERS.items():
        if family and not getattr(family, trait) and (reason := _reason(what, fields.values, (name,), shows)):
            reasons.append(reason)
    if reasons:
        allowed = f"a dense decoder is needed (model_type {supported_types()})"
        raise InputError(f"{fields.path}: {'; '.join(reasons)}: not supported; {allowed}")
    if not known:
        found = f"found {model_type!r}" if model_type is not None else "missing"
        raise fields.error("model_type", found, f"one of {supported_types()}")


def activation_of(fields: Fields, name: str) -> str:
    """The MLP's activation, "silu" or "gelu_tanh". Raises InputError for one without a kernel."""
    value = fields.get(name)
    if value not in _ACTIVATIONS:
        exact = " (the kernel is the tanh form)" if value == "gelu" else ""
        raise fields.error(name, f"found {value!r}{exact}", f"one of {', '.join(_ACTIVATIONS)}")
    return _ACTIVATIONS[value]


def _reason(
    what: str, values: Mapping[str, Any], names: Iterable[str], shows: Callable[[Any], bool]
) -> str | None:
    """The reason with the first field that gives it away, e.g. `mixture of experts (num_experts = 8)`."""
    for name in names:
        if name in values and shows(values[name]):
            return f"{what} ({name} = {_short(values[name])})"
    return None


def _short(value: Any) -> str:
    """A value short enough for one line."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
