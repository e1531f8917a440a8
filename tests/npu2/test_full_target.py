"""The whole npu2 target, by Snakemake, on a real mlir-air checkout and the virtual NPU2."""

import json
import os
from pathlib import Path

XRT_SMI = Path(__file__).resolve().parents[1] / "fixtures" / "npu2_stand_in" / "bin"
CASES = ("eltwise_add_65536", "gemm_512x512x512")


def test_a_verdict_of_the_harness_by_way_of_the_split(
    project_copy, mlir_air: Path, virtual_npu2: dict[str, str], tmp_path: Path
) -> None:
    """The harness's own lines, compiled without the device and run under its lock, twice."""
    project = project_copy(tmp_path / "project")
    environment = {**virtual_npu2, "PATH": os.pathsep.join([str(XRT_SMI), virtual_npu2["PATH"]])}
    lock = f"lock={tmp_path / 'npu.lock'}"
    targets = [f"results/{case}.verdict" for case in CASES]
    finished = project.snakemake(
        *targets, "--config", "target=npu2", f"mlir_air={mlir_air}", lock, environment=environment
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    for case in CASES:
        verdict = json.loads(project.text(f"results/{case}.verdict"))
        assert (verdict["status"], verdict["evidence"]["device"]) == ("PASS", "STAND-IN (tests)")
        hardware = verdict["evidence"]["hardware"]
        assert hardware["split"] is True and hardware["repeats"] == 2
        log = project.text(f"results/{case}.log")
        assert log.count("[precision] Output 0") == 2 and "PASS!" in log
    # What the virtual device saw: canary, then each case twice.
    uses = Path(virtual_npu2["VIRTUAL_NPU2_DEVICE"]).read_text().split()
    assert len([word for word in uses if word in CASES]) == 2 * len(CASES)
