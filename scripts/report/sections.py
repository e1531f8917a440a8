"""The sections of a report: cases by phase, gates, active blockers, evidence."""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from scripts.cases.kernel_facts import load_kernel
from scripts.diagnosis.document import Diagnosis
from scripts.gates.four_gates import NO_SIGNAL, Gate
from scripts.gates.model_outcome import ModelOutcome
from scripts.limits.findings import Finding
from scripts.models.plan import PlannedCase
from scripts.precision.numeric_failure import in_tier
from scripts.precision.verdict import Status, Verdict
from scripts.registry.figures import scientific
from scripts.registry.rows import Row
from scripts.report.figures import ABSENT, measured_scientific, published_mean

YES, NO, OPEN = "✅", "❌", "➖"
_IN_BLOCKERS = "in Active blockers"
_HASH_DIGITS = 8
_SPACE = "\N{NO-BREAK SPACE}"  # keeps a mark beside its word when a narrow column wraps
_FIGURES = ("mean_rel_L1", "published", "tiles", "gate", "seconds", "attempts", "rel_err max", "abs_err max")


@dataclass(frozen=True)
class ReportInput:
    """Everything a report is made of."""

    outcome: ModelOutcome
    plan: Sequence[PlannedCase]
    verdicts: Mapping[str, Verdict]  # by case
    registry: Mapping[str, Sequence[Row]]  # rows of the shared registry, by kernel
    limits: Sequence[Finding] = ()  # what the preflight says
    diagnosis: Diagnosis | None = None  # of whole layers, for a model that needs one
    working_copy: Mapping[str, Sequence[Row]] = field(
        default_factory=dict
    )  # rows of this run's registry, by kernel


def case_sections(report: ReportInput) -> list[str]:
    """One table for each phase in the plan, then the cases that only the diagnosis judges."""
    phases = dict.fromkeys(row.phase for row in report.plan if row.source == "harness")
    sections = []
    for phase in phases:
        rows = [row for row in report.plan if row.phase == phase and row.source == "harness"]
        title = phase.replace("+", " and ").capitalize()
        sections.append(f"## {title}\n\n{_case_table(report, rows)}")
    without = [row for row in report.plan if row.source != "harness"]
    if without:
        sections.append(f"## Judged by the diagnosis (no harness)\n\n{_diagnosis_table(report, without)}")
    return sections


def _case_table(report: ReportInput, rows: Sequence[PlannedCase]) -> str:
    return _table([_case_row(report, row) for row in rows])


def _case_row(report: ReportInput, row: PlannedCase) -> dict[str, str]:
    verdict = report.verdicts.get(row.case)
    method = verdict.method if verdict else None
    published, other = published_mean(report.registry.get(row.kernel, ()), row.shape, method)
    precision = verdict.precision if verdict else None
    return {
        "case": f"`{row.case}`",
        "call sites": ", ".join(row.call_sites),
        "status": _status(verdict),
        "mean_rel_L1": measured_scientific(precision.mean_rel_L1 if precision else None),
        "published": published,
        "tiles": _tiles(verdict),
        "tile config": _tile_config(verdict),
        "note": "; ".join(filter(None, (*_notes(verdict), f"published: {other}" if other else None))),
    }


def _status(verdict: Verdict | None) -> str:
    if verdict is None:
        return f"{OPEN}{_SPACE}no{_SPACE}verdict"
    mark = YES if verdict.passed else OPEN if verdict.status is Status.NOT_RUN else NO
    return f"{mark}{_SPACE}{verdict.status}"


def _tiles(verdict: Verdict | None) -> str:
    if verdict is None or verdict.tiles_used is None:
        return ABSENT
    return f"{verdict.tiles_used}/{verdict.tiles_target}"


def _tile_config(verdict: Verdict | None) -> str:
    """The tile as the kernel writes it, then the method."""
    if verdict is None or verdict.herd is None:
        return ABSENT
    facts = load_kernel(verdict.kernel)
    extents = zip(facts.herd.extent, verdict.herd, strict=True)
    herd_knobs = {next(iter(extent.names)): value for extent, value in extents if len(extent.names) == 1}
    try:
        tile = facts.tile_text.format_map({**herd_knobs, **verdict.tile})
    except KeyError:
        tile = ", ".join(f"{knob} {value}" for knob, value in verdict.tile.items())
    return " ".join(filter(None, (tile, verdict.method)))


def _notes(verdict: Verdict | None) -> list[str]:
    """What a reader has to know beside the figures."""
    if verdict is None:
        return []
    notes = [verdict.note] if verdict.note else []
    if verdict.passed and verdict.evidence.attempts > 1:
        notes.insert(0, f"⚠️ passed on attempt {verdict.evidence.attempts}")
    tier = load_kernel(verdict.kernel).tier
    if verdict.passed and verdict.precision and not in_tier(verdict.precision.mean_rel_L1, tier):
        notes.append(f"mean above the tier {scientific(str(tier))}")
    if verdict.precision and not verdict.passed:
        notes.insert(0, f"{verdict.precision.mismatches} of {verdict.precision.elements} wrong")
    return notes


