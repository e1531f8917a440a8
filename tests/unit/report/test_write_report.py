"""The report: what a person reads first, and whether the tables say what the verdicts say."""

import subprocess
import sys
from argparse import Namespace
from itertools import pairwise
from pathlib import Path

import pytest

from scripts.cases.case import parse_case
from scripts.errors import InputError
from scripts.gates.four_gates import CaseEvidence, evaluate
from scripts.gates.model_outcome import model_outcome
from scripts.limits.findings import Finding
from scripts.limits.table import table_text
from scripts.models.plan import PlannedCase, plan_text
from scripts.precision.judge import judge
from scripts.precision.verdict import Verdict
from scripts.report.registry_diff import registry_section
from scripts.write_report import gather, render
from tests.unit.judged import build_of, failing_verdict, passing_text, passing_verdict, run_log

ROOT = Path(__file__).resolve().parents[3]
MODEL = "toy-1b"
GEMM, NORM, ROPE, FUSED = "gemm_2048x2048x2048", "rmsnorm_1x2048", "rope_512x64", "gemv_add_2048x2048"
PLAN = [
    PlannedCase("gemm", "2048x2048x2048", GEMM, "prefill", ("Q/O proj",), "harness"),
    PlannedCase("rope", "512x64", ROPE, "prefill+decode", ("RoPE-Q", "RoPE-K"), "harness"),
    PlannedCase("rmsnorm", "1x2048", NORM, "decode", ("RMSNorm",), "harness"),
    PlannedCase("gemv_add", "2048x2048", FUSED, "decode", ("O proj",), "diagnosis"),
]
LIMITS = [
    Finding(GEMM, "L1", "wall", "4 * tile_m", "256", "<= 65536", "ok", "-", "64 KiB of L1 a tile"),
    Finding(
        GEMM, "stride", "hint", "tile_k_l2 * N", "1310720", "<= 1048576", "hint", "tile 64/128", "DMA stride"
    ),
    Finding(ROPE, "padding", "padding", "seq", "241", "-> 256", "padded", "seq 241 padded to 256", "no tile"),
    Finding(NORM, "padding", "padding", "seq", "241", "-> 256", "padded", "seq 241 padded to 256", "no tile"),
    Finding(NORM, "herd fit", "herd", "herd_x", "1", ">= 8", "idle tiles", "M = 1 rows", "tiles in use"),
]


def pass_on_second_try(case: str) -> Verdict:
    log = run_log(case, "hangs", -9, "timeout") + run_log(case, passing_text(case), attempt=2)
    return judge(parse_case(case), build_of(case), log)


def wall(case: str) -> Verdict:
    build = build_of(case, status="COMPILE_ERROR", reason="x.cc:1: error: no <T> in *this_", elf_sha256=None)
    return judge(parse_case(case), build, run_log(case, "", 1, "not_run"))


class Inputs:
    """The files a report is made of, and the report on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, *verdicts: Verdict, model: str = MODEL) -> Namespace:
        """Put the gates, the plan and these verdicts on file; the step's options for them."""
        by_case = {verdict.case: verdict for verdict in verdicts}
        cases = [CaseEvidence(row, by_case.get(row.case), None) for row in PLAN]
        gates, plan = self.folder / "gates.json", self.folder / "plan.tsv"
        gates.write_text(model_outcome(MODEL, cases, evaluate(cases, MODEL)).as_json())
        plan.write_text(plan_text(PLAN))
        files = [self.folder / f"{verdict.case}.verdict" for verdict in verdicts]
        for path, verdict in zip(files, verdicts, strict=True):
            path.write_text(verdict.as_json())
        registry = ROOT / "docs" / "kernel_registry"
        walls = self.folder / "walls.tsv"
        walls.write_text(table_text(LIMITS))
        return Namespace(
            model=model,
            gates=gates,
            plan=plan,
            walls=walls,
            working_copy=registry,
            diagnosis=None,
            verdicts=files,
            registry=registry,
        )

    def __call__(self, *verdicts: Verdict) -> list[str]:
        return render(gather(self.write(*verdicts))).splitlines()


@pytest.fixture
def report(tmp_path: Path) -> Inputs:
    """Call it with verdicts for the lines of the report on them."""
    return Inputs(tmp_path)


