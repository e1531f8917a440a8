"""What a config says of a decoder's arithmetic, beyond the shapes: epsilon of the norms, angles of RoPE."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

from scripts.errors import InputError
from scripts.models.config import ModelConfig, read_object
from scripts.models.fields import Fields

# Where a config is silent: the defaults of transformers' configuration classes.
_DEFAULTS = {"rms_norm_eps": 1e-6, "rope_theta": 10000.0}


@dataclass(frozen=True)
class Arithmetic:
    """Numbers of a decoder that no shape holds."""

    norm_eps: float  # added to the mean of squares
    frequencies: np.ndarray  # [rotary_dim / 2] float64, radians a position

    def rope_table(self, positions: np.ndarray) -> np.ndarray:
        """float64 [len(positions), rotary_dim]: cosines, then sines, as the RoPE kernel takes them."""
        angles = np.outer(np.asarray(positions, dtype=np.float64), self.frequencies)
        return np.concatenate([np.cos(angles), np.sin(angles)], axis=1)


def arithmetic_of(config: ModelConfig) -> Arithmetic:
    """The arithmetic of the decoder whose shapes `config` holds, from the same file.

    Raises InputError when its RoPE is scaled in a way that is not known here.
    """
    whole = read_object(config.path)
    nested = whole.get("text_config")
    fields = Fields(config.path, nested if isinstance(nested, Mapping) else whole, _DEFAULTS)
    # transformers 5 writes both below rope_parameters.
    rope = {**(fields.get("rope_scaling") or {}), **(fields.get("rope_parameters") or {})}
    theta = float(rope.get("rope_theta") or fields.number("rope_theta"))
    exponents = np.arange(0, config.rotary_dim, 2, dtype=np.float64) / config.rotary_dim
    return Arithmetic(fields.number("rms_norm_eps"), _scaled(config, theta**-exponents, rope))


def _scaled(config: ModelConfig, frequencies: np.ndarray, rope: Mapping[str, Any]) -> np.ndarray:
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind == "default":
        return frequencies
    if kind == "linear":
        return frequencies / float(rope["factor"])
    if kind == "llama3":
        return _llama3(frequencies, rope)
    raise InputError(
        f"{config.path}: rope_scaling.rope_type: found {kind!r}; the diagnosis knows default, linear, llama3"
    )


def _llama3(frequencies: np.ndarray, rope: Mapping[str, Any]) -> np.ndarray:
    """Llama 3.1's scaling (transformers, modeling_rope_utils: llama3): long waves are slowed by `factor`.

    Between `high_freq_factor` and `low_freq_factor` turns in the original context the two are blended.
    """
    factor, low, high = (float(rope[key]) for key in ("factor", "low_freq_factor", "high_freq_factor"))
    turns = float(rope["original_max_position_embeddings"]) * frequencies / (2 * pi)
    share = np.clip((turns - low) / (high - low), 0.0, 1.0)
    return frequencies * (share + (1 - share) / factor)
