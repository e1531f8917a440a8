"""What the registry's rows say of a shape: its own row, the nearest one, and the tile of a row."""

from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Any

from scripts.cases.case import Case, parse_case
from scripts.cases.kernel_facts import KernelFacts

KnownRow = Mapping[str, Any]
"""A registry row: shape, method, best, tile (knob -> value), herd [columns, rows], evidence, note, ..."""

# Distance between two values of an enumerated dim (causal, full): as far as a factor of e.
_ENUMERATED_DISTANCE = 1.0


def measured_rows(rows: Iterable[KnownRow]) -> list[KnownRow]:
    """Rows measured on a device. A simulated row's tile was chosen here: it must not choose the next one."""
    return [row for row in rows if (row.get("evidence") or {}).get("kind") != "simulated"]


def known_row(case: Case, rows: Sequence[KnownRow], method: str | None) -> KnownRow | None:
    """The row of this very shape, the best one first, of `method` if that is asked for."""
    return _preferred([row for row in rows if row["shape"] == case.shape], method)


def nearest_row(
    case: Case, facts: KernelFacts, rows: Sequence[KnownRow], method: str | None
) -> KnownRow | None:
    """The row whose shape is nearest by log distance over the dims, of `method` where any row is."""
    candidates = [row for row in rows if method is None or row.get("method") == method] or list(rows)
    if not candidates:
        return None
    distances = [shape_distance(facts, case, row["shape"]) for row in candidates]
    nearest = min(distances)
    return _preferred([row for row, far in zip(candidates, distances, strict=True) if far == nearest], None)


def row_knobs(facts: KernelFacts, row: KnownRow) -> dict[str, int]:
    """All knobs of a row: its tile, its herd where one knob is one extent, defaults for the rest."""
    knobs = {knob.name: knob.default for knob in facts.knobs}
    for extent, tiles in zip(facts.herd.extent, row.get("herd") or (), strict=False):
        if extent.text in knobs:
            knobs[extent.text] = int(tiles)
    tile = row.get("tile") or {}
    return {**knobs, **{name: int(tile[name]) for name in facts.tile_columns if tile.get(name) is not None}}


def _preferred(rows: Sequence[KnownRow], method: str | None) -> KnownRow | None:
    """The best row, else the first one, among those of `method`."""
    matching = [row for row in rows if method is None or row.get("method") == method]
    return next((row for row in matching if row.get("best")), matching[0] if matching else None)


def shape_distance(facts: KernelFacts, case: Case, shape: str) -> float:
    """Sum over the dims of squared log ratios."""
    other = parse_case(f"{case.kernel}_{shape}").dims
    return sum(
        _ENUMERATED_DISTANCE * (value != other[name])
        if facts.dims[name].values
        else log(value / other[name]) ** 2
        for name, value in case.dims.items()
    )
