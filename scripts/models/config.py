"""A Hugging Face config.json, read and checked."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.errors import InputError
from scripts.models.families import FAMILIES
from scripts.models.refusals import refuse_unsupported


@dataclass(frozen=True)
class ModelConfig:
    """The fields of a supported decoder that decide which kernels it calls, and with what shapes."""

    path: Path  # the config file, for complaints
    name: str  # display name: the config file's stem
    model_type: str
    hidden_size: int
    intermediate_size: int
    layers: int
    heads: int  # query heads
    kv_heads: int  # key and value heads
    head_dim: int
    vocab_size: int
    qk_norm: bool  # RMSNorm of each query and key head before RoPE
    qkv_bias: bool  # bias on the Q, K and V projections
    output_bias: bool  # bias on the O projection
    max_positions: int | None  # longest sequence the model was made for, None when the config does not say
    window: int | None  # keys a query may look back on, None for full attention

    @property
    def q_dim(self) -> int:
        """Width of all query heads; not always hidden_size."""
        return self.heads * self.head_dim

    @property
    def kv_dim(self) -> int:
        """Width of all key (or value) heads."""
        return self.kv_heads * self.head_dim


def load_config(path: Path) -> ModelConfig:
    """The model whose config is at `path`.

    Raises InputError naming the file, the field, what was found and what is allowed: for a file that is
    missing or not a JSON object, a field that is missing or of the wrong type, head counts that do not
    divide, and an architecture that is not a supported dense decoder.
    """
    fields = _Fields(path, _read_object(path))
    refuse_unsupported(path, fields.values)
    family = FAMILIES[fields.values["model_type"]]
    extra_bias = fields.flag(family.bias_field) if family.bias_field else False
    hidden_size, heads, kv_heads = (
        fields.size(name) for name in ("hidden_size", "num_attention_heads", "num_key_value_heads")
    )
    if heads % kv_heads:
        allowed = f"a divisor of num_attention_heads ({heads})"
        raise fields.error("num_key_value_heads", f"{kv_heads} does not divide the query heads", allowed)
    return ModelConfig(
        path=path,
        name=path.stem,
        model_type=fields.values["model_type"],
        hidden_size=hidden_size,
        intermediate_size=fields.size("intermediate_size"),
        layers=fields.size("num_hidden_layers"),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=_head_dim(fields, hidden_size, heads),
        vocab_size=fields.size("vocab_size"),
        qk_norm=family.qk_norm,
        qkv_bias=family.qkv_bias or extra_bias,
        output_bias=extra_bias,
        max_positions=fields.optional_size("max_position_embeddings"),
        window=_window(fields),
    )


def _read_object(path: Path) -> Mapping[str, Any]:
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


@dataclass(frozen=True)
class _Fields:
    """The config's fields, with complaints that name the file and the field."""

    path: Path
    values: Mapping[str, Any]

    def error(self, field: str, found: str, allowed: str) -> InputError:
        """The complaint about one field."""
        return InputError(f"{self.path}: {field}: {found}; {allowed} is needed")

    def size(self, field: str) -> int:
        """A required positive integer."""
        if field not in self.values:
            raise self.error(field, "missing", "a positive integer")
        value = self.values[field]
        # type() and not isinstance(): true is an int to Python, but not a size.
        if type(value) is not int or value < 1:
            raise self.error(field, f"found {value!r}", "a positive integer")
        return value

    def optional_size(self, field: str) -> int | None:
        """A positive integer, or None when the field is absent or null."""
        return None if self.values.get(field) is None else self.size(field)

    def flag(self, field: str, default: bool = False) -> bool:
        """True or false, `default` when the field is absent or null."""
        value = self.values.get(field)
        if value is not None and not isinstance(value, bool):
            raise self.error(field, f"found {value!r}", "true or false")
        return default if value is None else value


def _head_dim(fields: _Fields, hidden_size: int, heads: int) -> int:
    """The head dimension: a field of its own, or the hidden size over the query heads."""
    head_dim = fields.optional_size("head_dim")
    if head_dim is None and hidden_size % heads:
        found = f"{heads} does not divide hidden_size ({hidden_size}), and there is no head_dim"
        raise fields.error("num_attention_heads", found, "a divisor")
    return head_dim or hidden_size // heads


def _window(fields: _Fields) -> int | None:
    """The sliding window, None when the config has none or switches it off."""
    window = fields.optional_size("sliding_window")
    layer_types = fields.values.get("layer_types")
    full_only = isinstance(layer_types, list) and "sliding_attention" not in layer_types
    return window if fields.flag("use_sliding_window", default=True) and not full_only else None
