"""What `scripts.registry check` finds in mlir-air's own files, and that a sound registry has nothing."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.registry.upstream.check import upstream_findings
from tests.unit.registry.stand_in_registry import make_stand_in

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT.parent / "shared" / "upstream" / "kernel_registry"


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    if not SHARED.is_dir():
        pytest.skip("mlir-air's registry files are not there (../shared/upstream/kernel_registry)")
    shutil.copytree(SHARED, tmp_path / "kernel_registry", copy_function=shutil.copyfile)
    return tmp_path / "kernel_registry"


# Looked up by hand in the files: what each line says is true of them.
TRUE_OF_UPSTREAM = {
    "in the JSON, not in a table": "2048×14336×4096 fused-cast, used by Llama-3.1-8B, has no row",
    "in the index, not on the page": "2048×11008×2048 fused-cast, used by Qwen2.5-3B, has no row",
    "on the page, not in the index": "64×720×32 drain, used by SmolVLA, has no row in supported_kernels.md",
    "a cell that is not of its column": "2048×9728×2560 fused-cast: mean_rel_L1 is max_abs 4.88e-4",
    "a figure that differs": "2048×2048×2048 drain: mean_rel_L1 is 9.7e-3; GEMM_bf16_in_bf16_out.md",
    "a model that one of them names": "2048×2048×1024 fused-cast: does not name Qwen3-1.7B as a user",
    "a best that is not": "best of 8898 GFLOP/s: line 85 has 9447",
    "a best that nothing has": "best of 32.7 GFLOP/s: no row of the table",
    "a bold that is not the best": "bandwidth **61.4 GB/s** is the one in bold; line 103 has 63.0",
}


def test_the_true_findings_in_upstream_s_files(shared: Path) -> None:
    found = upstream_findings(shared)
    for what, text in TRUE_OF_UPSTREAM.items():
        assert any(text in line for line in found), what
    index = (shared / "supported_kernels.md").read_text(encoding="utf-8").splitlines()
    # The same, without our reading of tables.
    assert "8898 GFLOP/s" in index[24] and "9447" in index[84] and "**61.4 GB/s**" not in index[24]
    page = (shared / "details" / "GEMM_bf16_in_bf16_out.md").read_text(encoding="utf-8")
    assert "2048×14336×4096" not in page and "2048×11008×2048" not in page


def test_a_sound_registry_has_no_findings_and_each_drift_is_found(tmp_path: Path) -> None:
    root = make_stand_in(tmp_path / "kernel_registry")
    kernels = "RMSNorm_bf16"
    sound = [line for line in upstream_findings(root) if kernels in line]
    assert sound == []
    page = root / "details" / f"{kernels}.md"
    text = page.read_text(encoding="utf-8")
    (row,) = [line for line in text.splitlines(True) if line.startswith("| 2048×2048 |")]
    page.write_text(text.replace(row, row + row), encoding="utf-8")
    assert any("a second row for 2048×2048" in line for line in upstream_findings(root))
    page.write_text(text.replace("18.4 GB/s", "28.4 GB/s"), encoding="utf-8")
    assert any("gbps is 18.4 GB/s; RMSNorm_bf16.md" in line for line in upstream_findings(root))
    page.write_text(text.replace(row, ""), encoding="utf-8")
    assert any("2048×2048" in line and "has no row in" in line for line in upstream_findings(root))


def test_the_command_line_lists_them_and_ends_with_1(tmp_path: Path) -> None:
    root = make_stand_in(tmp_path / "kernel_registry")
    page = root / "details" / "RMSNorm_bf16.md"
    page.write_text(page.read_text(encoding="utf-8").replace("4.2e-3", "4.9e-3"), encoding="utf-8")
    command = [sys.executable, "-m", "scripts.registry", "check", str(root)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "mean_rel_L1 is 4.2e-3" in done.stdout
