"""The npu2 target end to end, on a stand-in for mlir-air: its figures are made up, its device is none."""

import json
import re
from contextlib import suppress
from pathlib import Path

import pytest

from tests.workflow.conftest import use_tiny_model

GEMM, RMSNORM, ADD = "gemm_256x256x256", "rmsnorm_64x512", "eltwise_add_65536"
ATTENTION = "flash_attention_256x256_d64x64_h2x2_causal"
CANARY = "rmsnorm_256x960"


def verdict_files(*cases: str) -> list[str]:
    return [f"results/{case}.verdict" for case in cases]


def test_verdicts_with_the_evidence_of_the_device(stand_in, planned) -> None:
    finished = stand_in.snakemake(f"results/{GEMM}.row", *verdict_files(ADD, ATTENTION, CANARY))
    assert finished.returncode == 0, finished.stderr
    for case in (GEMM, ADD, ATTENTION, CANARY):
        verdict = stand_in.verdict(case)
        evidence, hardware = verdict["evidence"], verdict["evidence"]["hardware"]
        assert (verdict["verdict"], evidence["kind"], evidence["target"]) == ("PASS", "hardware", "npu2")
        assert (evidence["device"], hardware["xrt"], hardware["firmware"]) == (
            "STAND-IN (tests)",
            "0.0.1",
            "0.0.3",
        )
        assert "stand-in clang 1.0" in evidence["toolchain"] and hardware["mlir_air"] == "no commit"
        assert evidence["elf_sha256"] == hardware["artifacts"]["artifact/air.xclbin"]
        assert hardware["split"] is True and hardware["repeats"] == 2 and hardware["lock_held_seconds"] > 0
        assert " compile --store " in hardware["compile_command"] and " run --store " in evidence["command"]
        assert verdict["perf"]["latency_us"] == 437.2
        assert str(stand_in.root) not in json.dumps(verdict) and str(stand_in.project.root) not in json.dumps(
            verdict
        )
    row = json.loads(stand_in.project.text(f"results/{GEMM}.row"))["row"]
    assert (row["evidence"]["kind"], row["latency_us"]) == ("hardware", 437.2)
    uses = [harness for _, _, harness in stand_in.device_uses()]
    # A timed run of FlashAttention has wrong numbers, so its timing is a run of its own.
    assert uses.count("flash_attention") == 3 and uses.count("gemm") == 2 and uses.count("rmsnorm") == 3
    assert uses[0] == "rmsnorm"
    attention = stand_in.project.text(f"results/{ATTENTION}.log")
    assert "Latency" not in attention.split("[repeat] 2 of 2")[0]
    again = stand_in.snakemake("-n", *verdict_files(GEMM, ADD, ATTENTION, CANARY))
    assert planned(again) == []
    newer = stand_in.snakemake("-n", *verdict_files(GEMM), STAND_IN_VERSION="2.0")
    assert planned(newer) == sorted(
        [f"{step} {GEMM}" for step in ("Compile", "Run", "Judge")] + [f"Compile {CANARY}"]
    )
    driver = stand_in.snakemake("-n", *verdict_files(GEMM), STAND_IN_FIRMWARE="9.9.9")
    assert planned(driver) == [f"Judge {GEMM}", f"Run {GEMM}"]


def test_a_wedged_device_runs_nothing_more_and_its_wedger_is_named(ready) -> None:
    """The others are not run, which is no failure of theirs, until a later run finds the device sound."""
    for case in (GEMM, ADD):
        ready.compile(case)
    ready.fails(gemm=["ioctl"], rmsnorm=["none", "ioctl"])
    for case in (GEMM, ADD):
        ready.run(case, KERNEL_VALIDATION_SESSION="first")
    wedger, other = ready.verdict(GEMM), ready.verdict(ADD)
    assert wedger["status"] == "RUNTIME" and wedger["evidence"]["attempts"] == 1
    assert "wedged" in wedger["reason"] and "the device is gone" in wedger["reason"]
    assert other["status"] == "NOT_RUN" and f"wedged by {GEMM}" in other["reason"]
    assert [use[2] for use in ready.device_uses()] == ["rmsnorm", "gemm", "rmsnorm"]
    ready.run(ADD, KERNEL_VALIDATION_SESSION="second")
    still = ready.verdict(ADD)
    assert still["status"] == "NOT_RUN" and "canary" in still["reason"]
    assert f"last on the device: {GEMM}" in still["reason"]
    ready.fails()
    ready.run(ADD, KERNEL_VALIDATION_SESSION="third")
    assert ready.verdict(ADD)["verdict"] == "PASS"


def test_cases_that_were_not_run_run_next_time(stand_in, planned) -> None:
    stand_in.fails(rmsnorm=["ioctl"])
    finished = stand_in.snakemake(*verdict_files(GEMM, ADD))
    assert finished.returncode == 0, finished.stderr
    assert {stand_in.verdict(case)["status"] for case in (GEMM, ADD)} == {"NOT_RUN"}
    assert [use[2] for use in stand_in.device_uses()] == ["rmsnorm"]  # one canary for both
    again = planned(stand_in.snakemake("-n", *verdict_files(GEMM, ADD)))
    assert again == sorted(f"{step} {case}" for step in ("Run", "Judge") for case in (GEMM, ADD))


