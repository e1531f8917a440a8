"""What a dry run lists, and how fast."""

import json
import re
import time

import pytest

STEPS = ("Compile", "Run", "Judge", "Record")


def test_the_default_model_as_the_project_comes(project, planned) -> None:
    jobs = planned(project.snakemake("-n"))
    for step, count in zip(STEPS, (19, 16, 19, 19), strict=True):
        assert sum(job.startswith(f"{step} ") for job in jobs) == count
    assert [job for job in jobs if not job.startswith(STEPS)] == [
        "Apply the gates to llama-3.2-1b",
        "Derive the cases of llama-3.2-1b",
        "Diagnose the layers of llama-3.2-1b",
        "Enforce the gates",
        "Keep the record of llama-3.2-1b",
        "Preflight llama-3.2-1b",
        "Write the report of llama-3.2-1b",
    ]
    assert "Run gemm_2048x8192x2048" in jobs


def test_a_dry_run_shows_what_is_known_before_a_compile(project) -> None:
    """The stride of the Gate/Up projection of a wide model is beyond what is sure to place."""
    dry = project.snakemake("-n", "--config", "models=[qwen3-1.7b]")
    assert re.search(
        r"Preflight qwen3-1\.7b: 22 cases, \d+ limits: 2 hint, 1 idle tiles$", dry.stdout, re.MULTILINE
    )


def test_a_dry_run_writes_no_result(project) -> None:
    assert project.snakemake("-n").returncode == 0
    assert not (project.root / "results").exists()


def test_every_model_in_under_five_seconds(project, planned) -> None:
    models = sorted(path.stem for path in (project.root / "config" / "models").glob("*.json"))
    assert len(models) >= 6
    begin = time.perf_counter()
    jobs = planned(project.snakemake("-n", "--config", f"models=[{','.join(models)}]"))
    assert time.perf_counter() - begin < 5
    assert len([job for job in jobs if job.startswith("Write ")]) == len(models)


@pytest.mark.parametrize("case", ["gemm_2048x2048x8192", "gemm_512x512x512", "toy_copy_1024"])
def test_a_single_case_whether_a_model_needs_it_or_not(project, planned, case: str) -> None:
    """The toy kernel is a folder that was added, and nothing else was touched for it."""
    jobs = planned(project.snakemake("-n", f"results/{case}.verdict"))
    assert jobs == sorted(f"{step} {case}" for step in STEPS[:3])


def test_a_model_that_is_not_in_the_config(project, planned) -> None:
    jobs = planned(project.snakemake("-n", "results/qwen3-0.6b.phase1_kernels.md"))
    assert "Derive the cases of qwen3-0.6b" in jobs and "Derive the cases of llama-3.2-1b" not in jobs


def test_the_commands_hold_the_chosen_tile_and_nothing_of_this_machine(project) -> None:
    dry = project.snakemake("-n", "-p", "results/gemm_2048x2048x512.row")
    (command,) = re.findall(r"python -m scripts\.compile_elf .*", dry.stdout)
    for part in ("gemm_2048x2048x512", "--target host", "--method drain", "tile_m=", "herd_m=8,herd_n=4"):
        assert part in command
    assert str(project.root) not in dry.stdout.split("Building DAG")[1]


def test_the_profile_limits_the_npu(project) -> None:
    """A rule's `npu=1` alone limits nothing: the profile, which is picked up by itself, has to."""
    run = project.snakemake("results/toy_copy_1024.log")
    assert run.returncode == 0 and "Provided resources: npu" in run.stderr


def test_used_by_reaches_the_verdict(finished) -> None:
    verdict = json.loads(finished.text("results/gemm_256x2048x256.verdict"))
    assert verdict["used_by"] == ["tiny prefill K/V proj"]
    assert json.loads(finished.text("results/toy_copy_1024.verdict"))["used_by"] == []
