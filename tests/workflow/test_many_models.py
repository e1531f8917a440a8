"""Several models: the union of their cases, each once, and a report for each."""

import json
import shutil


def _use(project, *models: str) -> None:
    project.replace("config/config.yaml", "models: [tiny]", f"models: [{', '.join(models)}]")


def test_the_union_runs_each_case_once_and_names_every_model(finished, planned) -> None:
    """A twin shares every case; a model with another vocabulary has one of its own."""
    folder = finished.root / "config" / "models"
    tiny = json.loads((folder / "tiny.json").read_text(encoding="utf-8"))
    shutil.copy(folder / "tiny.json", folder / "twin.json")
    (folder / "tall.json").write_text(json.dumps({**tiny, "vocab_size": 8192}), encoding="utf-8")
    _use(finished, "tiny", "twin", "tall")
    jobs = planned(finished.snakemake("-n"))
    assert [job for job in jobs if job.startswith("Compile ")] == ["Compile gemv_8192x2048"]
    assert [job for job in jobs if job.startswith("Run ")] == ["Run gemv_8192x2048"]

    run = finished.snakemake("all")
    assert run.returncode == 0, run.stdout + run.stderr
    shared = json.loads(finished.text("results/gemm_256x2048x256.verdict"))
    assert shared["used_by"] == [f"{name} prefill K/V proj" for name in ("tiny", "twin", "tall")]
    own = json.loads(finished.text("results/gemv_8192x2048.verdict"))
    assert own["used_by"] == ["tall decode LM-head"]
    rows = json.loads(finished.text("results/registry/gemm.json"))["rows"]
    (row,) = [row for row in rows if row["shape"] == "256x2048x256"]
    assert {name.split()[0] for name in row["used_by"]} == {"tiny", "twin", "tall"}
    for name in ("tiny", "twin", "tall"):
        report = finished.text(f"results/{name}.phase1_kernels.md")
        assert f"# Phase 1 kernels of {name}" in report and "## Preflight" in report
        assert ("gemv_8192x2048" in report) == (name == "tall")
    assert planned(finished.snakemake("-n")) == ["Enforce the gates"]
