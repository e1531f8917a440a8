"""The append step: verdict in, row and receipt out."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.registry.check import findings
from scripts.registry.roots import SHARED_REGISTRY, accepted_kinds, registry_kernels
from scripts.registry.seed import PUBLISHED_COLUMNS, seed
from scripts.registry.store import load_rows
from scripts.registry.tables import render

PUBLISHED = "gemm,bf16_out,drain,high,high,512x512x512,32/256/32/128,8x4,,1703,,0.0093,,,K-sweep,,GEMM.json"


def _verdict(kind="simulated", evidence=None, **fields):
    """A passing verdict of gemm_512x512x512; keyword arguments replace fields."""
    return {
        "case": "gemm_512x512x512",
        "kernel": "gemm",
        "shape": "512x512x512",
        "verdict": "PASS",
        "status": "PASS",
        "reason": "all 262144 elements within tolerance",
        "precision": {
            "mean_rel_L1": 0.009273,
            "rel_err_max": 4588.0,
            "abs_err_max": 0.001969,
            "rtol": 0.016,
            "atol": 0.0015,
            "mismatches": 0,
            "elements": 262144,
        },
        "perf": None,
        "method": "drain",
        "tile": {"tile_m": 32, "tile_k_l2": 256, "tile_k_l1": 32, "tile_n": 128},
        "herd": [8, 4],
        "tiles_used": 32,
        "tiles_target": 32,
        "note": None,
        "used_by": ["llama-3.2-1b prefill Q proj"],
        "evidence": {
            "kind": kind,
            "target": "host" if kind == "simulated" else "npu2",
            "source": "harness",
            "command": "run",
            "elf_sha256": "ab12",
            "toolchain": "g++ 12.2.0",
            "device": "host model of AIE2P",
            "started": "2026-12-01T10:00:00Z",
            "seconds": 0.5,
            "attempts": 1,
            **(evidence or {}),
        },
        **fields,
    }


def _failing(status="NUMERIC", **fields):
    return _verdict(verdict="FAIL", status=status, reason="3 of 262144 elements differ", **fields)


@pytest.fixture
def step(tmp_path):
    """The append step on a registry with one published row; `step(verdict)` returns (process, receipt)."""
    csv = tmp_path / "rows.csv"
    csv.write_text(",".join(PUBLISHED_COLUMNS) + "\n" + PUBLISHED + "\n")
    seed(csv, tmp_path / "shared")

    def run(verdict, registry="copy", seed="shared"):
        text = verdict if isinstance(verdict, str) else json.dumps(verdict)
        (tmp_path / "case.verdict").write_text(text)
        (tmp_path / "case.row").unlink(missing_ok=True)
        done = subprocess.run(_command(tmp_path, registry, seed), capture_output=True, text=True, check=False)
        receipt = tmp_path / "case.row"
        return done, json.loads(receipt.read_text()) if receipt.exists() else None

    run.root = tmp_path
    return run


def _command(root: Path, registry: str, seed: str) -> list[str]:
    paths = {
        "verdict": root / "case.verdict",
        "registry": root / registry,
        "seed": root / seed,
        "receipt": root / "case.row",
    }
    options = [text for name, path in paths.items() for text in (f"--{name}", str(path))]
    return [sys.executable, "-m", "scripts.append_registry", *options]


def _bytes(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_simulated_pass_becomes_a_row_of_the_working_copy(step):
    before = _bytes(step.root / "shared")
    done, receipt = step(_verdict())
    assert (done.returncode, done.stderr) == (0, "")
    assert _bytes(step.root / "shared") == before
    published, own = load_rows(step.root / "copy", "gemm")
    assert published["evidence"]["kind"] == "published" and published["best"]
    assert own == receipt["row"]
    assert own["used_by"] == ["llama-3.2-1b prefill Q proj"] == receipt["used_by"]
    assert own["evidence"] == {
        "kind": "simulated",
        "source": "harness",
        "case": "gemm_512x512x512",
        "elf_sha256": "ab12",
        "started": "2026-12-01T10:00:00Z",
        "toolchain": "g++ 12.2.0",
        "device": "host model of AIE2P",
    }
    assert receipt["appended"] and receipt["already_present"] and receipt["reason"] is None
    assert accepted_kinds(step.root / "copy") == ("hardware", "simulated")
    assert findings(step.root / "copy") == []


def test_figures_are_those_of_the_run_and_a_simulated_timing_is_left_out(step):
    _, receipt = step(_verdict(perf={"latency_us": 9.0, "gflops": 9.0, "gbps": 9.0}))
    row = receipt["row"]
    assert [row[figure] for figure in ("latency_us", "gflops", "gbps")] == [None] * 3
    assert [row[figure] for figure in ("mean_rel_L1", "rel_err_max", "abs_err_max")] == [
        0.009273,
        4588.0,
        0.001969,
    ]
    assert not row["best"]


def test_the_same_verdict_again_changes_no_byte(step):
    step(_verdict())
    first = (_bytes(step.root / "copy"), (step.root / "case.row").read_bytes())
    step(_verdict())
    assert (_bytes(step.root / "copy"), (step.root / "case.row").read_bytes()) == first


def test_a_fail_adds_no_row_and_takes_back_the_earlier_one(step):
    _, receipt = step(_failing())
    assert not receipt["appended"] and receipt["row"] is None and receipt["used_by"] == []
    assert receipt["reason"] == "no row: NUMERIC: 3 of 262144 elements differ"
    step(_verdict())
    assert len(load_rows(step.root / "copy", "gemm")) == 2
    done, _ = step(_failing())
    assert done.returncode == 0
    assert [row["evidence"]["kind"] for row in load_rows(step.root / "copy", "gemm")] == ["published"]


def test_a_wall_that_has_no_method_takes_back_the_earlier_row_too(step):
    step(_verdict())
    _, receipt = step(_failing(status="COMPILE_WALL", precision=None, method=None, tile={}, herd=None))
    assert receipt["row"] is None
    assert [row["evidence"]["kind"] for row in load_rows(step.root / "copy", "gemm")] == ["published"]


def test_a_retried_pass_is_flagged(step):
    _, receipt = step(_verdict(evidence={"attempts": 2}))
    assert (receipt["row"]["status"], receipt["row"]["note"]) == ("⚠️", "passed on attempt 2")


def test_simulated_evidence_never_enters_the_seed(step):
    before = _bytes(step.root / "shared")
    done, receipt = step(_verdict(), registry="shared")
    assert done.returncode == 2 and receipt is None
    assert (
        "shared: found simulated evidence; allowed: hardware" in done.stderr and done.stderr.count("\n") == 1
    )
    assert _bytes(step.root / "shared") == before


def test_hardware_enters_the_seed_and_its_pages_follow(step):
    shared = step.root / "shared"
    render(shared)
    perf = {"latency_us": 40.0, "gflops": 1800.0, "gbps": None}
    done, receipt = step(_verdict("hardware", method="fused-cast", perf=perf), registry="shared")
    assert done.returncode == 0 and receipt["appended"] and not receipt["already_present"]
    best = [row for row in load_rows(shared, "gemm") if row["best"]]
    assert [(row["method"], row["gflops"], row["latency_us"]) for row in best] == [
        ("fused-cast", 1800.0, 40.0)
    ]
    assert findings(shared) == []
    assert "**1800**" in (shared / "gemm.md").read_text()


def test_hardware_joins_the_published_row(step):
    _, receipt = step(_verdict("hardware"), registry="shared")
    assert not receipt["appended"] and receipt["already_present"]
    assert receipt["row"]["mean_rel_L1"] == 0.0093
    assert receipt["used_by"] == ["K-sweep", "llama-3.2-1b prefill Q proj"]


def test_a_hardware_fail_leaves_the_shared_registry_alone(step):
    before = _bytes(step.root / "shared")
    _, receipt = step(_failing(kind="hardware"), registry="shared")
    assert receipt["row"] is None and _bytes(step.root / "shared") == before


def test_a_kernel_the_seed_has_no_file_for_gets_one(step):
    fields = {
        "case": "rmsnorm_1x2048",
        "kernel": "rmsnorm",
        "shape": "1x2048",
        "method": None,
        "tile": {},
        "herd": [1, 1],
    }
    done, receipt = step(_verdict(note="1 row", **fields))
    assert done.returncode == 0 and receipt["row"]["note"] == "1 row"
    assert registry_kernels(step.root / "copy") == ["gemm", "rmsnorm"]


def test_a_diagnosed_case_becomes_a_row_without_figures(step):
    _, receipt = step(
        _verdict(case="gemv_add_8x64", kernel="gemv_add", shape="8x64", method=None, precision=None,
                 tile={"tile_m": 8, "tile_k": 512}, evidence={"source": "diagnosis"})
    )  # fmt: skip
    assert receipt["appended"] and receipt["row"]["evidence"]["source"] == "diagnosis"
    assert not any(receipt["row"][figure] for figure in ("mean_rel_L1", "gflops", "gbps", "latency_us"))


@pytest.mark.parametrize(
    "verdict, complaint",
    [
        ("{", "case.verdict"),
        (json.dumps({"case": "gemm_512x512x512"}), "case.verdict: field"),
        (_verdict(method="magic"), "field method: found 'magic'; allowed: fused-cast, drain"),
        (_verdict(tile={"tile_m": 32}), "field tile: found knobs tile_m; allowed: tile_m, tile_k_l2"),
        (_verdict(case="gemm_8x8x8"), "field case: found 'gemm_8x8x8' of kernel 'gemm'"),
        (_verdict(herd=None), "field herd is []"),
        (_verdict(kind="rumour"), "found rumour evidence"),
    ],
)
def test_a_bad_verdict_is_refused_in_one_line_and_changes_no_row(step, verdict, complaint):
    step(_failing())
    before = _bytes(step.root / "copy")
    done, receipt = step(verdict)
    assert done.returncode == 2 and receipt is None
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1 and complaint in done.stderr
    assert _bytes(step.root / "copy") == before


def test_a_malformed_seed_is_named_and_not_copied(step):
    (step.root / "shared" / "gemm.json").write_text('{"kernel": "gemm",')
    done, _ = step(_verdict())
    assert done.returncode == 2 and "shared/gemm.json line 1: not JSON" in done.stderr
    assert not (step.root / "copy" / "gemm.json").exists()


def test_a_copy_that_was_cut_short_is_completed(step):
    step(_verdict())
    (step.root / "copy" / "registry.json").unlink()
    done, receipt = step(_verdict())
    assert done.returncode == 0 and receipt["appended"]
    (step.root / "copy" / "gemm.json").unlink()
    step(_verdict())
    assert len(load_rows(step.root / "copy", "gemm")) == 2


def test_a_missing_seed_is_named(step):
    done, _ = step(_verdict(), seed="nowhere")
    assert done.returncode == 2 and "nowhere: no such registry folder" in done.stderr


def test_eight_steps_at_once_on_a_missing_copy_of_the_shared_registry_lose_nothing(tmp_path):
    shapes = [f"{32 * (number + 1)}x8x8" for number in range(8)]
    steps = []
    for number, shape in enumerate(shapes):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "case.verdict").write_text(json.dumps(_verdict(case=f"gemm_{shape}", shape=shape)))
        steps.append(subprocess.Popen(_command(folder, "../copy", str(SHARED_REGISTRY))))
    assert [step.wait() for step in steps] == [0] * 8
    own = [
        row["shape"] for row in load_rows(tmp_path / "copy", "gemm") if row["evidence"]["kind"] == "simulated"
    ]
    assert own == shapes
    assert len(load_rows(tmp_path / "copy", "gemm")) == len(load_rows(SHARED_REGISTRY, "gemm")) + 8
    assert registry_kernels(tmp_path / "copy") == registry_kernels(SHARED_REGISTRY)
