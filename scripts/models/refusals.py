"""Architectures that Phase 1 does not cover, and how a config gives them away."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from scripts.errors import InputError
from scripts.models.families import FAMILIES

_ALLOWED = f"a dense decoder is needed (model_type {', '.join(sorted(FAMILIES))})"


def _is_set(value: Any) -> bool:
    return value not in (None, False, 0)


# What is refused -> the fields that show it and the values with which they do.
_SIGNS: dict[str, tuple[tuple[str, ...], Callable[[Any], bool]]] = {
    "encoder-decoder": (("is_encoder_decoder", "num_decoder_layers", "decoder_layers"), _is_set),
    "multi-head latent attention, MLA": (("kv_lora_rank",), _is_set),
    "mixture of experts, MoE": (("num_local_experts", "num_experts", "n_routed_experts"), _is_set),
    "bias in the MLP": (("mlp_bias",), _is_set),
    "quantised weights": (("quantization_config",), _is_set),
    "rotary embedding of a part of the head": (
        ("partial_rotary_factor",),
        lambda value: value not in (None, 1),
    ),
}


def refuse_unsupported(path: Path, values: Mapping[str, Any]) -> None:
    """Raise InputError, naming file, field and value, unless `values` is a config of a supported decoder."""
    reasons = [reason for what, sign in _SIGNS.items() if (reason := _reason(what, values, *sign))]
    if reasons:
        raise InputError(f"{path}: {'; '.join(reasons)}: not supported; {_ALLOWED}")
    model_type = values.get("model_type")
    if not isinstance(model_type, str) or model_type not in FAMILIES:
        found = f"found {model_type!r}" if "model_type" in values else "missing"
        raise InputError(f"{path}: model_type: {found}; one of {', '.join(sorted(FAMILIES))} is needed")
    _refuse_activation(path, values)


def _reason(
    what: str, values: Mapping[str, Any], fields: Iterable[str], shows: Callable[[Any], bool]
) -> str | None:
    """The reason with the first field that gives it away, e.g. `mixture of experts (num_experts = 8)`."""
    for field in fields:
        if field in values and shows(values[field]):
            return f"{what} ({field} = {_short(values[field])})"
    return None


def _refuse_activation(path: Path, values: Mapping[str, Any]) -> None:
    activation = values.get("hidden_act")
    if activation == "silu":
        return
    found = f"found {activation!r}" if "hidden_act" in values else "missing"
    later = " (GELU families are not supported yet)" if "gelu" in str(activation) else ""
    raise InputError(f"{path}: hidden_act: {found}{later}; 'silu' is needed")


def _short(value: Any) -> str:
    """A value short enough for one line."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
