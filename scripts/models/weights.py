"""The weights that calls read: what a checkpoint has to hold, and nothing else."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Weight:
    """A tensor that a call reads besides activations."""

    name: str  # e.g. "K proj"
    kind: str  # "linear", "norm" or "bias"
    shape: tuple[int, ...]  # (out, in) of a linear layer, (width,) of a norm or a bias
    stored_in: str | None = None  # the checkpoint's tensor that holds its rows, where that holds others too


@dataclass(frozen=True)
class WeightSite:
    """A tensor of the checkpoint, and how often the model has it."""

    name: str  # e.g. "K proj", or "qkv_proj" for one that holds the rows of several
    kind: str  # "linear", "norm" or "bias"
    shape: tuple[int, ...]  # as in the checkpoint, unpadded
    count: int  # layers that have it


class _Reader(Protocol):
    """A call that reads weights."""

    weights: tuple[Weight, ...]  # in one layer
    layers: int


def weight_sites(calls: Iterable[_Reader]) -> list[WeightSite]:
    """The checkpoint's tensors that these calls read; rows that are stored together are one tensor."""
    alone: Counter[Weight] = Counter()
    stored: dict[tuple[str, int], list[Weight]] = {}
    for each in calls:
        for weight in each.weights:
            if weight.stored_in:
                stored.setdefault((weight.stored_in, each.layers), []).append(weight)
            else:
                alone[weight] += each.layers
    single = [WeightSite(each.name, each.kind, each.shape, count) for each, count in alone.items()]
    return [*single, *(_stored(name, layers, parts) for (name, layers), parts in stored.items())]


def _stored(name: str, layers: int, parts: list[Weight]) -> WeightSite:
    """One tensor with the rows of all of `parts`, which have the same columns."""
    rows = sum(part.shape[0] for part in parts)
    return WeightSite(name, parts[0].kind, (rows, *parts[0].shape[1:]), layers)
