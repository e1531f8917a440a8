"""The choice of a tile: the registry's for a known shape, else the nearest known shape's, made legal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from scripts.cases.case import Case
from scripts.cases.kernel_facts import KernelFacts, load_kernel
from scripts.cases.known_shapes import KnownRow, known_row, measured_rows, nearest_row, row_knobs
from scripts.cases.legal_tiles import (
    Assignment,
    herd_extent,
    herd_knobs,
    method_flags,
    nearest_legal,
    unmet_constraints,
    walls,
)
from scripts.cases.overrides import checked_overrides
from scripts.cases.walls import broken_constraints, find_wall, known_bad, wall_text
from scripts.errors import InputError


class IllegalTile(InputError):
    """A tile override that breaks a wall; the message is the wall's text."""


@dataclass(frozen=True)
class CaseSpec:
    """A case and how it is built: everything a compile needs besides the kernel's facts."""

    case: Case
    method: str | None  # None for a kernel with one code path
    knobs: Mapping[str, int]  # every knob
    tile: Mapping[str, int]  # the knobs a registry row keeps
    herd: tuple[int, int]  # columns and rows of tiles in use
    tiles_used: int
    tiles_target: int
    tile_text: str  # the tile for a person
    tile_source: str  # "registry", "nearest known shape <shape>", "default" or "override"
    note: str | None  # why fewer tiles than the target are in use; None when they are not


@dataclass(frozen=True)
class _Choice:
    """A legal method and knobs, and where they come from."""

    method: str | None
    knobs: Assignment
    source: str  # CaseSpec.tile_source
    idle_reason: str | None  # why tiles are idle, should they be; None: no legal tile uses more


def choose_spec(
    case: Case, rows: Sequence[KnownRow], overrides: Mapping[str, int | str] | None = None
) -> CaseSpec:
    """The tile, herd and method for `case`.

    `rows` are the kernel's registry rows; `overrides` sets knobs, and `method` by name.
    Raises InputError when no tile is legal for the shape or an override is unknown, IllegalTile when an
    override breaks a wall.
    """
    facts = load_kernel(case.kernel)
    method, knobs = checked_overrides(facts, overrides or {})
    measured = measured_rows(rows)
    choice = _registry_choice(case, facts, measured, method) or _searched(case, facts, measured, method)
    if overrides:
        choice = _overridden(case, facts, choice, knobs)
    return _spec(case, facts, choice)


def spec_variables(spec: CaseSpec) -> dict[str, int]:
    """What the kernel's formulas may use: dims, knobs and method flags."""
    return {**spec.case.dims, **spec.knobs, **method_flags(load_kernel(spec.case.kernel), spec.method)}


def default_method(case: Case, facts: KernelFacts) -> str | None:
    """The first method whose `when` holds for the shape; None for a kernel with one code path."""
    return next((method.name for method in facts.methods if method.when(case.dims)), None)


def _registry_choice(
    case: Case, facts: KernelFacts, rows: Sequence[KnownRow], method: str | None
) -> _Choice | None:
    """The tile that was measured for this very shape, unless there is none or kernel.yaml rules it out."""
    row = known_row(case, rows, method)
    if row is None:
        return None
    knobs, method = row_knobs(facts, row), row.get("method") or default_method(case, facts)
    if broken_constraints(facts, {**case.dims, **method_flags(facts, method), **knobs}):
        return None
    origin = (row.get("evidence") or {}).get("source", "the registry")
    columns, tile_rows = herd_extent(facts, knobs)
    reason = row.get("note") or f"measured on a herd of {columns}x{tile_rows}: {origin}"
    return _Choice(method, knobs, "registry", reason)


def _searched(case: Case, facts: KernelFacts, rows: Sequence[KnownRow], method: str | None) -> _Choice:
    """The nearest known shape's tile, else the default one, made legal. InputError when none is."""
    method = method or default_method(case, facts)
    row = nearest_row(case, facts, rows, method)
    wanted = row_knobs(facts, row) if row else {knob.name: knob.default for knob in facts.knobs}
    fixed = {**case.dims, **method_flags(facts, method)}
    checks = [*walls(facts), *known_bad(facts, case.dims)]
    knobs = nearest_legal(facts, fixed, wanted, constraints=checks)
    if knobs is None:
        unmet = "; ".join(
            f"{each.name}, {each.left.text} {each.relation} {each.right.text} ({each.says})"
            for each in unmet_constraints(facts, fixed)
        )
        raise InputError(f"{case.name}: no legal tile fits this shape; cannot be met: {unmet}")
    return _Choice(method, knobs, f"nearest known shape {row['shape']}" if row else "default", None)


def _overridden(case: Case, facts: KernelFacts, choice: _Choice, knobs: Mapping[str, int]) -> _Choice:
    """The choice with the asked-for knobs; IllegalTile when they break a wall."""
    wall = find_wall(case, {**choice.knobs, **knobs}, choice.method)
    if wall is not None:
        raise IllegalTile(wall_text(wall))
    columns, rows = herd_extent(facts, {**choice.knobs, **knobs})
    by_hand = (
        f"a herd of {columns}x{rows} was asked for" if herd_knobs(facts) & set(knobs) else choice.idle_reason
    )
    return _Choice(choice.method, {**choice.knobs, **knobs}, "override", by_hand)


def _spec(case: Case, facts: KernelFacts, choice: _Choice) -> CaseSpec:
    """The choice as a record, with the tiles it uses and why they are fewer than the target."""
    herd = herd_extent(facts, choice.knobs)
    used, target = prod(herd), prod(facts.herd.target)
    return CaseSpec(
        case=case,
        method=choice.method,
        knobs=choice.knobs,
        tile={name: choice.knobs[name] for name in facts.tile_columns},
        herd=herd,
        tiles_used=used,
        tiles_target=target,
        tile_text=facts.tile_text.format_map(choice.knobs),
        tile_source=choice.source,
        note=None if used >= target else choice.idle_reason or _idle_text(case, facts, choice, used, target),
    )


def _idle_text(case: Case, facts: KernelFacts, choice: _Choice, used: int, target: int) -> str:
    """Why tiles are idle where the search found no legal assignment that uses more."""
    fallback = f"no legal tile for {case.shape} uses more than {{tiles_used}} of {{tiles_target}} tiles"
    template = facts.herd.below_target or fallback
    values = {**case.dims, **choice.knobs, "tiles_used": used, "tiles_target": target}
    return template.format_map(values)
