"""Every legal tile of a shape, ranked: fewest hints, most tiles of the array, measured neighbours first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, log, prod

from scripts.cases.case import Case
from scripts.cases.kernel_facts import KernelFacts, load_kernel
from scripts.cases.known_shapes import KnownRow, measured_rows, row_knobs, shape_distance
from scripts.cases.legal_tiles import Assignment, herd_extent, method_flags
from scripts.cases.walls import hints
from scripts.prediction.legality import legal_tiles


@dataclass(frozen=True)
class Neighbour:
    """A shape that was measured with the very same tile."""

    shape: str
    figure: str  # e.g. "6893 GFLOP/s"
    distance: float  # of the shapes, by the sum of squared log ratios; 0 for the same one


@dataclass(frozen=True)
class LegalTile:
    """One legal tile on the herd that suits it best."""

    knobs: Mapping[str, int]  # every knob
    tile_text: str
    herd: tuple[int, int]  # columns and rows
    tiles_used: int
    tiles_target: int
    hints: tuple[str, ...]  # names of the hints it runs into
    neighbour: Neighbour | None  # the nearest shape measured with this tile
    tile_distance: float  # from the tile of the nearest measured shape

    @property
    def rank(self) -> tuple[float, ...]:
        """Sort key: the best tile has the smallest one."""
        far = self.neighbour.distance if self.neighbour else inf
        return len(self.hints), -min(self.tiles_used, self.tiles_target), far, self.tile_distance


def ranked_tiles(case: Case, method: str | None, rows: Sequence[KnownRow]) -> list[LegalTile]:
    """Every legal tile of `case`, the best one first; empty when there is none. `rows`: the registry's."""
    facts, known = load_kernel(case.kernel), timed_rows(case, method, rows)
    # Without knobs of its own a tile is its herd: then each herd is a line.
    return sorted(
        (
            _legal_tile(case, facts, method, known, {**tile, **herd})
            for tile, herds in legal_tiles(case, method)
            for herd in ([_best_herd(case, facts, method, tile, herds)] if tile else herds)
        ),
        key=lambda tile: tile.rank,
    )


def timed_rows(case: Case, method: str | None, rows: Sequence[KnownRow]) -> list[KnownRow]:
    """The rows of `method` that were timed on a device, the nearest shape first."""
    facts = load_kernel(case.kernel)
    timed = [row for row in measured_rows(rows) if row.get("method") == method and _figure(row)]
    return sorted(timed, key=lambda row: shape_distance(facts, case, row["shape"]))


def neighbour_of(case: Case, knobs: Mapping[str, int], timed: Sequence[KnownRow]) -> Neighbour | None:
    """The first of `timed` (see `timed_rows`) that was measured with this tile and herd."""
    facts = load_kernel(case.kernel)
    tile, herd = {name: knobs[name] for name in facts.tile_columns}, herd_extent(facts, knobs)
    for row in timed:
        if row["tile"] == tile and tuple(row["herd"]) == herd:
            return Neighbour(row["shape"], _figure(row), shape_distance(facts, case, row["shape"]))
    return None


def _best_herd(
    case: Case, facts: KernelFacts, method: str | None, tile: Assignment, herds: Sequence[Assignment]
) -> Assignment:
    """The first of the herds, which come fullest first, with the fewest hints."""
    fixed = {**case.dims, **method_flags(facts, method), **tile}
    return min(herds, key=lambda herd: len(hints(facts, {**fixed, **herd})))


def _legal_tile(
    case: Case, facts: KernelFacts, method: str | None, known: Sequence[KnownRow], knobs: Assignment
) -> LegalTile:
    ordered = {knob.name: knobs[knob.name] for knob in facts.knobs}
    herd = herd_extent(facts, ordered)
    variables = {**case.dims, **method_flags(facts, method), **ordered}
    return LegalTile(
        knobs=ordered,
        tile_text=facts.tile_text.format_map(ordered),
        herd=herd,
        tiles_used=prod(herd),
        tiles_target=prod(facts.herd.target),
        hints=tuple(hint.name for hint in hints(facts, variables)),
        neighbour=neighbour_of(case, ordered, known),
        tile_distance=_tile_distance(ordered, row_knobs(facts, known[0])) if known else 0.0,
    )


def _tile_distance(knobs: Mapping[str, int], other: Mapping[str, int]) -> float:
    return sum(log(value / other[name]) ** 2 for name, value in knobs.items())


def _figure(row: KnownRow) -> str | None:
    """Its throughput as the row has it; None for a row without timing."""
    for field, unit in (("gflops", "GFLOP/s"), ("gbps", "GB/s")):
        if row.get(field):
            return f"{row[field]:g} {unit}"
    return None
