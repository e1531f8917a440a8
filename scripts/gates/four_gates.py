"""The four gates: what each asks of a case, and whether all cases of a model hold it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scripts.gates.registry_proof import missing_row
from scripts.models.plan import PlannedCase
from scripts.precision.verdict import MEASURED, Verdict

NO_SIGNAL = "without a signal (gate 1)"


@dataclass(frozen=True)
class CaseEvidence:
    """What is known of one planned case."""

    planned: PlannedCase
    verdict: Verdict | None  # None: nobody judged it
    receipt: Mapping[str, Any] | None  # of the registry step; None: it did not run

    @property
    def has_signal(self) -> bool:
        """Whether something judged the case's numbers, and it was what the kernel's source asks for.

        A kernel that has a harness is judged by it alone: cosine never gates it.
        """
        verdict = self.verdict
        return (
            verdict is not None
            and verdict.status in MEASURED
            and verdict.evidence.source == self.planned.source
        )

    @property
    def passed(self) -> bool:
        """Whether the case passed."""
        return self.has_signal and self.verdict.passed


@dataclass(frozen=True)
class GateFailure:
    """A case that does not hold a gate."""

    case: str
    reason: str  # one line for a person


@dataclass(frozen=True)
class Gate:
    """One gate over all cases of a model."""

    gate: int  # 1 to 4
    name: str  # what it asks
    passed: bool  # every case holds it, and there is at least one
    passed_harness: bool  # the same over the cases that have a harness
    failures: tuple[GateFailure, ...]  # the cases that do not, in the plan's order


def signal_missing(evidence: CaseEvidence, model: str) -> str | None:
    """Gate 1: a harness verdict, or the diagnosis for a kernel without a harness."""
    verdict, source = evidence.verdict, evidence.planned.source
    if evidence.has_signal:
        return None
    if verdict is None:
        return "no harness, and no diagnosis has been recorded" if source == "diagnosis" else "no verdict"
    if verdict.evidence.source != source:
        return f"the verdict is of the {verdict.evidence.source}; this kernel is judged by its {source}"
    return f"{verdict.status}: {verdict.reason}"


def numbers_wrong(evidence: CaseEvidence, model: str) -> str | None:
    """Gate 2: every element is proven close to the reference, or the diagnosis found no cliff."""
    if not evidence.has_signal:
        return NO_SIGNAL
    return None if evidence.verdict.passed else f"{evidence.verdict.status}: {evidence.verdict.reason}"


def tiles_undocumented(evidence: CaseEvidence, model: str) -> str | None:
    """Gate 3: tiles used against the target are on record; below the target needs a written reason."""
    verdict = evidence.verdict
    if verdict is None:
        return NO_SIGNAL
    if not verdict.tiles_used or not verdict.tiles_target:
        return "no record of the tiles used"
    if verdict.tiles_used < verdict.tiles_target and not (verdict.note or "").strip():
        return f"{verdict.tiles_used} of {verdict.tiles_target} tiles, without a written reason"
    return None


def row_missing(evidence: CaseEvidence, model: str) -> str | None:
    """Gate 4: the registry holds a row for the case, and its used_by names the model."""
    if not evidence.has_signal:
        return NO_SIGNAL
    if not evidence.verdict.passed:
        return f"no row: {evidence.verdict.status}"
    return missing_row(evidence.receipt, evidence.verdict, model)


GATES: tuple[tuple[str, Callable[[CaseEvidence, str], str | None]], ...] = (
    ("a correctness signal exists", signal_missing),
    ("the numbers are right", numbers_wrong),
    ("tile use is documented", tiles_undocumented),
    ("the registry holds a row", row_missing),
)


def evaluate(cases: Sequence[CaseEvidence], model: str) -> tuple[Gate, ...]:
    """Apply every gate to every case. A gate without cases does not pass: it proves nothing."""
    return tuple(_gate(number, name, ask, cases, model) for number, (name, ask) in enumerate(GATES, start=1))


def _gate(
    number: int,
    name: str,
    ask: Callable[[CaseEvidence, str], str | None],
    cases: Sequence[CaseEvidence],
    model: str,
) -> Gate:
    answers = [(each.planned, ask(each, model)) for each in cases]
    harness = [reason for planned, reason in answers if planned.source == "harness"]
    return Gate(
        gate=number,
        name=name,
        passed=bool(answers) and all(reason is None for _, reason in answers),
        passed_harness=bool(harness) and all(reason is None for reason in harness),
        failures=tuple(
            GateFailure(planned.case, reason) for planned, reason in answers if reason is not None
        ),
    )
