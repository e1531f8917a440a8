"""What the gates say about a model: its outcome in one line, and whether Phase 2 may start."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scripts.errors import InputError
from scripts.gates.four_gates import CaseEvidence, Gate, GateFailure

SIMULATED, HARDWARE, MIXED, NONE = "simulated", "hardware", "mixed", "none"
_WHERE = {
    SIMULATED: "on the host model (simulated evidence)",
    HARDWARE: "on NPU2 (hardware evidence)",
    MIXED: "partly on the host model, partly on NPU2 (mixed evidence)",
    NONE: "(no evidence)",
}
# Cases named in one clause; the report lists the others.
_NAMED = 3


@dataclass(frozen=True)
class Phase2:
    """Whether block integration may start."""

    unblocked: bool
    blocked_by: tuple[str, ...]  # why not, one clause each


@dataclass(frozen=True)
class ModelOutcome:
    """results/<model>.gates.json."""

    model: str
    evidence: str  # "simulated", "hardware", "mixed" or "none"
    gates: tuple[Gate, ...]  # all four, in order
    cases: tuple[dict[str, Any], ...]  # the plan's cases with their status, in its order
    phase2: Phase2
    first_line: str  # outcome, kind of evidence, what blocks Phase 2

    def as_json(self) -> str:
        """The record as JSON text with a newline at the end."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def model_outcome(model: str, cases: Sequence[CaseEvidence], gates: tuple[Gate, ...]) -> ModelOutcome:
    """Sum up the gates of a model."""
    kinds = {each.verdict.evidence.kind for each in cases if each.verdict}
    evidence = kinds.pop() if len(kinds) == 1 else MIXED if kinds else NONE
    blocked_by = _blockers(cases, gates, evidence)
    phase2 = Phase2(unblocked=not blocked_by, blocked_by=blocked_by)
    first_line = f"{_tally(cases)} {_WHERE[evidence]}. {_phase2_text(phase2)}"
    return ModelOutcome(model, evidence, gates, tuple(map(_case_record, cases)), phase2, first_line)


def _tally(cases: Sequence[CaseEvidence]) -> str:
    """How many cases passed: `16 of 16 harness cases and 3 of 3 diagnosed cases PASS`."""
    counts = [_count(cases, "harness", "harness cases"), _count(cases, "diagnosis", "diagnosed cases")]
    return f"{' and '.join(filter(None, counts))} PASS"


def _count(cases: Sequence[CaseEvidence], source: str, name: str) -> str | None:
    of_source = [each for each in cases if each.planned.source == source]
    passed = sum(each.passed for each in of_source)
    return f"{passed} of {len(of_source)} {name}" if of_source else None


def _phase2_text(phase2: Phase2) -> str:
    if phase2.unblocked:
        return "Phase 2 is unblocked: all four gates hold."
    return f"Phase 2 stays blocked: {'; '.join(phase2.blocked_by)}."


def _blockers(cases: Sequence[CaseEvidence], gates: tuple[Gate, ...], evidence: str) -> tuple[str, ...]:
    """Every reason why Phase 2 may not start; each case is named under the first that concerns it."""
    failed = [each.planned.case for each in cases if each.planned.source == "harness" and not each.passed]
    without = [
        each.planned.case for each in cases if each.planned.source == "diagnosis" and not each.has_signal
    ]
    clauses = [
        _clause(failed, "failed case", "failed cases"),
        _clause(without, "kernel without a signal", "kernels without a signal"),
    ]
    named = {*failed, *without}
    for gate in gates:
        others = [failure.case for failure in gate.failures if failure.case not in named]
        clauses.append(_clause(others, f"case fails gate {gate.gate}", f"cases fail gate {gate.gate}"))
        named.update(others)
    if evidence != HARDWARE:
        clauses.append("the same cases must pass on NPU2")
    return tuple(filter(None, clauses))


def _clause(cases: Sequence[str], one: str, many: str) -> str | None:
    if not cases:
        return None
    return f"{len(cases)} {one if len(cases) == 1 else many} ({named_cases(cases)})"


def named_cases(cases: Sequence[str]) -> str:
    """The first few cases by name, and how many more there are."""
    more = len(cases) - _NAMED
    return ", ".join(cases[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _case_record(each: CaseEvidence) -> dict[str, Any]:
    planned, verdict = each.planned, each.verdict
    return {
        "case": planned.case,
        "kernel": planned.kernel,
        "shape": planned.shape,
        "phase": planned.phase,
        "call_sites": list(planned.call_sites),
        "source": planned.source,
        "status": str(verdict.status) if verdict else None,
        "reason": verdict.reason if verdict else None,
        "attempts": verdict.evidence.attempts if verdict else 0,
    }


def read_outcome(path: Path) -> ModelOutcome:
    """Read results/<model>.gates.json. Raises InputError when it is missing or not as `as_json` writes it."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        gates = tuple(
            Gate(**{**gate, "failures": tuple(GateFailure(**failure) for failure in gate["failures"])})
            for gate in record["gates"]
        )
        phase2 = Phase2(record["phase2"]["unblocked"], tuple(record["phase2"]["blocked_by"]))
        outcome = ModelOutcome(
            **{**record, "gates": gates, "cases": tuple(record["cases"]), "phase2": phase2}
        )
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path}: not a readable JSON file: {error}") from None
    except (KeyError, TypeError) as error:
        raise InputError(f"{path}: not a record of the gates: {error}") from None
    if [gate.gate for gate in outcome.gates] != [1, 2, 3, 4]:
        raise InputError(
            f"{path}: gates {[gate.gate for gate in outcome.gates]} found; 1, 2, 3, 4 are needed"
        )
    return outcome