def test_a_crash_by_chance_is_tried_again_after_a_canary(ready) -> None:
    ready.compile(GEMM)
    ready.fails(gemm=["ioctl", "none"])
    log = ready.run(GEMM)
    verdict = ready.verdict(GEMM)
    assert (verdict["verdict"], verdict["evidence"]["attempts"]) == ("PASS", 2)
    assert "passed on attempt 2" in verdict["reason"]
    assert "[canary] passed before the first case" in log and "[canary] passed after this case" in log
    assert [use[2] for use in ready.device_uses()] == ["rmsnorm", "gemm", "rmsnorm", "gemm", "gemm"]


def test_a_hang_ends_with_its_whole_process_group(ready) -> None:
    ready.compile(GEMM)
    ready.fails(gemm=["hang"])
    ready.run(GEMM, "--time-limit", "1")
    verdict = ready.verdict(GEMM)
    assert verdict["status"] == "TIMEOUT" and "1 s" in verdict["reason"]
    assert ready.device_log().count("start gemm") == 2
    assert [line for line in command_lines() if str(ready.root) in line] == []


def command_lines() -> list[str]:
    """Of every process that we may look at."""
    lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            lines.append(file.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return lines


@pytest.mark.parametrize(
    ("fault", "status"), [("flicker", "NONDETERMINISTIC"), ("wrong", "NUMERIC"), ("ert", "TIMEOUT")]
)
def test_what_goes_wrong_has_a_status_of_its_own(ready, fault: str, status: str) -> None:
    ready.compile(GEMM)
    ready.fails(gemm=[fault])
    log = ready.run(GEMM)
    verdict = ready.verdict(GEMM)
    assert verdict["status"] == status
    if fault == "flicker":
        lines = set(re.findall(r"\[precision\].*", log))
        assert len(lines) == 2 and all(line in verdict["reason"] for line in lines)
    assert ("attempt=2" in log) == (fault == "ert")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("error: 'aie.dma_bd' op Stride 2490368 exceeds the [1:1048576] range", "stride"),
        ("error: 'aiex.npu.push_queue' op Repeat count exceeds [0:255]", "repeat count"),
        (
            "error: 'aiex.dma_configure_task' op Allocator exhausted available buffer descriptor IDs",
            "buffer descr",
        ),
        ("error: 'air.channel.put' op failed to map to shim dma channels: out of channels", "shim DMA"),
        ("error: something that nobody has met", "compile error"),
    ],
)
def test_a_wall_is_named_and_nothing_runs(ready, text: str, name: str) -> None:
    (ready.root / "walls.json").write_text(json.dumps({"gemm": text}))
    build = ready.compile(GEMM)
    assert build["status"] == ("COMPILE_ERROR" if name == "compile error" else "COMPILE_WALL")
    ready.run(GEMM)
    verdict = ready.verdict(GEMM)
    assert verdict["status"] == "COMPILE_WALL" and verdict["reason"].startswith(name)
    assert ready.device_uses() == []


def test_a_build_that_takes_too_long_is_ended(ready) -> None:
    finished = ready.project.step(
        *("compile_elf", GEMM, "--target", "npu2", "--mlir-air", str(ready.root), "--output-dir", "build"),
        *("--time-limit", "1"),
        environment={**ready.environment, "STAND_IN_COMPILE_SECONDS": "60"},
    )
    build = json.loads(ready.project.text("build/build.json"))
    assert finished.returncode == 0 and build["status"] == "TIMEOUT"


@pytest.mark.parametrize("case", [GEMM, RMSNORM])
def test_an_unknown_backend_is_run_as_upstream_does(ready, case: str) -> None:
    build = ready.compile(case, STAND_IN_UNKNOWN="1")
    assert (build["status"], build["split"], build["elf"]) == ("OK", False, None)
    assert ready.device_uses() == []
    log = ready.run(case)
    verdict = ready.verdict(case)
    hardware = verdict["evidence"]["hardware"]
    assert verdict["verdict"] == "PASS"
    assert (hardware["split"], hardware["repeats"]) == (False, 1)
    assert "was told to be one" in hardware["split_reason"]
    assert "split_harness" not in verdict["evidence"]["command"]
    assert verdict["evidence"]["elf_sha256"] and "[split] compiled and run in one process" in log


def test_a_checkout_without_the_harness_fails_its_cases_only(ready) -> None:
    build = ready.compile("gelu_65536")
    assert build["status"] == "COMPILE_ERROR" and "tried: programming_examples/gelu" in build["reason"]
    ready.run("gelu_65536")
    assert "tried: programming_examples/gelu" in ready.verdict("gelu_65536")["reason"]


