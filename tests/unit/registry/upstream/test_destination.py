"""Which registry a hardware row goes to when mlir-air's is named."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.precision.verdict import Verdict
from scripts.registry.store import load_rows
from tests.unit.registry.upstream.cases import device_verdict

PROJECT = Path(__file__).resolve().parents[4]


def append(folder: Path, root: Path, verdict: Verdict) -> subprocess.CompletedProcess[str]:
    path = folder / "case.verdict"
    path.write_text(verdict.as_json(), encoding="utf-8")
    options = {
        "--verdict": path,
        "--registry": folder / "copy",
        "--seed": PROJECT / "docs" / "kernel_registry",
        "--registry-root": root,
        "--receipt": folder / "case.row",
    }
    words = [str(word) for option in options.items() for word in option]
    command = [sys.executable, "-m", "scripts.append_registry", *words]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)


@pytest.fixture
def diagnosed() -> Verdict:
    """A pass of a kernel without a harness, as the diagnosis gives it."""
    verdict = device_verdict("rmsnorm_1024x2048", used_by=("tiny-1b prefill QKV bias",))
    return replace(
        verdict,
        case="bias_add_64x64",
        kernel="bias_add",
        shape="64x64",
        precision=None,
        perf=None,
        evidence=replace(verdict.evidence, source="diagnosis"),
    )


def test_a_kernel_with_a_harness_goes_into_mlir_air_s_files(stand_in, contents, tmp_path) -> None:
    before = contents(stand_in)
    done = append(tmp_path, stand_in, device_verdict("rmsnorm_1024x2048"))
    assert done.returncode == 0, done.stderr
    assert contents(stand_in) != before and not (tmp_path / "copy").exists()


def test_one_without_goes_to_the_working_copy(stand_in, contents, tmp_path, diagnosed) -> None:
    before = contents(stand_in)
    done = append(tmp_path, stand_in, diagnosed)
    assert done.returncode == 0, done.stderr
    assert contents(stand_in) == before
    assert [row["shape"] for row in load_rows(tmp_path / "copy", "bias_add")] == ["64x64"]


def test_simulated_evidence_goes_to_the_working_copy_as_without_a_root(stand_in, contents, tmp_path) -> None:
    before, verdict = contents(stand_in), device_verdict("rmsnorm_1024x2048")
    simulated = replace(verdict, perf=None, evidence=replace(verdict.evidence, kind="simulated"))
    done = append(tmp_path, stand_in, simulated)
    assert done.returncode == 0, done.stderr
    assert contents(stand_in) == before
    assert "1024x2048" in [row["shape"] for row in load_rows(tmp_path / "copy", "rmsnorm")]
