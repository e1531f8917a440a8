"""Write the Phase 1 report of a model: what passed, next to what was published, and what blocks Phase 2."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts.atomic import write_text
from scripts.diagnosis.document import Diagnosis, read_diagnosis
from scripts.errors import InputError, exit_status
from scripts.gates.model_outcome import ModelOutcome, read_outcome
from scripts.limits.table import read_table
from scripts.models.plan import read_plan
from scripts.precision.verdict import Verdict, read_verdict
from scripts.registry.store import load_rows
from scripts.report.layers import layers_section
from scripts.report.preflight import preflight_section
from scripts.report.registry_diff import registry_section
from scripts.report.sections import (
    ReportInput,
    blockers_section,
    case_sections,
    evidence_section,
    gates_section,
)

_LEGEND = (
    "mean_rel_L1 is this run's mean\\|actual - reference\\| / mean\\|reference\\|; *published* is what was "
    "measured on NPU2 before; *tiles* are used / target. PASS: every element is within "
    "atol + rtol * \\|reference\\|."
)


def render(report: ReportInput) -> str:
    """The report as Markdown. Its first line: the outcome, the kind of evidence, what blocks Phase 2."""
    title = f"# Phase 1 kernels of {report.outcome.model}"
    sections = [
        f"**{report.outcome.first_line}**",
        title,
        *case_sections(report),
        _LEGEND,
        layers_section(report.diagnosis),
        gates_section(report),
        blockers_section(report),
        preflight_section(report.limits),
        registry_section(report.plan, report.registry, report.working_copy),
        evidence_section(report),
    ]
    return "\n\n".join(filter(None, sections)) + "\n"


def check_model(outcome: ModelOutcome, verdicts: Sequence[Verdict], options: argparse.Namespace) -> None:
    """Raise InputError unless gates, plan and verdicts are about the same cases of the same model."""
    if outcome.model != options.model:
        raise InputError(f"{options.gates}: field model is {outcome.model!r}; allowed: {options.model!r}")
    planned = {row.case for row in read_plan(options.plan)}
    if {case["case"] for case in outcome.cases} != planned:
        raise InputError(f"{options.gates}: its cases are not those of {options.plan}; apply the gates again")
    for verdict in verdicts:
        if verdict.case not in planned:
            raise InputError(f"verdict of {verdict.case}: not a case of {options.plan}")


def gather(options: argparse.Namespace) -> ReportInput:
    """Read everything the report is made of. Raises InputError when the parts do not belong together."""
    plan, outcome = read_plan(options.plan), read_outcome(options.gates)
    verdicts = [read_verdict(path) for path in options.verdicts]
    check_model(outcome, verdicts, options)
    kernels = dict.fromkeys(row.kernel for row in plan)
    return ReportInput(
        outcome=outcome,
        plan=plan,
        verdicts={verdict.case: verdict for verdict in verdicts},
        registry={kernel: load_rows(options.registry, kernel) for kernel in kernels},
        limits=read_table(options.walls),
        diagnosis=_diagnosis(options),
        working_copy={kernel: load_rows(options.working_copy, kernel) for kernel in kernels},
    )


def _diagnosis(options: argparse.Namespace) -> Diagnosis | None:
    """The model's diagnosis, if it has one. Raises InputError when it is of another model."""
    if options.diagnosis is None:
        return None
    diagnosis = read_diagnosis(options.diagnosis)
    if diagnosis.model != options.model:
        raise InputError(
            f"{options.diagnosis}: field model is {diagnosis.model!r}; allowed: {options.model!r}"
        )
    return diagnosis


def main() -> None:
    """Command line of the step."""
    parser = argparse.ArgumentParser(prog="python -m scripts.write_report", description=__doc__)
    parser.add_argument("model", metavar="MODEL", help="the model's name, e.g. llama-3.2-1b")
    parser.add_argument("--gates", type=Path, required=True, help="results/<model>.gates.json")
    parser.add_argument("--plan", type=Path, required=True, help="results/plan/<model>.tsv")
    parser.add_argument("--walls", type=Path, required=True, help="results/plan/<model>.walls.tsv")
    parser.add_argument(
        "--diagnosis", type=Path, nargs="?", help="results/<model>.diagnosis.json, if it has one"
    )
    parser.add_argument("--verdicts", type=Path, nargs="*", default=[], metavar="FILE", help="<case>.verdict")
    parser.add_argument("--registry", type=Path, required=True, help="folder with the published rows")
    parser.add_argument(
        "--working-copy", type=Path, required=True, help="folder that the run's rows were appended to"
    )
    parser.add_argument("--output", type=Path, required=True, help="results/<model>.phase1_kernels.md")
    options = parser.parse_args()
    report = gather(options)
    write_text(options.output, render(report))
    print(f"{options.output}: {report.outcome.first_line}")


if __name__ == "__main__":
    sys.exit(exit_status(main))
