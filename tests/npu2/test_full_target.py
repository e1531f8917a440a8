"""The whole npu2 target, by Snakemake, on a real mlir-air checkout and the virtual NPU2."""

import json
import os
from pathlib import Path

XRT_SMI = Path(__file__).resolve().parents[1] / "fixtures" / "npu2_stand_in" / "bin"
# The GEMM is a failure that both targets have to see: some elements are outside of its tolerance.
CASES = {"eltwise_add_65536": "PASS", "gemm_256x256x256": "NUMERIC"}


def test_both_targets_judge_the_same_by_way_of_the_split(
    project_copy, mlir_air: Path, virtual_npu2: dict[str, str], tmp_path: Path
) -> None:
    """The harness's own lines, compiled without the device and run under its lock, twice."""
    project, on_host = project_copy(tmp_path / "project"), project_copy(tmp_path / "host")
    environment = {**virtual_npu2, "PATH": os.pathsep.join([str(XRT_SMI), virtual_npu2["PATH"]])}
    lock = f"lock={tmp_path / 'npu.lock'}"
    targets = [f"results/{case}.verdict" for case in CASES]
    finished = project.snakemake(
        *targets, "--config", "target=npu2", f"mlir_air={mlir_air}", lock, environment=environment
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert on_host.snakemake(*targets).returncode == 0
    for case, status in CASES.items():
        verdict, simulated = (json.loads(each.text(f"results/{case}.verdict")) for each in (project, on_host))
        assert (verdict["status"], verdict["evidence"]["device"]) == (status, "STAND-IN (tests)")
        assert (simulated["status"], simulated["precision"]) == (status, verdict["precision"])
        hardware = verdict["evidence"]["hardware"]
        assert hardware["split"] is True and hardware["repeats"] == 2
        assert project.text(f"results/{case}.log").count("[precision] Output 0") == 2
    # What the virtual device saw: canary, then each case twice.
    uses = Path(virtual_npu2["VIRTUAL_NPU2_DEVICE"]).read_text().split()
    assert len([word for word in uses if word in CASES]) == 2 * len(CASES)
