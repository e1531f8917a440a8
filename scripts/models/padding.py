"""Padding: what a shape becomes when no legal tile takes it as it is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scripts.cases.case import parse_case
from scripts.cases.formula import Formula
from scripts.cases.kernel_facts import Constraint, KernelFacts, load_kernel
from scripts.cases.legal_tiles import herd_knobs, method_flags, nearest_legal, walls
from scripts.models.plan import CallSite

MULTIPLE = 64
"""What padding goes up to. Published shapes: positions 50 -> 64, 241 -> 256, 291 -> 320, N 720 -> 768."""


def rounded_up(length: int) -> int:
    """The next multiple of what padding goes up to; `length` itself when it is one."""
    return -(-length // MULTIPLE) * MULTIPLE


def padded(
    kernel: str, dims: Mapping[str, int], paddable: Sequence[str]
) -> tuple[dict[str, int], tuple[str, ...]]:
    """`dims` with those of `paddable` that need it rounded up, and what was done, e.g. `N 720 padded to 768`.

    A dim needs it when no legal tile takes it, or none that fills the herd along it: the idle row of tiles
    costs more than the padding (published: 64x960x720 on 4x3 at 533 GFLOP/s, padded to 768 on 4x4 at 685).
    """
    need = [name for name in paddable if dims[name] % MULTIPLE and not _fits(kernel, dims, name)]
    notes = tuple(f"{name} {dims[name]} padded to {rounded_up(dims[name])}" for name in need)
    return {**dims, **{name: rounded_up(dims[name]) for name in need}}, notes


def _fits(kernel: str, dims: Mapping[str, int], name: str) -> bool:
    """Whether a legal tile takes this dim and fills the herd along it, whatever the other dims are."""
    facts = load_kernel(kernel)
    others = {
        dim: length if dim == name or facts.dims[dim].values else rounded_up(length)
        for dim, length in dims.items()
    }
    return _has_tile(facts, others, [*walls(facts), *_full_herd(facts, name)])


def _full_herd(facts: KernelFacts, name: str) -> list[Constraint]:
    """The herd's target extent along a dim, as a constraint: the herd's knob in the wall of that dim."""
    found = []
    for extent, target in zip(facts.herd.extent, facts.herd.target, strict=True):
        together = {name, extent.text}
        if extent.text in herd_knobs(facts) and any(together <= wall.left.names for wall in walls(facts)):
            full = Constraint("full herd", "wall", extent, ">=", Formula(str(target)), "")
            found.append(full)
    return found


def _has_tile(facts: KernelFacts, dims: Mapping[str, int], constraints: Sequence[Constraint]) -> bool:
    method = next((each.name for each in facts.methods if each.when(dims)), None)
    fixed = {**dims, **method_flags(facts, method)}
    wanted = {knob.name: knob.default for knob in facts.knobs}
    return nearest_legal(facts, fixed, wanted, constraints=constraints) is not None


def sequence_fits(sites: Sequence[CallSite]) -> bool:
    """Whether every call with a harness has a legal tile."""
    cases = [parse_case(name) for name in dict.fromkeys(s.case_name for s in sites if s.source == "harness")]
    facts = {case.kernel: load_kernel(case.kernel) for case in cases}
    return all(_has_tile(facts[case.kernel], case.dims, walls(facts[case.kernel])) for case in cases)


def with_note(sites: Sequence[CallSite], note: str) -> list[CallSite]:
    """The calls with one more note, the first one."""
    return [replace(site, notes=(note, *site.notes)) for site in sites]
