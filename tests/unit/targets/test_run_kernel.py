"""The run step: the log, the retry, the attempts that failed."""

import json

import pytest

CASE = "toy_copy_1024"
MARK = "// BEFORE THE COPY"
SOURCE = "kernels/toy_copy/toy_copy.cc"
# True for the first launch only: the folder can be made once.
FIRST_LAUNCH = 'if (mkdir("launched", 0777) == 0)'


def run_step(project, line: str = MARK, *options: str):
    """Build the toy case with `line` in it and run the step; what it printed, and the log's lines."""
    if line != MARK:
        project.replace(SOURCE, MARK, line)
    assert project.step("compile_elf", CASE, "--output-dir", "build").returncode == 0
    arguments = ("--build", "build", "--log", "case.log", "--attempts", "attempts", *options)
    finished = project.step("run_kernel", CASE, *arguments)
    log = project.root / "case.log"
    return finished, log.read_text().splitlines() if log.exists() else None


def attempts(project) -> list[dict]:
    folder = project.root / "attempts"
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))] if folder.exists() else []


def test_a_pass(project) -> None:
    finished, log = run_step(project, MARK, "--threads", "2")
    assert finished.returncode == 0, finished.stderr
    assert log[0].startswith(f"[run] case={CASE} target=host attempt=1 started=2")
    assert (
        log[1] == f"[run] command: python -m scripts.targets.host_device build/kernel.elf {CASE} --threads 2"
    )
    assert any(line.startswith("[precision] Output 0 (1024 elements): mean_rel_L1=0.000e+00") for line in log)
    assert log[-2] == "PASS!"
    assert log[-1].startswith("[run] exit_status=0 seconds=") and log[-1].endswith(" state=ok")
    assert not (project.root / "attempts").exists()


def test_wrong_numbers_are_recorded_and_not_tried_again(project) -> None:
    project.replace(SOURCE, "return 0;", "out[5] = 0x3f80; return 0;")
    finished, log = run_step(project)
    assert finished.returncode == 0
    assert "Mismatches: 1 / 1024 elements (0.10%)" in log
    assert log[-2] == "failed." and log[-1].startswith("[run] exit_status=255")
    (failed,) = attempts(project)
    assert (failed["case"], failed["step"], failed["status"]) == (CASE, "run", "NUMERIC")
    assert "failed." in failed["log_tail"]


def test_a_kernel_that_spoils_its_inputs_is_caught(project) -> None:
    _, log = run_step(project, "const_cast<uint16_t *>(in)[3] ^= 0x8000;")
    assert "Mismatches: 1 / 1024 elements (0.10%)" in log


def test_unwritten_elements_are_named(project) -> None:
    project.replace(SOURCE, "element < launches * TILE * HERD_X", "element < launches * TILE * HERD_X - 7")
    _, log = run_step(project)
    assert "[host] unwritten elements: 7 of 1024" in log
    assert "actual=0," in " ".join(log) or "actual=0.0," in " ".join(log)


def test_a_crash_is_tried_once_more_and_both_attempts_are_kept(project) -> None:
    finished, log = run_step(project, "raise(SIGSEGV);")
    assert finished.returncode == 0
    starts = [line for line in log if line.startswith("[run] case=")]
    assert [f"attempt={number} " in line for number, line in enumerate(starts, 1)] == [True, True]
    assert sum("exit_status=-11" in line and "state=signal" in line for line in log) == 2
    assert [failed["status"] for failed in attempts(project)] == ["RUNTIME", "RUNTIME"]


def test_a_pass_on_the_second_try_leaves_nothing_to_repeat(project) -> None:
    """Else the workflow would run the case again, though it passed."""
    finished, log = run_step(project, f"{FIRST_LAUNCH} abort();")
    assert finished.returncode == 0 and "passed on attempt 2" in finished.stdout
    assert log.count("PASS!") == 1 and any("state=signal" in line for line in log)
    assert attempts(project) == []


def test_a_hang_is_ended_by_the_time_limit(project) -> None:
    finished, log = run_step(project, "sleep(60);", "--time-limit", "1")
    assert finished.returncode == 0
    assert sum(line.endswith("state=timeout") for line in log) == 2
    assert {failed["status"] for failed in attempts(project)} == {"TIMEOUT"}


def test_a_case_that_was_not_built_is_not_run(project) -> None:
    project.replace(SOURCE, MARK, "not C++")
    finished, log = run_step(project)
    assert finished.returncode == 0
    assert log[-1].endswith("state=not_run")
    (failed,) = attempts(project)
    assert (failed["step"], failed["status"]) == ("compile", "COMPILE_WALL")


@pytest.mark.parametrize("damage", ["remove", "replace"])
def test_an_elf_that_is_not_the_record_s_is_refused(project, damage: str) -> None:
    run_step(project)
    (project.root / "case.log").unlink()
    elf = project.root / "build" / "kernel.elf"
    elf.unlink() if damage == "remove" else elf.write_bytes(b"\x7fELF")
    arguments = ("--build", "build", "--log", "case.log", "--attempts", "attempts")
    finished = project.step("run_kernel", CASE, *arguments)
    assert finished.returncode == 2
    assert len(finished.stderr.splitlines()) == 1 and "kernel.elf" in finished.stderr
    assert not (project.root / "case.log").exists()


def test_the_record_of_another_case_is_refused(project) -> None:
    run_step(project)
    finished = project.step(
        "run_kernel", "toy_copy_2048", "--build", "build", "--log", "x.log", "--attempts", "attempts"
    )
    assert finished.returncode == 2 and "toy_copy_1024" in finished.stderr
