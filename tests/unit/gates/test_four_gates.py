"""What each gate asks of a case."""

from dataclasses import replace

import pytest

from scripts.gates.four_gates import (
    NO_SIGNAL,
    CaseEvidence,
    evaluate,
    numbers_wrong,
    row_missing,
    signal_missing,
    tiles_undocumented,
)
from scripts.models.plan import PlannedCase
from scripts.precision.verdict import Status, Verdict
from tests.unit.judged import failing_verdict, passing_verdict

GEMM = "gemm_512x512x512"
MODEL = "toy-1b"


def evidence(verdict: Verdict | None, source: str = "harness", receipt: dict | None = None) -> CaseEvidence:
    kernel, shape = GEMM.rsplit("_", 1)
    return CaseEvidence(PlannedCase(kernel, shape, GEMM, "prefill", ("Q proj",), source), verdict, receipt)


def unmeasured(status: Status) -> Verdict:
    return replace(passing_verdict(GEMM), status=status, precision=None, reason="what happened")


def test_a_pass_holds_the_first_three() -> None:
    each = evidence(passing_verdict(GEMM))
    assert [ask(each, MODEL) for ask in (signal_missing, numbers_wrong, tiles_undocumented)] == [None] * 3


def test_wrong_numbers_are_a_signal_but_not_right() -> None:
    each = evidence(failing_verdict(GEMM))
    assert signal_missing(each, MODEL) is None
    assert numbers_wrong(each, MODEL).startswith("NUMERIC: 1 of 262144 elements")
    assert row_missing(each, MODEL) == "no row: NUMERIC"


@pytest.mark.parametrize("status", ["COMPILE_WALL", "RUNTIME", "TIMEOUT", "NOT_RUN", "BAD_LOG"])
def test_a_case_without_numbers_has_no_signal(status: str) -> None:
    each = evidence(unmeasured(Status(status)))
    assert signal_missing(each, MODEL) == f"{status}: what happened"
    assert numbers_wrong(each, MODEL) == row_missing(each, MODEL) == NO_SIGNAL


def test_a_case_nobody_judged_holds_no_gate() -> None:
    assert signal_missing(evidence(None), MODEL) == "no verdict"
    assert "no diagnosis" in signal_missing(evidence(None, "diagnosis"), MODEL)
    for source in ("harness", "diagnosis"):
        gates = evaluate([evidence(None, source)], MODEL)
        assert [gate.passed for gate in gates] == [False] * 4


def test_cosine_never_gates_a_kernel_that_has_a_harness() -> None:
    verdict = passing_verdict(GEMM)
    diagnosed = replace(verdict, precision=None, evidence=replace(verdict.evidence, source="diagnosis"))
    assert "judged by its harness" in signal_missing(evidence(diagnosed), MODEL)
    assert numbers_wrong(evidence(diagnosed), MODEL) == NO_SIGNAL
    assert signal_missing(evidence(diagnosed, "diagnosis"), MODEL) is None
    assert numbers_wrong(evidence(diagnosed, "diagnosis"), MODEL) is None


@pytest.mark.parametrize(
    ("used", "note", "answer"),
    [
        (32, None, None),
        (31, "16 rows divide among fewer tiles", None),
        (31, None, "31 of 32 tiles, without a written reason"),
        (31, "  ", "31 of 32 tiles, without a written reason"),
        (None, "a reason", "no record of the tiles used"),
        (0, "a reason", "no record of the tiles used"),
    ],
)
def test_tiles_below_the_target_need_a_written_reason(used, note, answer) -> None:
    verdict = replace(passing_verdict(GEMM), tiles_used=used, note=note)
    assert tiles_undocumented(evidence(verdict), MODEL) == answer


def test_a_gate_without_cases_does_not_pass() -> None:
    """All of nothing holds, and proves nothing."""
    assert [(gate.passed, gate.passed_harness) for gate in evaluate([], MODEL)] == [(False, False)] * 4
    only_fused = evaluate([evidence(None, "diagnosis")], MODEL)
    assert [gate.passed_harness for gate in only_fused] == [False] * 4