def _diagnosis_table(report: ReportInput, rows: Sequence[PlannedCase]) -> str:
    return _table(
        [
            {
                "case": f"`{row.case}`",
                "kernel": load_kernel(row.kernel).title,
                "call sites": f"{row.phase} {', '.join(row.call_sites)}",
                "status": _diagnosis_status(report.verdicts.get(row.case)),
                "tiles": _tiles(report.verdicts.get(row.case)),
                "tile config": _tile_config(report.verdicts.get(row.case)),
                "note": "; ".join(_notes(report.verdicts.get(row.case))),
            }
            for row in rows
        ]
    )


def _diagnosis_status(verdict: Verdict | None) -> str:
    return f"{OPEN} no signal" if verdict is None else _status(verdict)


def gates_section(report: ReportInput) -> str:
    """The four gates, ticked for all cases and for the harness cases; then why cases do not hold them."""
    table = _table(
        [
            {
                "gate": str(gate.gate),
                "asks that": gate.name,
                "all cases": YES if gate.passed else f"{NO} {len(gate.failures)} of {len(report.plan)} fail",
                "harness cases": YES if gate.passed_harness else NO,
            }
            for gate in report.outcome.gates
        ]
    )
    failed = {row.case for row in report.plan if row.source == "harness" and not _passed(report, row)}
    reasons = [_gate_reasons(gate, failed) for gate in report.outcome.gates if gate.failures]
    return "\n\n".join(filter(None, ("## Gates", table, "\n".join(reasons))))


def _gate_reasons(gate: Gate, failed: Container[str]) -> str:
    """One line on a gate. What another section or gate says already is counted, the rest named."""
    by_reason: dict[str, list[str]] = {}
    for failure in gate.failures:
        reason = _IN_BLOCKERS if failure.case in failed else failure.reason
        by_reason.setdefault(reason, []).append(f"`{failure.case}`")
    texts = [
        f"{len(cases)} {reason}"
        if reason in (_IN_BLOCKERS, NO_SIGNAL)
        else f"{', '.join(cases)}: {_prose(reason)}"
        for reason, cases in by_reason.items()
    ]
    return f"- Gate {gate.gate}: {'; '.join(texts)}"


def _passed(report: ReportInput, row: PlannedCase) -> bool:
    verdict = report.verdicts.get(row.case)
    return verdict is not None and verdict.passed


def blockers_section(report: ReportInput) -> str:
    """The cases that did not pass, with reason and attempts; not those nobody could judge yet."""
    lines = []
    for row in report.plan:
        verdict = report.verdicts.get(row.case)
        if verdict is None and row.source == "harness":
            lines.append(f"- `{row.case}`: no verdict")
        elif verdict is not None and not verdict.passed:
            tried = _attempts_text(verdict.evidence.attempts)
            lines.append(f"- `{row.case}`: **{verdict.status}** ({tried}): {_prose(verdict.reason)}")
    return "## Active blockers\n\n" + ("\n".join(lines) or "None.")


def _attempts_text(attempts: int) -> str:
    return {0: "never ran", 1: "1 attempt"}.get(attempts, f"{attempts} attempts")


def evidence_section(report: ReportInput) -> str:
    """Toolchain and device, then for each case when it ran and which ELF."""
    verdicts = [report.verdicts[row.case] for row in report.plan if row.case in report.verdicts]
    if not verdicts:
        return "## Evidence\n\nNone."
    facts = [
        f"- {name}: {_prose(', '.join(sorted(values))) or ABSENT}"
        for name, values in (
            ("Device", {verdict.evidence.device for verdict in verdicts if verdict.evidence.device}),
            ("Toolchain", {verdict.evidence.toolchain for verdict in verdicts if verdict.evidence.toolchain}),
        )
    ]
    return "\n\n".join(("## Evidence", "\n".join(facts), _table([_evidence_row(each) for each in verdicts])))


def _evidence_row(verdict: Verdict) -> dict[str, str]:
    evidence, precision = verdict.evidence, verdict.precision
    return {
        "case": f"`{verdict.case}`",
        "herd": "x".join(map(str, verdict.herd or ())) or ABSENT,
        "started (UTC)": (evidence.started or ABSENT).replace("T", _SPACE).removesuffix("Z"),
        "seconds": ABSENT if evidence.seconds is None else f"{evidence.seconds:.1f}",
        "attempts": str(evidence.attempts),
        "rel_err max": measured_scientific(precision.rel_err_max if precision else None),
        "abs_err max": measured_scientific(precision.abs_err_max if precision else None),
        "ELF": f"`{evidence.elf_sha256[:_HASH_DIGITS]}`" if evidence.elf_sha256 else ABSENT,
    }


def _table(rows: Sequence[Mapping[str, str]]) -> str:
    """A pipe table of texts, figures to the right; a pipe inside a cell is escaped, lest it end the cell."""
    frame = pd.DataFrame(rows).map(lambda cell: cell.replace("|", r"\|"))
    align = ["right" if name in _FIGURES else "left" for name in frame.columns]
    return frame.to_markdown(index=False, tablefmt="pipe", disable_numparse=True, colalign=align)


def _prose(text: str) -> str:
    """A reason as Markdown text: what a compiler prints must not become markup."""
    return re.sub(r"([\\`*<\[]|(?<!\w)_|_(?!\w))", r"\\\1", text)
