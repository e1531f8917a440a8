"""What a model_type says that no field of its config does: families.yaml as checked records."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_FACTS = Path(__file__).with_suffix(".yaml")


@dataclass(frozen=True)
class Family:
    """The traits of a decoder family; the sizes come from the config's fields."""

    defaults: Mapping[str, Any] = field(hash=False)  # field -> value where the config lacks it
    norms: str = "pre"  # where a block is normed: "pre", "pre+post" or "post"
    norm_offset: bool = False  # a norm scales by 1 + weight
    scaled_embeddings: bool = False  # embeddings are multiplied by the root of hidden_size
    qk_norm: str | None = None  # RMSNorm before RoPE over each "head", or the "width" of all heads
    qkv_bias: bool = False  # bias on the Q, K and V projections in any case
    bias_field: str | None = None  # config field that puts a bias on the Q, K, V and O projections
    mlp_bias_field: str | None = None  # config field that puts a bias on Gate, Up and Down
    activation_field: str = "hidden_act"  # config field that names the MLP's activation
    fused_weights: bool = False  # the checkpoint holds one qkv_proj and one gate_up_proj
    partial_rotary: bool = False  # RoPE turns partial_rotary_factor of each head
    window: str | None = (
        None  # layers a window is used in: "every layer", "upper layers", "all but every nth"
    )
    full_every: int = 0  # that n
    full_every_field: str | None = None  # config field that replaces it
    multipliers: tuple[str, ...] = ()  # config fields that scale activations


@dataclass(frozen=True)
class Composite:
    """A model_type that holds a decoder and perhaps a vision tower."""

    text: str  # model_type of text_config where that does not say it
    tower: str | None  # model_type of vision_config, None where only the text is derived
    defaults: Mapping[str, Any] = field(hash=False)  # field -> value where the config lacks it


@cache
def _facts() -> Mapping[str, Any]:
    return yaml.safe_load(_FACTS.read_text(encoding="utf-8"))


@cache
def families() -> Mapping[str, Family]:
    """model_type -> the family of decoders it names."""
    return {
        name: Family(defaults=facts["defaults"], **_traits(facts))
        for name, facts in _facts()["decoders"].items()
    }


def _traits(facts: Mapping[str, Any]) -> dict[str, Any]:
    traits = dict(facts["traits"])
    return {**traits, "multipliers": tuple(traits.get("multipliers", ()))}


@cache
def composites() -> Mapping[str, Composite]:
    """model_type -> what a config of several parts holds."""
    return {
        name: Composite(facts["text"], facts.get("tower"), facts.get("defaults", {}))
        for name, facts in _facts()["composites"].items()
    }


def tower_defaults(model_type: str) -> Mapping[str, Any]:
    """Field -> value where the config of a vision tower lacks it."""
    return _facts()["towers"][model_type]["defaults"]


def supported_types() -> str:
    """Every model_type a config may have, for a person."""
    return ", ".join(sorted({**families(), **composites()}))
