"""Which tile a question is about, and whether it is legal."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from scripts.cases.case import Case
from scripts.cases.kernel_facts import KernelFacts, load_kernel
from scripts.cases.known_shapes import KnownRow
from scripts.cases.legal_tiles import (
    Assignment,
    herd_extent,
    herd_knobs,
    holds,
    knob_values,
    method_flags,
    walls,
)
from scripts.cases.overrides import METHOD
from scripts.cases.tile_choice import CaseSpec, choose_spec
from scripts.cases.walls import Wall, broken_constraints, find_wall


@dataclass(frozen=True)
class AskedTile:
    """The tile a question is about."""

    spec: CaseSpec | None  # how it is built; None when it breaks a wall
    wall: Wall | None  # the first wall it breaks
    method: str | None
    knobs: Mapping[str, int]  # every knob
    source: str  # where the tile comes from, as in CaseSpec.tile_source


def asked_tile(case: Case, rows: Sequence[KnownRow], overrides: Mapping[str, int | str]) -> AskedTile:
    """The tile of `overrides`, completed as a build completes it.

    Where the overrides name no herd and the chosen one does not divide the shape with this tile, the
    fullest legal herd takes its place. Raises InputError for an unknown knob or method and for a shape
    without a legal tile.
    """
    facts = load_kernel(case.kernel)
    method = {METHOD: overrides[METHOD]} if METHOD in overrides else None
    chosen = choose_spec(case, rows, method)
    for name in overrides:
        if name != METHOD:
            facts.knob(name)
    given = {name: int(value) for name, value in overrides.items() if name != METHOD}
    knobs = _with_legal_herd(case, facts, chosen, given)
    wall = find_wall(case, knobs, chosen.method)
    if wall is not None:
        return AskedTile(None, wall, chosen.method, knobs, "override")
    # A tile that was asked for is an override of every knob; one that was not keeps its origin.
    spec = choose_spec(case, rows, {**(method or {}), **knobs}) if given else chosen
    return AskedTile(spec, None, spec.method, spec.knobs, spec.tile_source)


def _with_legal_herd(
    case: Case, facts: KernelFacts, chosen: CaseSpec, given: Mapping[str, int]
) -> Assignment:
    """The given knobs over the chosen ones, on the fullest legal herd where the chosen one does not fit."""
    knobs = {**chosen.knobs, **given}
    fixed = {**case.dims, **method_flags(facts, chosen.method)}
    if not given or herd_knobs(facts) & set(given) or not broken_constraints(facts, {**fixed, **knobs}):
        return knobs
    fitting = (
        herd for herd in herds(facts, fixed) if not broken_constraints(facts, {**fixed, **knobs, **herd})
    )
    return {**knobs, **next(fitting, {})}


def herds(facts: KernelFacts, dims: Mapping[str, int]) -> list[Assignment]:
    """Every value of the herd's knobs, those that fill most of the target first, then the widest."""
    names = [knob.name for knob in facts.knobs if knob.name in herd_knobs(facts)]
    values = product(*(knob_values(facts.knob(name), dims) for name in names))
    every = [dict(zip(names, chosen, strict=True)) for chosen in values]

    def emptiness(herd: Assignment) -> tuple[int, int]:
        columns, rows = herd_extent(facts, herd)
        return -min(columns * rows, prod(facts.herd.target)), -columns

    return sorted(every, key=emptiness)


def legal_tiles(case: Case, method: str | None) -> Iterator[tuple[Assignment, list[Assignment]]]:
    """Each value of the knobs other than the herd's, with every herd (`herds` order) on which it is legal."""
    facts = load_kernel(case.kernel)
    fixed = {**case.dims, **method_flags(facts, method)}
    of_herd = herd_knobs(facts)
    # Constraints that no herd can mend are checked first: they rule out most tiles.
    late = [wall for wall in walls(facts) if of_herd & (wall.left.names | wall.right.names)]
    early = [wall for wall in walls(facts) if wall not in late]
    every_herd = herds(facts, fixed)
    free = [knob for knob in facts.knobs if knob.name not in of_herd]
    for values in product(*(knob_values(knob, fixed) for knob in free)):
        tile = {knob.name: value for knob, value in zip(free, values, strict=True)}
        variables = {**fixed, **tile}
        if all(holds(wall, variables) for wall in early):
            legal = [herd for herd in every_herd if all(holds(wall, {**variables, **herd}) for wall in late)]
            if legal:
                yield tile, legal