def test_what_is_printed_can_be_pasted(ready) -> None:
    """A shell that runs the printed lines one after the other gets the harness's own lines."""
    printed = ready.project.step(
        *("run_kernel", "--target", "npu2", "--print", GEMM, "--mlir-air", str(ready.root)),
        *("--lock", str(ready.lock), "--repeats", "1"),
        environment=ready.environment,
    )
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout.count(f"flock -x -w 1800 {ready.lock} ") == 1
    pasted = ready.project.run("sh", "-ec", printed.stdout, environment=ready.environment)
    assert pasted.returncode == 0 and pasted.stdout.splitlines()[-1] == "PASS!", pasted.stderr
    assert [use[2] for use in ready.device_uses()] == ["gemm"]


def test_without_a_checkout_its_place_is_left_to_the_reader(project, monkeypatch) -> None:
    monkeypatch.delenv("MLIR_AIR_ROOT", raising=False)
    for case in ("gemm_2048x2048x8192", "gemv_2048x8192"):
        printed = project.step("run_kernel", "--target", "npu2", "--print", case)
        assert printed.returncode == 0, printed.stderr
        assert printed.stdout.startswith("# MLIR_AIR_ROOT is the mlir-air checkout")
        assert " $MLIR_AIR_ROOT/programming_examples/matrix_" in printed.stdout


def test_bad_input_is_refused_before_anything_starts(stand_in) -> None:
    for config, complaint in (
        (["lock=/tmp/npu.lock"], "which the harness takes by itself"),
        (["canary=gelu_x"], "gelu_x"),
        (["repeats=0"], "repeats: found 0; allowed: a positive integer"),
        ([f"mlir_air={stand_in.project.root}"], "holds no programming_examples/"),
    ):
        refused = stand_in.snakemake(*verdict_files(GEMM), config=config)
        assert refused.returncode == 2 and complaint in refused.stderr, refused.stderr
    assert not (stand_in.project.root / "results").exists()


def test_a_makefile_without_the_variable_is_never_started_by_a_compile(ready) -> None:
    """It would compile and run at once, without the lock."""
    folder = ready.root / "programming_examples" / "matrix_multiplication" / "bf16_in_bf16_out"
    makefile = folder / "Makefile"
    makefile.write_text(makefile.read_text().replace("$(PYTHON)", "python3"))
    build = ready.compile(GEMM)
    assert build["split"] is False and "PYTHON" in build["split_reason"]
    assert ready.device_uses() == []
    ready.run(GEMM)
    assert ready.verdict(GEMM)["verdict"] == "PASS"


def test_no_device_is_no_failure_and_no_evidence(ready) -> None:
    ready.compile(GEMM)
    (ready.root / "bin" / "xrt-smi").unlink()
    ready.run(GEMM)
    verdict = ready.verdict(GEMM)
    assert verdict["status"] == "NOT_RUN" and "no NPU" in verdict["reason"]
    assert ready.device_uses() == []


def test_a_fused_kernel_is_judged_by_make_diagnosis_which_covers_the_prefill(stand_in) -> None:
    """Nothing is built for it by itself, and what upstream's diagnosis does not run is NOT_RUN."""
    use_tiny_model(stand_in.project)
    case = "gemv_add_2048x2048"
    assert stand_in.snakemake(*verdict_files(case)).returncode == 0
    build = json.loads(stand_in.project.text(f"results/build/{case}/build.json"))
    assert (build["status"], build["elf"], build["herd"]) == ("OK", None, [8, 2])
    verdict = stand_in.verdict(case)
    assert (verdict["status"], verdict["evidence"]["source"]) == ("NOT_RUN", "diagnosis")
    assert "the checkout has no folder for it" in verdict["reason"]
    models = stand_in.root / "programming_examples" / "llms"
    (models / "verify" / "reports").mkdir(parents=True)
    (models / "tiny").mkdir()
    report = {
        "config": {"mode": "diagnosis", "runner": "tiny.verify_adapter"},
        "per_layer": [
            {
                "name": "ffn_out",
                "layer": layer,
                "cosine": dict.fromkeys(("min", "p5", "median", "mean"), 0.9995 - layer / 1000),
                "errors": {"max_abs": 0.5, "mean_abs": 0.1},
            }
            for layer in range(2)
        ],
    }
    (models / "tiny" / "report.json").write_text(json.dumps(report))
    target = "../verify/reports/diagnosis_$$(date +%Y%m%d-%H%M%S).json"
    (models / "tiny" / "Makefile").write_text(f"diagnosis:\n\tcp report.json {target}\n")
    assert stand_in.snakemake(*verdict_files(case)).returncode == 0
    diagnosis = json.loads(stand_in.project.text("results/tiny.diagnosis.json"))
    assert (diagnosis["status"], diagnosis["kind"]) == ("OK", "hardware")
    assert [record["whole_cosine"] for record in diagnosis["per_layer"]] == [0.9995, 0.9985]
    verdict = stand_in.verdict(case)
    assert verdict["status"] == "NOT_RUN" and "it covers the prefill" in verdict["reason"]