def cells(lines: list[str], case: str) -> list[str]:
    """The cells of the first table row about `case`."""
    row = next(line for line in lines if line.startswith(f"| `{case}`"))
    return [cell.strip() for cell in row.strip("|").split("|")]


def section(lines: list[str], title: str) -> list[str]:
    start = lines.index(f"## {title}")
    end = next((i for i in range(start + 1, len(lines)) if lines[i].startswith("## ")), len(lines))
    return lines[start + 1 : end]


def test_the_first_line_says_outcome_evidence_and_what_blocks(report: Inputs) -> None:
    lines = report(passing_verdict(GEMM), passing_verdict(NORM), failing_verdict(ROPE))
    assert lines[0].startswith(
        "**2 of 3 harness cases and 0 of 1 diagnosed cases PASS on the host model (simulated evidence). "
        "Phase 2 stays"
    )
    assert f"1 failed case ({ROPE}); 1 kernel without a signal ({FUSED})" in lines[0]
    assert lines[0].endswith("the same cases must pass on NPU2.**")


def test_a_row_shows_ours_beside_the_published_value_of_the_method(report: Inputs) -> None:
    for method, published in (("fused-cast", "9.7e-3"), ("drain", "9.3e-3")):
        lines = report(passing_verdict(GEMM, "9.713e-03", method=method))
        assert cells(lines, GEMM) == [
            f"`{GEMM}`",
            "Q/O proj",
            "✅\N{NO-BREAK SPACE}PASS",
            "9.713e-3",
            published,
            "32/32",
            f"64/256/32/128 {method}",
            "",
        ]


def test_cases_stand_under_their_phase(report: Inputs) -> None:
    lines = report(passing_verdict(GEMM), passing_verdict(NORM), passing_verdict(ROPE))
    for title, case in (("Prefill", GEMM), ("Prefill and decode", ROPE), ("Decode", NORM)):
        assert [line.split("`")[1] for line in section(lines, title) if line.startswith("| `")] == [case]
    assert "no signal" in cells(section(lines, "Judged by the diagnosis (no harness)"), FUSED)[3]
    assert cells(lines, ROPE)[1] == "RoPE-Q, RoPE-K"


def test_notes_say_what_the_figures_cannot(report: Inputs) -> None:
    lines = report(passing_verdict(NORM), failing_verdict(ROPE), pass_on_second_try(GEMM))
    assert cells(lines, NORM)[-1].startswith("M = 1 rows divide among 1 tile(s), not 8")
    assert cells(lines, ROPE)[-1] == "1 of 32768 wrong"
    assert cells(lines, GEMM)[-1] == "⚠️ passed on attempt 2"


def test_a_pass_above_the_tier_says_so(report: Inputs) -> None:
    assert cells(report(passing_verdict(ROPE, "3.100e-03")), ROPE)[-1] == "mean above the tier 2.8e-3"
    assert cells(report(passing_verdict(ROPE, "2.840e-03")), ROPE)[-1] == ""


def test_every_failed_case_is_an_active_blocker_and_no_other(report: Inputs) -> None:
    lines = report(passing_verdict(GEMM), failing_verdict(ROPE), wall(NORM))
    blockers = [line for line in section(lines, "Active blockers") if line]
    assert len(blockers) == 2
    assert blockers[0].startswith(f"- `{ROPE}`: **NUMERIC** (1 attempt): 1 of 32768 elements outside")
    assert blockers[1] == (
        f"- `{NORM}`: **COMPILE_WALL** (never ran): compile error: x.cc:1: error: no \\<T> in \\*this\\_"
    )


def test_no_failed_case_no_blocker(report: Inputs) -> None:
    lines = report(passing_verdict(GEMM), passing_verdict(NORM), passing_verdict(ROPE))
    assert [line for line in section(lines, "Active blockers") if line] == ["None."]


def test_a_case_nobody_judged_is_shown_and_blocks(report: Inputs) -> None:
    lines = report(passing_verdict(GEMM), passing_verdict(NORM))
    assert "no\N{NO-BREAK SPACE}verdict" in cells(lines, ROPE)[2]
    assert f"- `{ROPE}`: no verdict" in section(lines, "Active blockers")


