"""Seeded normal inputs in bf16, drawn block by block: the stream of one draw, without its float64 copy."""

from collections.abc import Callable
from math import prod

import numpy as np
from ml_dtypes import bfloat16

# Elements drawn at a time: 8 MiB of float64, so that a draw stays in cache and far from the memory limit.
_BLOCK = 1 << 20


def legacy_normals(state: np.random.RandomState, shape: tuple[int, ...], scale: float = 1.0) -> np.ndarray:
    """bf16 array of `shape`: float64 normals of the legacy generator (`np.random.seed`), times `scale`."""
    return _filled(shape, lambda count: state.randn(count) * scale)


def normals(
    generator: np.random.Generator, shape: tuple[int, ...], dtype: type[np.floating] = np.float32
) -> np.ndarray:
    """bf16 array of `shape`: normals of `np.random.default_rng`, drawn as float32 or float64."""
    return _filled(shape, lambda count: generator.standard_normal(count, dtype=dtype))


def _filled(shape: tuple[int, ...], draw: Callable[[int], np.ndarray]) -> np.ndarray:
    flat = np.empty(prod(shape), dtype=bfloat16)
    for start in range(0, flat.size, _BLOCK):
        block = flat[start : start + _BLOCK]
        block[:] = draw(block.size).astype(bfloat16)
    return flat.reshape(shape)
