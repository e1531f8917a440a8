"""Walls: what a tile breaks, in words a person can act on."""

from collections.abc import Mapping
from dataclasses import dataclass

from scripts.cases.case import Case
from scripts.cases.kernel_facts import Constraint, KernelFacts, load_kernel
from scripts.cases.legal_tiles import Assignment, herd_extent, holds, method_flags, nearest_legal


@dataclass(frozen=True)
class Wall:
    """A hard constraint that a tile breaks."""

    constraint: str  # its name
    left: str  # the formula of its left side
    left_value: float
    relation: str  # how left and right have to compare
    right_value: float
    says: str  # for a person
    nearest_legal: str | None  # tile and herd of the nearest legal assignment, None when there is none


def broken_constraints(facts: KernelFacts, variables: Mapping[str, float]) -> list[Constraint]:
    """Hard constraints that `variables` (dims, knobs, method flags) break, in the order of kernel.yaml."""
    return [each for each in facts.constraints if each.severity == "wall" and not holds(each, variables)]


def hints(facts: KernelFacts, variables: Mapping[str, float]) -> list[Constraint]:
    """Soft constraints that `variables` break: seen to go wrong on a device, but not always."""
    soft = [*(each for each in facts.constraints if each.severity == "hint"), *known_bad(facts, variables)]
    return [each for each in soft if not holds(each, variables)]


def known_bad(facts: KernelFacts, dims: Mapping[str, float]) -> list[Constraint]:
    """What a tile of this shape has to avoid, because it was silently wrong on a device."""
    return [tile.avoid for tile in facts.known_bad_tiles if tile.shape(dims)]


def find_wall(case: Case, knobs: Mapping[str, int], method: str | None) -> Wall | None:
    """The first hard constraint that `knobs` break for `case`, or None for a legal tile."""
    facts = load_kernel(case.kernel)
    fixed = {**case.dims, **method_flags(facts, method)}
    variables = {**fixed, **knobs}
    broken = broken_constraints(facts, variables)
    if not broken:
        return None
    legal = nearest_legal(facts, fixed, knobs, keep_herd=True)
    return Wall(
        constraint=broken[0].name,
        left=broken[0].left.text,
        left_value=broken[0].left(variables),
        relation=broken[0].relation,
        right_value=broken[0].right(variables),
        says=broken[0].says,
        nearest_legal=assignment_text(facts, legal) if legal else None,
    )


def wall_text(wall: Wall) -> str:
    """The wall as one line: the constraint, both sides' values, and the nearest legal tile."""
    nearest = f"nearest legal tile {wall.nearest_legal}" if wall.nearest_legal else "no tile is legal"
    left, right = number_text(wall.left_value), number_text(wall.right_value)
    sides = f"{wall.left} = {left} must be {wall.relation} {right}"
    return f"{wall.constraint}: {sides} ({wall.says}); {nearest}"


def number_text(value: float) -> str:
    """Whole numbers without a point, also where a formula divides."""
    return str(int(value)) if value == int(value) else f"{value:g}"


def assignment_text(facts: KernelFacts, knobs: Assignment) -> str:
    """A tile and its herd for a person, e.g. `32/256/32/128 herd 8x4`."""
    columns, rows = herd_extent(facts, knobs)
    tile = facts.tile_text.format_map(knobs)
    return f"{tile} herd {columns}x{rows}"
