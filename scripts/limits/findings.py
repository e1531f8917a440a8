"""Every constraint of a case's kernel against its dimensions and its tile."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from scripts.cases.case import Case, parse_case
from scripts.cases.kernel_facts import Constraint, KernelFacts, load_kernel
from scripts.cases.legal_tiles import holds, method_flags, nearest_legal, unmet_constraints, walls
from scripts.cases.tile_choice import CaseSpec, default_method, spec_variables
from scripts.cases.walls import assignment_text, known_bad, number_text
from scripts.models.plan import PlannedCase

OK, OTHER_TILE, OTHER_KERNELS = "ok", "other tile", "other kernels"
LAUNCH = "launch"  # severity of a limit that decides which kernels are called
_PADDED = re.compile(r"\b\w+ \d+ padded to \d+")


@dataclass(frozen=True)
class Finding:
    """One line of the table. The fields are the columns, in their order."""

    case: str  # or the kernel, where no tile matters
    constraint: str  # its name in kernel.yaml; "padding" or "herd fit"
    severity: str  # "wall", "hint", "known bad tile", "padding", "herd" or "launch"
    formula: str  # what is limited
    value: str  # of the formula, for this shape and tile
    limit: str  # relation and number
    outcome: str  # "ok", or in one or two words what a person should know
    remedy: str  # the tile or the padding that passes; "-" for nothing to do
    says: str  # the limit for a person


def findings(planned: PlannedCase, spec: CaseSpec | None) -> list[Finding]:
    """Every limit of a planned case, built as `spec` says; None: there is no legal tile.

    Nothing here is a verdict. A wall is known before a compile; for a hint, the device decides.
    """
    case = parse_case(planned.case)
    facts = load_kernel(case.kernel)
    padding = [_padding(planned.case, note) for note in _padded_notes(planned)]
    if spec is None:
        return [*padding, *_without_tile(case, facts)]
    limits = [*facts.constraints, *known_bad(facts, case.dims)]
    return [*padding, *(_limit(facts, spec, each) for each in limits), _herd_fit(facts, spec)]


def worth_a_look(found: Finding) -> bool:
    """Whether a person should read the line: a limit that does not hold, or holds by padding only."""
    return found.outcome not in (OK, OTHER_TILE, OTHER_KERNELS)


def _padded_notes(planned: PlannedCase) -> list[str]:
    return list(dict.fromkeys(note for site in planned.call_sites for note in _PADDED.findall(site)))


def _padding(case: str, note: str) -> Finding:
    name, before, _, _, after = note.split(" ")
    says = "no legal tile takes the length, or none fills the herd along it"
    return Finding(case, "padding", "padding", name, before, f"-> {after}", "padded", note, says)


def _limit(facts: KernelFacts, spec: CaseSpec, limit: Constraint) -> Finding:
    """One constraint with the values of the chosen tile, and what the default tile would have met."""
    variables = spec_variables(spec)
    outcome, remedy = OK, "-"
    if not holds(limit, variables):
        outcome, remedy = limit.severity, _better_tile(facts, spec)
    elif not holds(limit, {**variables, **_defaults(facts)}):
        given = number_text(float(limit.left({**variables, **_defaults(facts)})))
        outcome, remedy = OTHER_TILE, f"{_instead_of_default(facts, spec)}, which gives {given}"
    return _finding(spec.case.name, limit, variables, outcome, remedy)


def _finding(
    case: str, limit: Constraint, variables: Mapping[str, float], outcome: str, remedy: str
) -> Finding:
    right = f"{limit.relation} {number_text(limit.right(variables))}"
    value = number_text(float(limit.left(variables)))
    return Finding(
        case, limit.name, limit.severity, limit.left.text, value, right, outcome, remedy, limit.says
    )


def _defaults(facts: KernelFacts) -> dict[str, int]:
    return {knob.name: knob.default for knob in facts.knobs}


def _instead_of_default(facts: KernelFacts, spec: CaseSpec) -> str:
    chosen, default = assignment_text(facts, spec.knobs), assignment_text(facts, _defaults(facts))
    return f"tile {chosen} instead of {default}"


def _better_tile(facts: KernelFacts, spec: CaseSpec) -> str:
    """The nearest tile that no hint and no bad experience speaks against."""
    fixed = {**spec.case.dims, **method_flags(facts, spec.method)}
    every = [*facts.constraints, *known_bad(facts, spec.case.dims)]
    better = nearest_legal(facts, fixed, spec.knobs, keep_herd=True, constraints=every)
    return f"tile {assignment_text(facts, better)}" if better else "none: the device decides"


def _herd_fit(facts: KernelFacts, spec: CaseSpec) -> Finding:
    outcome = OK if spec.note is None else "idle tiles"
    formula = " * ".join(extent.text for extent in facts.herd.extent)
    used, target = str(spec.tiles_used), f">= {spec.tiles_target}"
    note = spec.note or "-"
    return Finding(spec.case.name, "herd fit", "herd", formula, used, target, outcome, note, "tiles in use")


def _without_tile(case: Case, facts: KernelFacts) -> list[Finding]:
    """The walls that no tile can meet, with the values of the default one."""
    fixed = {**case.dims, **method_flags(facts, default_method(case, facts))}
    variables = {**fixed, **_defaults(facts)}
    unmet = {limit.name for limit in unmet_constraints(facts, fixed)}
    return [
        _finding(case.name, limit, variables, "no legal tile", "none: the shape needs another split")
        for limit in walls(facts)
        if limit.name in unmet
    ]
