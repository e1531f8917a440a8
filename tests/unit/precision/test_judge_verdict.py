"""The step's command line: a verdict for every log, one line for bad input."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.judged import GEMM, build_json, failing_text, passing_text, run_log

ROOT = Path(__file__).resolve().parents[3]


def judge_verdict(folder: Path, *options: str, case: str = GEMM) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scripts.judge_verdict", case, "--build", str(folder / "build.json")]
    command += ["--log", str(folder / "case.log"), "--output", str(folder / "case.verdict"), *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "build.json").write_text(json.dumps(build_json(GEMM)))
    (tmp_path / "case.log").write_text(run_log(GEMM, passing_text(GEMM)))
    return tmp_path


def test_a_failure_is_data_and_exits_0(folder: Path) -> None:
    (folder / "case.log").write_text(run_log(GEMM, failing_text(GEMM), 255))
    finished = judge_verdict(folder, "--used-by", "m prefill Q proj", "m prefill O proj")
    assert finished.returncode == 0, finished.stderr
    record = json.loads((folder / "case.verdict").read_text())
    assert (record["verdict"], record["status"]) == ("FAIL", "NUMERIC")
    assert record["used_by"] == ["m prefill Q proj", "m prefill O proj"]
    assert finished.stdout == f"{GEMM}: NUMERIC: {record['reason']}\n"


def test_judging_again_gives_the_same_bytes(folder: Path) -> None:
    judge_verdict(folder)
    first = (folder / "case.verdict").read_bytes()
    judge_verdict(folder)
    assert (folder / "case.verdict").read_bytes() == first


def test_a_bare_log_with_its_exit_status(folder: Path) -> None:
    (folder / "case.log").write_text(passing_text(GEMM))
    assert "PASS:" in judge_verdict(folder, "--exit-status", "0").stdout
    assert "BAD_LOG:" in judge_verdict(folder).stdout


def test_a_log_that_is_no_text_is_a_bad_log(folder: Path) -> None:
    (folder / "case.log").write_bytes(b"\xff\xfe\x00garbage")
    assert "BAD_LOG:" in judge_verdict(folder).stdout


@pytest.mark.parametrize(
    ("damage", "case", "words"),
    [
        (lambda folder: (folder / "build.json").unlink(), GEMM, "build.json: not found"),
        (lambda folder: (folder / "build.json").write_text("{"), GEMM, "not a readable JSON file"),
        (lambda folder: (folder / "build.json").write_text("[]"), GEMM, "found list"),
        (
            lambda folder: (folder / "build.json").write_text(json.dumps(build_json(GEMM, target="npu3"))),
            GEMM,
            "field target is 'npu3'; allowed: host, npu2",
        ),
        (
            lambda folder: (folder / "build.json").write_text(json.dumps(build_json(GEMM, status="FINE"))),
            GEMM,
            "field status is 'FINE'",
        ),
        (lambda folder: (folder / "case.log").unlink(), GEMM, "case.log: cannot be read"),
        (lambda folder: None, "gemm_512x512x1024", "field case is 'gemm_512x512x512'"),
        (lambda folder: None, "gemm_512", "{M}x{K}x{N}"),
        (lambda folder: None, "gem_512x512x512", "no such kernel"),
        (lambda folder: None, "gemv_add_64x64", "gemv_add has no harness"),
    ],
)
def test_bad_input_gets_one_line_and_nothing_is_written(folder: Path, damage, case: str, words: str) -> None:
    damage(folder)
    finished = judge_verdict(folder, case=case)
    assert finished.returncode == 2
    assert finished.stderr.startswith("error: ") and finished.stderr.count("\n") == 1
    assert words in finished.stderr
    assert not (folder / "case.verdict").exists()
