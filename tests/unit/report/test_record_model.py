"""The record of a model: results, progress, open points."""

import subprocess
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.errors import InputError
from scripts.gates.four_gates import CaseEvidence, evaluate
from scripts.gates.model_outcome import ModelOutcome, model_outcome
from scripts.models.plan import PlannedCase
from scripts.record_model import record, todo_section, with_progress, with_section
from tests.unit.judged import passing_verdict

ROOT = Path(__file__).resolve().parents[3]
CONFIG = ROOT / "config" / "models" / "qwen3-0.6b.json"
MODEL = "qwen3-0.6b"
CASES = ("gemm_2048x2048x2048", "rmsnorm_1x2048")
DAY = "2026-12-01"


def outcome_of(*passed: str) -> ModelOutcome:
    rows = [PlannedCase(c.split("_")[0], c.split("_")[1], c, "prefill", ("x",), "harness") for c in CASES]
    cases = [CaseEvidence(r, passing_verdict(r.case) if r.case in passed else None, None) for r in rows]
    return model_outcome(MODEL, cases, evaluate(cases, MODEL))


@pytest.fixture
def options(tmp_path: Path) -> Namespace:
    gates, report = tmp_path / "gates.json", tmp_path / "report.md"
    gates.write_text(outcome_of(CASES[0]).as_json())
    report.write_text("**1 of 2**\n")
    return Namespace(config=CONFIG, gates=gates, report=report, folder=tmp_path / "docs")


def test_three_files_hold_results_progress_and_what_is_open(options: Namespace) -> None:
    record(options, DAY)
    assert (options.folder / "phase1_kernels.md").read_text() == "**1 of 2**\n"
    assert (options.folder / "progress.md").read_text() == (
        f"# Progress of {MODEL}\n\n- {DAY}: {outcome_of(CASES[0]).first_line}\n"
    )
    todo = (options.folder / "TODO.md").read_text()
    assert "- [ ] Phase 1: kernel validation (1/2 kernels PASSED), simulated evidence" in todo
    assert "- [ ] QK-norm: an RMSNorm of Q and of K over 128 elements a head" in todo
    assert f"`{CASES[1]}` (gate 1): no verdict" in todo


def test_a_second_run_adds_a_line_and_keeps_what_people_wrote(options: Namespace) -> None:
    record(options, DAY)
    todo = options.folder / "TODO.md"
    todo.write_text("# Mine\n\nfirst\n" + todo.read_text() + "\nlast\n")
    options.gates.write_text(outcome_of(*CASES).as_json())
    record(options, "2026-12-02")
    lines = (options.folder / "progress.md").read_text().splitlines()
    assert [line[:12] for line in lines[2:]] == [f"- {DAY}", "- 2026-12-02"]
    text = todo.read_text()
    assert text.startswith("# Mine\n\nfirst\n") and text.endswith("\nlast\n")
    assert "(2/2 kernels PASSED)" in text and "(1/2 kernels" not in text and text.count("## Phases") == 1


def test_a_run_that_says_the_same_on_the_same_day_adds_no_line(options: Namespace) -> None:
    record(options, DAY)
    before = (options.folder / "progress.md").read_text()
    record(options, DAY)
    assert (options.folder / "progress.md").read_text() == before


def test_what_a_person_has_ticked_stays_ticked(options: Namespace) -> None:
    record(options, DAY)
    todo = options.folder / "TODO.md"
    todo.write_text(todo.read_text().replace("- [ ] QK-norm", "- [x] QK-norm"))
    record(options, "2026-12-02")
    assert "- [x] QK-norm" in todo.read_text() and "- [ ] tied embeddings" in todo.read_text()


def test_a_file_of_somebody_else_gets_the_part_at_its_end() -> None:
    assert with_section("# Theirs\n", MODEL, "x").startswith("# Theirs\n\n<!-- phase 1: begin -->\nx\n")
    assert with_progress("no newline", MODEL, "- a\n") == "no newline\n- a\n"


def test_phase_2_is_open_only_when_every_gate_holds_on_the_device() -> None:
    outcome = outcome_of(*CASES)
    held = tuple(replace(gate, passed=True, failures=()) for gate in outcome.gates)
    simulated = replace(outcome, gates=held)
    assert "- [ ] Phase 1" in todo_section(simulated, ())
    unblocked = replace(outcome.phase2, unblocked=True, blocked_by=())
    sound = replace(simulated, evidence="hardware", phase2=unblocked)
    section = todo_section(sound, ())
    assert "- [x] Phase 1" in section and "blocked" not in section.split("## Active blockers")[0]
    assert section.endswith("## Active blockers\nNone.")


def test_half_a_mark_is_refused_and_nothing_changes(options: Namespace) -> None:
    record(options, DAY)
    todo = options.folder / "TODO.md"
    todo.write_text(todo.read_text().replace("<!-- phase 1: end -->", ""))
    before = {path.name: path.read_bytes() for path in options.folder.iterdir()}
    with pytest.raises(InputError, match=r"TODO.md: <!-- phase 1: begin --> has no"):
        record(options, "2026-12-02")
    assert {path.name: path.read_bytes() for path in options.folder.iterdir()} == before


def test_the_command_line_refuses_another_model_in_one_line(options: Namespace, tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "scripts.record_model", "config/models/llama-3.2-1b.json"),
        *("--gates", str(options.gates), "--report", str(options.report)),
        *("--folder", str(options.folder), "--receipt", str(tmp_path / "receipt")),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "field model is 'qwen3-0.6b'; allowed: 'llama-3.2-1b'" in done.stderr
    assert not options.folder.exists()