def test_the_gates_are_ticked_and_the_missing_signal_is_named(report: Inputs) -> None:
    lines = section(report(passing_verdict(GEMM), passing_verdict(NORM), failing_verdict(ROPE)), "Gates")
    rows = [line.strip("|").split("|") for line in lines if "✅" in line or "❌" in line]
    ticks = [[cell.strip() for cell in row[2:]] for row in rows]
    assert ticks[0] == ["❌ 1 of 4 fail", "✅"]
    assert ticks[1] == ["❌ 2 of 4 fail", "❌"]
    assert f"- Gate 1: `{FUSED}`: no harness, and no diagnosis has been recorded" in lines
    assert "- Gate 2: 1 in Active blockers; 1 without a signal (gate 1)" in lines


def test_the_evidence_of_each_case(report: Inputs) -> None:
    verdict = passing_verdict(GEMM)
    lines = section(report(verdict), "Evidence")
    assert "- Device: host model of AIE2P" in lines and "- Toolchain: g++ 12.2.0" in lines
    row = cells(lines, GEMM)
    assert row[1] == "8x4" and row[2] == "2026-11-30\N{NO-BREAK SPACE}10:00:01"
    assert row[-1] == f"`{verdict.evidence.elf_sha256[:8]}`"


def test_tables_are_well_formed(report: Inputs) -> None:
    lines = report(passing_verdict(GEMM), failing_verdict(ROPE), wall(NORM))
    for before, line in pairwise(lines):
        if before.startswith("|") and line.startswith("|"):
            assert before.count("|") == line.count("|")


def test_gates_of_another_model_are_refused(report: Inputs) -> None:
    with pytest.raises(InputError, match="field model is 'toy-1b'; allowed: 'other-7b'"):
        gather(report.write(passing_verdict(GEMM), model="other-7b"))


def test_a_verdict_that_is_not_planned_is_refused(report: Inputs) -> None:
    with pytest.raises(InputError, match="verdict of gemm_512x512x512: not a case of"):
        gather(report.write(passing_verdict("gemm_512x512x512")))


def test_gates_of_another_plan_are_refused(report: Inputs) -> None:
    options = report.write(passing_verdict(GEMM))
    options.plan.write_text(plan_text(PLAN[:2]))
    with pytest.raises(InputError, match="apply the gates again"):
        gather(options)


def test_the_command_line_writes_the_same_report(report: Inputs) -> None:
    options, output = report.write(passing_verdict(GEMM)), report.folder / "out" / "r.md"
    command = [sys.executable, "-m", "scripts.write_report", MODEL, "--verdicts", *map(str, options.verdicts)]
    for name in ("gates", "plan", "walls", "registry", "working_copy"):
        command += [f"--{name.replace('_', '-')}", str(getattr(options, name))]
    finished = subprocess.run(
        [*command, "--output", str(output)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr
    assert output.read_text() == render(gather(options))


def test_preflight_names_what_does_not_hold_by_itself(report: Inputs) -> None:
    lines = section(report(passing_verdict(GEMM)), "Preflight")
    assert lines == [
        "",
        "5 limits of 3 cases were checked before a compile; all others hold.",
        "",
        f"- hint, stride: `tile_k_l2 * N` = 1310720, <= 1048576 is safe (DMA stride); tile 64/128: `{GEMM}`",
        f"- padded, seq 241 padded to 256: `{ROPE}`, `{NORM}`",
        "",
    ]


def test_the_rows_of_a_run_are_a_diff_of_the_registry() -> None:
    def row(kind: str, mean: float) -> dict:
        figures = {"mean_rel_L1": mean, "rel_err_max": None, "abs_err_max": None}
        return {
            "shape": "2048x2048x2048",
            "method": "drain",
            "best": False,
            "tile": {"tile_m": 32},
            "herd": [8, 4],
            "latency_us": None,
            "gflops": None,
            "gbps": None,
            **figures,
            "printed": {},
            "used_by": ["toy-1b prefill O proj"],
            "status": "✅",
            "note": None,
            "evidence": {"kind": kind, "source": "harness", "started": "2026-12-01T00:00:00Z"},
        }

    published, own = row("published", 0.0097), row("simulated", 0.009712)
    lines = registry_section(PLAN, {"gemm": [published]}, {"gemm": [published, own]}).splitlines()
    (added,) = [line for line in lines if line.startswith("+|")]
    assert "9.712e-3" in added and "*simulated* 2026-12-01" in added
    assert not [line for line in lines if line.startswith("-|")]
    assert registry_section(PLAN, {"gemm": [own]}, {"gemm": [own]}).endswith("None.")
