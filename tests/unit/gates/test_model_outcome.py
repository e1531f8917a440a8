"""Evidence decides whether Phase 2 may start."""

from pathlib import Path

from scripts.gates.four_gates import CaseEvidence, Gate
from scripts.gates.model_outcome import model_outcome, read_outcome
from scripts.models.plan import PlannedCase
from tests.unit.judged import passing_verdict

CASES = ("gemm_512x512x512", "rope_512x64")
ALL_HOLD = tuple(Gate(number, "a name", True, True, ()) for number in (1, 2, 3, 4))


def evidence(*targets: str) -> list[CaseEvidence]:
    planned = [PlannedCase(*case.rsplit("_", 1), case, "prefill", ("x",), "harness") for case in CASES]
    verdicts = [passing_verdict(case, target=target) for case, target in zip(CASES, targets, strict=True)]
    return [CaseEvidence(row, verdict, None) for row, verdict in zip(planned, verdicts, strict=True)]


def test_hardware_evidence_for_everything_unblocks_phase_2() -> None:
    outcome = model_outcome("m", evidence("npu2", "npu2"), ALL_HOLD)
    assert outcome.evidence == "hardware" and outcome.phase2.unblocked
    assert outcome.first_line == (
        "2 of 2 harness cases PASS on NPU2 (hardware evidence). Phase 2 is unblocked: all four gates hold."
    )


def test_one_simulated_case_keeps_it_blocked() -> None:
    outcome = model_outcome("m", evidence("npu2", "host"), ALL_HOLD)
    assert outcome.evidence == "mixed" and not outcome.phase2.unblocked
    assert outcome.phase2.blocked_by == ("the same cases must pass on NPU2",)
    assert "mixed evidence" in outcome.first_line


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    outcome = model_outcome("m", evidence("host", "host"), ALL_HOLD)
    path = tmp_path / "m.gates.json"
    path.write_text(outcome.as_json())
    assert read_outcome(path).as_json() == outcome.as_json()
