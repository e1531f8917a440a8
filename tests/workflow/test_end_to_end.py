"""One real small case of each kernel, from its source to the registry, and a whole model to its report."""

import json

import pytest

from scripts.cases.kernel_facts import harness_kernels

STEPS = ("compile_elf", "run_kernel", "judge_verdict", "append_registry")
DIAGNOSED_STEPS = ("compile_elf", "judge_diagnosis", "append_registry")


def verdicts(project) -> dict[str, dict]:
    return {path.stem: json.loads(path.read_text()) for path in (project.root / "results").glob("*.verdict")}


def test_the_run_succeeds(finished_run) -> None:
    _, printed = finished_run
    assert printed.returncode == 0, printed.stdout + printed.stderr


@pytest.mark.parametrize("kernel", [*harness_kernels(), "toy_copy"])
def test_each_kernel_passes_from_its_source_to_the_registry(finished_run, kernel: str) -> None:
    project, _ = finished_run
    results = project.root / "results"
    cases = {name: verdict for name, verdict in verdicts(project).items() if verdict["kernel"] == kernel}
    assert cases
    for name, verdict in cases.items():
        assert verdict["verdict"] == "PASS", verdict["reason"]
        assert verdict["evidence"]["kind"] == "simulated" and verdict["evidence"]["target"] == "host"
        assert (results / "build" / name / "kernel.elf").read_bytes()[:4] == b"\x7fELF"
        receipt = json.loads((results / f"{name}.row").read_text())
        assert (receipt["case"], receipt["row"]["shape"]) == (name, verdict["shape"])
        registry = json.loads((results / "registry" / f"{kernel}.json").read_text())
        assert verdict["shape"] in [row["shape"] for row in registry["rows"]]


def test_the_shared_registry_is_left_alone(finished_run, project_copy, tmp_path) -> None:
    project, _ = finished_run
    untouched = project_copy(tmp_path / "untouched").root / "docs" / "kernel_registry"
    for path in untouched.iterdir():
        assert (project.root / "docs" / "kernel_registry" / path.name).read_bytes() == path.read_bytes()


def test_every_step_has_left_its_log(finished_run) -> None:
    project, _ = finished_run
    for case, verdict in verdicts(project).items():
        for step in STEPS if verdict["evidence"]["source"] == "harness" else DIAGNOSED_STEPS:
            assert (project.root / "results" / "logs" / step / f"{case}.log").is_file()
    assert (project.root / "results" / "logs" / "diagnose_layers" / "tiny.log").is_file()


def test_the_report_and_the_console_say_what_blocks_phase_2(finished_run) -> None:
    project, printed = finished_run
    first_line = project.text("results/tiny.phase1_kernels.md").splitlines()[0]
    assert "simulated" in first_line and "Phase 2 stays blocked" in first_line
    assert "2 of 2 diagnosed cases PASS" in first_line and first_line.strip("*") in printed.stdout
    assert "PASS" in printed.stdout and "[" not in first_line


def test_nothing_is_half_written(finished_run) -> None:
    project, _ = finished_run
    assert [path for path in (project.root / "results").rglob(".*") if path.name != ".lock"] == []


def test_kernels_without_a_harness_are_judged_inside_of_whole_layers(finished_run) -> None:
    project, _ = finished_run
    for case in ("gemv_add_2048x2048", "rmsnorm_gate_up_swiglu_2048x2048"):
        verdict = verdicts(project)[case]
        assert (verdict["status"], verdict["evidence"]["source"]) == ("PASS", "diagnosis")
        assert verdict["precision"] is None and "no cliff over 2 layers" in verdict["reason"]
    diagnosis = json.loads(project.text("results/tiny.diagnosis.json"))
    assert "gemv_add_2048x2048" in diagnosis["exercised"]["decode"]
    assert {record["phase"] for record in diagnosis["per_layer"]} == {"prefill", "decode"}


def test_a_fault_in_a_fused_kernel_is_found_in_the_decode_and_nowhere_else(finished) -> None:
    """The residual of the fused kernel is dropped: its cases fail, and gate 2 with them."""
    finished.replace(
        "kernels/gemv_add/gemv_add.cc", "float(partial[row]) + float(residual[row])", "float(partial[row])"
    )
    run = finished.snakemake("all")
    assert run.returncode == 1 and "gate 2" in run.stdout + run.stderr
    verdict = verdicts(finished)["gemv_add_2048x2048"]
    assert verdict["status"] == "NUMERIC" and "cliff at decode layer 0" in verdict["reason"]
    assert "kernels there: " in verdict["reason"] and "gemv_add_2048x2048" in verdict["reason"]
    diagnosis = json.loads(finished.text("results/tiny.diagnosis.json"))
    assert diagnosis["cliffs"]["prefill"] is None and diagnosis["cliffs"]["decode"].startswith(
        "decode layer 0"
    )


def test_the_record_of_the_model_is_kept(finished_run) -> None:
    project, _ = finished_run
    folder = project.root / "results" / "docs" / "tiny"
    assert "(15/15 kernels PASSED), simulated evidence" in (folder / "TODO.md").read_text()
    assert len((folder / "progress.md").read_text().splitlines()) == 3
    assert (folder / "phase1_kernels.md").read_text() == project.text("results/tiny.phase1_kernels.md")


def test_a_wrong_kernel_is_caught_and_only_it_runs_again(finished, rerun) -> None:
    """One line of C++ is wrong: the case fails with the count; put right, only it runs again."""
    source = "kernels/toy_copy/toy_copy.cc"
    sound = finished.text(source)
    finished.replace(
        source, "out[element] = in[element];", "out[element] = element % 64 ? in[element] : 0x4500;"
    )
    run = finished.snakemake("results/toy_copy_1024.row", "results/toy_copy_2048.row")
    assert run.returncode == 0
    verdict = verdicts(finished)["toy_copy_1024"]
    assert verdict["verdict"] == "FAIL" and "16 of 1024 elements" in verdict["reason"]
    assert verdicts(finished)["gelu_65536"]["verdict"] == "PASS"
    (finished.root / source).write_text(sound)
    assert {job.split()[1] for job in rerun(finished)} == {"toy_copy_1024", "toy_copy_2048"}


def test_a_failed_case_fails_the_whole_run_but_hides_no_other(finished, rerun) -> None:
    (source,) = (finished.root / "kernels" / "eltwise_add").glob("*.cc")
    sound = source.read_text()
    source.write_text(sound + "\n#error not today\n")
    run = finished.snakemake("all")
    assert run.returncode == 1
    assert "eltwise_add_524288" in run.stdout
    report = finished.text("results/tiny.phase1_kernels.md")
    assert "not today" in report and "Active blockers" in report
    source.write_text(sound)
    again = rerun(finished)
    fused = ("gemv_add_2048x2048", "rmsnorm_gate_up_swiglu_2048x2048")
    assert {job for job in again if "tiny" not in job} == {
        *(f"{step} eltwise_add_524288" for step in ("Compile", "Run", "Judge", "Record")),
        # The layers could not be put together without it.
        *(f"Judge {case} by the diagnosis" for case in fused),
        *(f"Record {case}" for case in fused),
    }
    assert finished.snakemake("all").returncode == 0
    assert rerun(finished) == []
