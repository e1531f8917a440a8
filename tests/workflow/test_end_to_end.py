"""One real small case of each kernel, from its source to the registry, and a whole model to its report."""

import json

import pytest

from scripts.cases.kernel_facts import harness_kernels

STEPS = ("compile_elf", "run_kernel", "judge_verdict", "append_registry")


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
    for case in verdicts(project):
        for step in STEPS:
            assert (project.root / "results" / "logs" / step / f"{case}.log").is_file()


def test_the_report_and_the_console_say_what_blocks_phase_2(finished_run) -> None:
    project, printed = finished_run
    first_line = project.text("results/tiny.phase1_kernels.md").splitlines()[0]
    assert "simulated" in first_line and "Phase 2 stays blocked" in first_line
    for kernel in ("gemv_add", "rmsnorm_gate_up_swiglu"):
        assert kernel in first_line and kernel in printed.stdout
    assert "PASS" in printed.stdout and "[" not in first_line


def test_nothing_is_half_written(finished_run) -> None:
    project, _ = finished_run
    assert [path for path in (project.root / "results").rglob(".*") if path.name != ".lock"] == []


def test_all_gates_for_all_cases_fail_where_a_signal_is_missing(finished) -> None:
    """The config key limits what is enforced; without it the three fused kernels fail gate 1."""
    everything = finished.snakemake("all", "--config", "gate_scope=all")
    assert everything.returncode == 1
    assert "gate 1" in everything.stdout and "gemv_add" in everything.stdout


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
    assert {job for job in again if "tiny" not in job} == {
        f"{step} eltwise_add_524288" for step in ("Compile", "Run", "Judge", "Record")
    }
    assert finished.snakemake("all").returncode == 0
    assert rerun(finished) == []
