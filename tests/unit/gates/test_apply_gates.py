"""The step: always writes, never fails; enforcing exits with 1 unless every gate in scope holds."""

import pytest

from tests.unit.gates.conftest import FUSED, GEMM, MODEL, ROPE, Run, planned
from tests.unit.judged import failing_verdict, passing_verdict


def test_all_pass_on_the_host_model_but_phase_2_stays_blocked(run: Run) -> None:
    run.add(GEMM), run.add(ROPE)
    finished = run.apply()
    assert finished.returncode == 0, finished.stderr
    outcome = run.outcome()
    assert list(outcome) == ["model", "evidence", "gates", "cases", "phase2", "first_line"]
    assert [(gate["gate"], gate["passed"], gate["failures"]) for gate in outcome["gates"]] == [
        (number, True, []) for number in (1, 2, 3, 4)
    ]
    assert outcome["evidence"] == "simulated"
    assert outcome["phase2"] == {"unblocked": False, "blocked_by": ["the same cases must pass on NPU2"]}
    assert outcome["first_line"] == (
        "2 of 2 harness cases PASS on the host model (simulated evidence). "
        "Phase 2 stays blocked: the same cases must pass on NPU2."
    )
    enforced = run.enforce()
    assert enforced.returncode == 0 and enforced.stdout.count("\n") == 1
    assert str(run.folder / f"{MODEL}.phase1_kernels.md") in enforced.stdout


def test_a_kernel_without_a_signal_is_named_and_blocks(run: Run) -> None:
    run.write_plan([planned(GEMM), planned(FUSED, "diagnosis")])
    run.add(GEMM)
    assert run.apply().returncode == 0
    outcome = run.outcome()
    assert [gate["passed"] for gate in outcome["gates"]] == [False] * 4
    assert [gate["passed_harness"] for gate in outcome["gates"]] == [True] * 4
    assert [failure["case"] for failure in outcome["gates"][0]["failures"]] == [FUSED]
    assert outcome["phase2"]["blocked_by"][0] == f"1 kernel without a signal ({FUSED})"
    assert run.enforce("all").returncode == 1
    narrowed = run.enforce("harness")
    assert narrowed.returncode == 0
    assert "Not enforced (scope: harness): 1 cases without a harness." in narrowed.stdout


def test_a_failed_case_fails_in_every_scope_and_is_counted_once(run: Run) -> None:
    run.add(GEMM), run.add(ROPE, failing_verdict(ROPE))
    assert run.apply().returncode == 0
    outcome = run.outcome()
    assert [gate["passed_harness"] for gate in outcome["gates"]] == [True, False, True, False]
    assert outcome["phase2"]["blocked_by"] == [
        f"1 failed case ({ROPE})",
        "the same cases must pass on NPU2",
    ]
    assert [(case["case"], case["status"], case["attempts"]) for case in outcome["cases"]] == [
        (GEMM, "PASS", 1),
        (ROPE, "NUMERIC", 1),
    ]
    for scope in ("all", "harness"):
        enforced = run.enforce(scope)
        assert enforced.returncode == 1 and enforced.stdout == ""
        lines = enforced.stderr.splitlines()
        assert lines[0].startswith(f"{MODEL}: 2 of 4 gates do not hold. 1 of 2 harness cases PASS")
        assert [line for line in lines if line.startswith("  gate")] == [
            f"  gate 2 (the numbers are right): {ROPE}",
            f"  gate 4 (the registry holds a row): {ROPE}",
        ]
        assert lines[-1].endswith(f"{MODEL}.phase1_kernels.md")


def test_a_gate_only_a_passing_case_fails_is_a_reason_of_its_own(run: Run) -> None:
    run.add(GEMM), run.add(ROPE, passing_verdict(ROPE, used_by=("another-7b prefill RoPE-Q",)))
    run.apply()
    outcome = run.outcome()
    assert "2 of 2 harness cases PASS" in outcome["first_line"]
    assert outcome["phase2"]["blocked_by"][0] == f"1 case fails gate 4 ({ROPE})"
    assert run.enforce("harness").returncode == 1


def test_a_case_nobody_judged_is_not_forgotten(run: Run) -> None:
    run.add(GEMM)
    run.apply()
    outcome = run.outcome()
    assert "1 of 2 harness cases PASS" in outcome["first_line"]
    assert outcome["gates"][0]["failures"] == [{"case": ROPE, "reason": "no verdict"}]
    assert outcome["cases"][1]["status"] is None
    assert run.enforce("harness").returncode == 1


def test_no_verdict_at_all_is_no_evidence(run: Run) -> None:
    run.apply()
    assert run.outcome()["evidence"] == "none"
    assert run.outcome()["first_line"].startswith("0 of 2 harness cases PASS (no evidence).")


def test_many_failed_cases_are_counted_not_all_named(run: Run) -> None:
    cases = [f"gemm_512x512x{n}" for n in (512, 1024, 1536, 2048, 2560)]
    run.write_plan([planned(case) for case in cases])
    run.apply()
    assert f"5 failed cases ({', '.join(cases[:3])} and 2 more)" in run.outcome()["first_line"]


def refused(run: Run, words: str) -> None:
    finished = run.apply()
    assert finished.returncode == 2 and not run.gates.exists()
    assert finished.stderr.startswith("error: ") and finished.stderr.count("\n") == 1
    assert words in finished.stderr


def test_an_empty_plan_proves_nothing_and_is_refused(run: Run) -> None:
    run.write_plan([])
    refused(run, "no cases")


def test_a_case_planned_twice_is_refused(run: Run) -> None:
    run.write_plan([planned(GEMM), planned(GEMM)])
    refused(run, "listed twice")


def test_an_unknown_source_is_refused(run: Run) -> None:
    run.write_plan([planned(GEMM, "hearsay")])
    refused(run, "source of gemm_512x512x512 is 'hearsay'; allowed: harness, diagnosis")


def test_a_verdict_of_another_plan_is_refused(run: Run) -> None:
    run.add("gemm_512x512x1024")
    refused(run, "not a case of the plan")


def test_a_verdict_given_twice_is_refused(run: Run) -> None:
    run.add(GEMM)
    run.verdicts.append(run.verdicts[0])
    refused(run, "given twice")


@pytest.mark.parametrize("text", ["{", "{}", '{"gates": []}'])
def test_enforcing_a_damaged_record_is_refused(run: Run, text: str) -> None:
    run.gates.write_text(text)
    finished = run.enforce()
    assert finished.returncode == 2 and finished.stderr.count("\n") == 1
    assert str(run.gates) in finished.stderr


def test_enforcing_nothing_is_refused(run: Run) -> None:
    assert run.enforce().returncode == 2
    assert run.command("--enforce").returncode == 2
    assert run.command(MODEL).returncode == 2


def test_one_model_that_fails_fails_the_command(run: Run) -> None:
    run.add(GEMM), run.add(ROPE)
    run.apply()
    good = run.gates.rename(run.folder / "good.gates.json")
    run.verdicts.pop(), run.receipts.pop()
    run.apply()
    finished = run.command("--enforce", str(run.gates), str(good))
    assert finished.returncode == 1
    assert finished.stdout.count("\n") == 1 and "good.phase1_kernels.md" in finished.stdout
    assert "gate 1" in finished.stderr
