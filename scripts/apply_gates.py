"""Apply the four gates to all cases of a model, or enforce what they said.

Applying always writes results/<model>.gates.json and exits 0: a failure is data. With --enforce the exit
status is 1 unless every gate in scope passed.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scripts.atomic import write_text
from scripts.errors import InputError, exit_status
from scripts.gates.four_gates import CaseEvidence, Gate, evaluate
from scripts.gates.model_outcome import ModelOutcome, model_outcome, named_cases, read_outcome
from scripts.gates.registry_proof import read_receipt
from scripts.models.plan import PlannedCase, read_plan
from scripts.precision.verdict import Verdict, read_verdict

SCOPES = ("all", "harness")
SOURCES = ("harness", "diagnosis")


def check_plan(plan: Sequence[PlannedCase], path: Path) -> None:
    """Raise InputError for a plan the gates can say nothing about: empty, or with a case listed twice."""
    if not plan:
        raise InputError(f"{path}: no cases; a plan holds at least one")
    if len({row.case for row in plan}) != len(plan):
        raise InputError(f"{path}: a case is listed twice; one row per case is allowed")
    for row in plan:
        if row.source not in SOURCES:
            raise InputError(f"{path}: source of {row.case} is {row.source!r}; allowed: {', '.join(SOURCES)}")


def gather(
    plan: Sequence[PlannedCase], verdicts: Sequence[Verdict], receipts: Sequence[dict[str, Any]]
) -> tuple[CaseEvidence, ...]:
    """Each planned case with its verdict and receipt, in the plan's order.

    Raises InputError for a verdict or receipt that is given twice or is of a case not in the plan.
    """
    planned = [row.case for row in plan]
    by_verdict = _by_case([(verdict.case, verdict) for verdict in verdicts], planned, "verdict")
    by_receipt = _by_case([(receipt["case"], receipt) for receipt in receipts], planned, "receipt")
    return tuple(CaseEvidence(row, by_verdict.get(row.case), by_receipt.get(row.case)) for row in plan)


def _by_case(items: Sequence[tuple[str, Any]], planned: Sequence[str], kind: str) -> dict[str, Any]:
    by_case: dict[str, Any] = {}
    for case, item in items:
        if case not in planned:
            raise InputError(f"{kind} of {case}: not a case of the plan")
        if case in by_case:
            raise InputError(f"{kind} of {case}: given twice; one for each case is allowed")
        by_case[case] = item
    return by_case


def holds(gate: Gate, scope: str) -> bool:
    """Whether the gate passed for all cases, or for those with a harness only."""
    return gate.passed if scope == "all" else gate.passed_harness


def enforcement_lines(outcome: ModelOutcome, scope: str, report: Path) -> tuple[list[str], bool]:
    """What to print about a model, and whether its gates hold: one line each for outcome, gate, report."""
    broken = [gate for gate in outcome.gates if not holds(gate, scope)]
    if not broken:
        return [f"{outcome.model}: {outcome.first_line}{_scope_text(outcome, scope)} Report: {report}"], True
    lines = [f"{outcome.model}: {len(broken)} of 4 gates do not hold. {outcome.first_line}"]
    lines += [f"  gate {gate.gate} ({gate.name}): {_failing_text(gate, outcome, scope)}" for gate in broken]
    return [*lines, f"  reasons, case by case: {report}"], False


def _scope_text(outcome: ModelOutcome, scope: str) -> str:
    """Says what a narrower scope leaves out, so that it is never silent."""
    left_out = [case for case in outcome.cases if case["source"] != "harness"]
    if scope == "all" or not left_out:
        return ""
    return f" Not enforced (scope: harness): {len(left_out)} cases without a harness."


def _failing_text(gate: Gate, outcome: ModelOutcome, scope: str) -> str:
    sources = {case["case"]: case["source"] for case in outcome.cases}
    cases = [each.case for each in gate.failures if scope == "all" or sources[each.case] == "harness"]
    return named_cases(cases) if cases else "no case in scope"


def report_path(gates: Path) -> Path:
    """The report that stands beside results/<model>.gates.json."""
    return gates.with_name(gates.name.removesuffix(".gates.json") + ".phase1_kernels.md")


def enforce(paths: Sequence[Path], scope: str) -> None:
    """Print what the gates said of each model; exit status 1 unless all hold."""
    held = True
    for path in paths:
        lines, model_held = enforcement_lines(read_outcome(path), scope, report_path(path))
        print("\n".join(lines), file=sys.stdout if model_held else sys.stderr)
        held = held and model_held
    if not held:
        sys.exit(1)


def apply(model: str, options: argparse.Namespace) -> None:
    """Apply the gates to `model` and write what they say."""
    verdicts = [read_verdict(path) for path in options.verdicts]
    receipts = [read_receipt(path) for path in options.receipts]
    plan = read_plan(options.plan)
    check_plan(plan, options.plan)
    cases = gather(plan, verdicts, receipts)
    outcome = model_outcome(model, cases, evaluate(cases, model))
    write_text(options.output, outcome.as_json())
    print(f"{model}: {outcome.first_line}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.apply_gates", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument(
        "subject", nargs="+", metavar="MODEL|GATES", help="a model; with --enforce, gates.json files"
    )
    parser.add_argument("--plan", type=Path, help="results/plan/<model>.tsv")
    parser.add_argument(
        "--verdicts", type=Path, nargs="*", default=[], metavar="FILE", help="results/<case>.verdict"
    )
    parser.add_argument(
        "--receipts", type=Path, nargs="*", default=[], metavar="FILE", help="results/<case>.row"
    )
    parser.add_argument("--output", type=Path, help="results/<model>.gates.json")
    parser.add_argument("--enforce", action="store_true", help="exit 1 unless every gate in scope passed")
    parser.add_argument("--scope", choices=SCOPES, default="all", help="cases to enforce the gates for")
    options = parser.parse_args()
    if not options.enforce and (options.plan is None or options.output is None or len(options.subject) != 1):
        parser.error("one MODEL, --plan and --output are needed (or --enforce and gates.json files)")
    return options


def main() -> None:
    """Command line of the step."""
    options = _arguments()
    if options.enforce:
        enforce([Path(text) for text in options.subject], options.scope)
    else:
        apply(options.subject[0], options)


if __name__ == "__main__":
    sys.exit(exit_status(main))
