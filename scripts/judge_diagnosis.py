"""Judge a case whose kernel has no harness, by the diagnosis of the models that call it.

It passes when no layer of a phase in which it runs falls off a cliff. Cosine never judges a kernel that has
a harness.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts.atomic import write_text
from scripts.cases.case import Case, parse_case
from scripts.cases.kernel_facts import load_kernel
from scripts.diagnosis.document import Diagnosis, read_diagnosis
from scripts.errors import InputError, exit_status
from scripts.precision.build_record import BuildRecord, read_build
from scripts.precision.verdict import Evidence, Status, Verdict


def judge(case: Case, build: BuildRecord, diagnoses: Sequence[Diagnosis], used_by: Sequence[str]) -> Verdict:
    """The verdict: the worst of what each diagnosis says of the case. Needs at least one diagnosis."""
    status, reason, decisive = max(
        ((*_outcome(case, each), each) for each in diagnoses), key=lambda found: _SEVERITY[found[0]]
    )
    return Verdict(
        case=case.name,
        kernel=case.kernel,
        shape=case.shape,
        status=status,
        reason=reason,
        precision=None,
        perf=None,
        method=build.method,
        tile=dict(build.tile),
        herd=build.herd,
        tiles_used=build.tiles_used,
        tiles_target=build.tiles_target,
        note=build.note,
        used_by=tuple(used_by),
        evidence=_evidence(build, decisive),
    )


_SEVERITY = {
    Status.PASS: 0,
    Status.NUMERIC: 1,
    Status.TIMEOUT: 2,
    Status.RUNTIME: 3,
    Status.NOT_RUN: 4,
}


def _outcome(case: Case, diagnosis: Diagnosis) -> tuple[Status, str]:
    """What one diagnosis says of the case, and why."""
    if diagnosis.status != "OK":
        return Status(diagnosis.status), f"{diagnosis.model}: diagnosis: {diagnosis.reason}"
    phases = [phase for phase, cases in diagnosis.exercised.items() if case.name in cases]
    if not phases:
        ran = " and ".join(diagnosis.exercised) or "nothing"
        return Status.NOT_RUN, f"{diagnosis.model}: the diagnosis ran no {case.name}; it covers the {ran}"
    cliffs = diagnosis.cliffs()
    for cliff in filter(None, (cliffs.get(phase) for phase in phases)):
        kernels = ", ".join(diagnosis.exercised[cliff.phase])
        return Status.NUMERIC, f"{diagnosis.model}: cliff at {cliff.text()}; kernels there: {kernels}"
    judged = [record for record in diagnosis.records if record.phase in phases]
    if not judged:
        return Status.NOT_RUN, f"{diagnosis.model}: the diagnosis compared no layer in {' or '.join(phases)}"
    lowest = min(judged, key=lambda record: record.whole_cosine)
    layers = len({record.layer for record in judged})
    return Status.PASS, (
        f"{diagnosis.model}: no cliff over {layers} layers; lowest ffn_out cosine {lowest.whole_cosine:.6f}"
        f" ({lowest.phase} layer {lowest.layer}), against {diagnosis.reference}"
    )


def _evidence(build: BuildRecord, diagnosis: Diagnosis) -> Evidence:
    return Evidence(
        kind=diagnosis.kind,
        target=diagnosis.target,
        source="diagnosis",
        command=diagnosis.command,
        elf_sha256=build.elf_sha256,
        toolchain=build.toolchain,
        device=diagnosis.device,
        started=diagnosis.started,
        seconds=diagnosis.seconds,
        attempts=0 if diagnosis.status == "NOT_RUN" else 1,
    )


def checked_case(name: str) -> Case:
    """The case. Raises InputError when its kernel has a harness, which alone judges it."""
    case = parse_case(name)
    if load_kernel(case.kernel).signal != "diagnosis":
        raise InputError(f"{name}: {case.kernel} has a harness, which alone judges it: scripts.judge_verdict")
    return case


def main() -> None:
    """Command line of the step."""
    parser = argparse.ArgumentParser(prog="python -m scripts.judge_diagnosis", description=__doc__)
    parser.add_argument("case", metavar="CASE", help="<kernel>_<shape>, e.g. gemv_add_2048x2048")
    parser.add_argument("--build", type=Path, required=True, help="results/build/<case>/build.json")
    parser.add_argument(
        "--diagnoses", type=Path, nargs="+", required=True, help="results/<model>.diagnosis.json"
    )
    parser.add_argument("--used-by", nargs="+", default=[], metavar="TEXT", help="call sites of the case")
    parser.add_argument("--output", type=Path, required=True, help="results/<case>.verdict")
    options = parser.parse_args()
    case = checked_case(options.case)
    diagnoses = [read_diagnosis(path) for path in options.diagnoses]
    verdict = judge(case, read_build(options.build), diagnoses, options.used_by)
    write_text(options.output, verdict.as_json())
    print(f"{verdict.case}: {verdict.status}: {verdict.reason}")


if __name__ == "__main__":
    sys.exit(exit_status(main))
