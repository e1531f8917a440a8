"""The step `derive_shapes` as a command."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts.derive_shapes import SEED_REGISTRY, plan_model, registry_tiers, tile_columns
from scripts.models.plan import plan_text, read_plan

ROOT = Path(__file__).resolve().parents[3]
MODELS = ROOT / "config" / "models"
LLAMA = str(MODELS / "llama-3.2-1b.json")
# A row of its Down projection and one of the input are more than L1 holds.
WIDE = str(ROOT / "tests" / "fixtures" / "models" / "qwen2.5-7b.json")


def _derive(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scripts.derive_shapes", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def test_prints_the_plan() -> None:
    done = _derive(LLAMA)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "kernel\tshape\tcase\tphase\tcall_sites\tsource"
    assert [line.rsplit("\t", 1)[1] for line in lines[1:]] == ["harness"] * 16 + ["diagnosis"] * 3


def test_writes_a_file_with_tiles(tmp_path: Path) -> None:
    path = tmp_path / "plan" / "llama.tsv"
    done = _derive(LLAMA, "--tiles", "--output", str(path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    tiles = {cells[2]: cells[6:] for cells in lines}
    assert tiles["case"] == ["tile", "herd"]
    assert tiles["gemm_2048x2048x8192"] == ["64/256/32/128", "8x4"]
    assert tiles["rmsnorm_1x2048"] == ["-", "1x1"]
    assert tiles["gemv_add_2048x2048"] == ["8/512", "8x2"]
    assert read_plan(path) == plan_model(Path(LLAMA))


def test_the_sequence_length_scales_the_prefill_only() -> None:
    cases = {line.split("\t")[2] for line in _derive(LLAMA, "--seq-len", "512").stdout.splitlines()}
    assert {"rmsnorm_512x2048", "gemm_512x8192x2048", "rope_16384x64", "eltwise_add_1048576"} <= cases
    assert {"rmsnorm_1x2048", "gemv_512x2048", "rope_32x64"} <= cases


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("absent.json",), "absent.json: no such file"),
        ((LLAMA, "--seq-len", "0"), "--seq-len: found 0; a positive integer is needed"),
        ((WIDE, "--tiles"), "gemv_3584x18944: no legal tile fits this shape; cannot be met: L1, "),
        ((str(ROOT / "tests/fixtures/models_unsupported/mixtral-8x7b.json"),), "mixture of experts"),
    ],
)
def test_refuses_in_one_line(tmp_path: Path, arguments: tuple[str, ...], complaint: str) -> None:
    path = tmp_path / "plan.tsv"
    done = _derive(*arguments, "--output", str(path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1
    assert not path.exists()


def test_no_registry_means_the_high_contract(tmp_path: Path) -> None:
    assert registry_tiers(tmp_path / "absent") == {}
    plan = plan_model(MODELS / "qwen2.5-0.5b.json", registry=tmp_path / "absent")
    assert "gemm_2048x896x4864" in {row.case for row in plan}
    assert len(tile_columns(plan, tmp_path / "absent")) == len(plan)


def test_the_registry_decides_the_contract() -> None:
    """Upstream has this shape in low precision only."""
    plan = plan_model(MODELS / "qwen2.5-0.5b.json")
    assert "gemm_low_2048x896x4864" in {row.case for row in plan}


def test_all_models_are_planned_in_time() -> None:
    started = time.perf_counter()
    plans = [plan_model(path) for path in sorted(MODELS.glob("*.json"))]
    tables = [plan_text(plan, tile_columns(plan, SEED_REGISTRY)) for plan in plans]
    assert len(tables) == 6
    assert time.perf_counter() - started < 1.5
