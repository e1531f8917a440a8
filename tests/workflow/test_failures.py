"""Failing, and running again: the next run repeats just the failed cases, and stops once they pass."""

import json
from pathlib import Path

SOUND, BROKEN = "toy_copy_1024", "toy_copy_2048"
TARGETS = [f"results/{case}.row" for case in (SOUND, BROKEN)]


def verdict(project, case: str) -> dict:
    return json.loads(project.text(f"results/{case}.verdict"))


def attempts(project, case: str) -> int:
    return len(list((project.root / "results" / "attempts" / case).glob("*.json")))


def jobs_of(case: str, *steps: str) -> list[str]:
    return sorted(f"{step} {case}" for step in steps)


def test_a_failed_case_and_only_it_runs_again_until_it_passes(project, planned) -> None:
    run = project.snakemake(*TARGETS, environment={"TOY_BREAKS": "2048"})
    assert run.returncode == 0, run.stderr  # a failure is data
    assert verdict(project, SOUND)["verdict"] == "PASS"
    assert verdict(project, BROKEN)["status"] == "NUMERIC"
    again = jobs_of(BROKEN, "Run", "Judge", "Record")
    dry = project.snakemake("-n", *TARGETS)
    assert planned(dry) == again and "Params have changed since last execution" in dry.stdout
    assert project.snakemake(*TARGETS, environment={"TOY_BREAKS": "2048"}).returncode == 0
    assert (attempts(project, SOUND), attempts(project, BROKEN)) == (0, 2)
    assert project.snakemake(*TARGETS).returncode == 0
    assert verdict(project, BROKEN)["verdict"] == "PASS"
    assert planned(project.snakemake("-n", *TARGETS)) == []


def test_a_failed_build_is_built_again(project, planned, tmp_path: Path) -> None:
    """A compiler that fails by chance, with no file changed: the next run asks it again."""
    compiler = tmp_path / "g++-at-times"
    compiler.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && exec g++ --version\n'
        '[ -e "$FULL_DISK" ] && echo "fatal error: no space left on device" && exit 1\nexec g++ "$@"\n'
    )
    compiler.chmod(0o755)
    full_disk = tmp_path / "full"
    full_disk.touch()
    environment = {"CXX": str(compiler), "FULL_DISK": str(full_disk)}
    assert project.snakemake(TARGETS[0], environment=environment).returncode == 0
    assert "no space left" in verdict(project, SOUND)["reason"]
    assert planned(project.snakemake("-n", TARGETS[0], environment=environment)) == jobs_of(
        SOUND, "Compile", "Run", "Judge", "Record"
    )
    full_disk.unlink()
    assert project.snakemake(TARGETS[0], environment=environment).returncode == 0
    assert verdict(project, SOUND)["verdict"] == "PASS"


def test_a_pass_on_the_second_try_is_flagged_and_not_repeated(project, planned) -> None:
    crash_once = 'if (mkdir("met", 0777) == 0) abort();'
    project.replace("kernels/toy_copy/toy_copy.cc", "// BEFORE THE COPY", crash_once)
    assert project.snakemake(TARGETS[0]).returncode == 0
    passed = verdict(project, SOUND)
    assert (passed["verdict"], passed["evidence"]["attempts"]) == ("PASS", 2)
    assert "attempt 2" in passed["reason"]
    assert planned(project.snakemake("-n", TARGETS[0])) == []


def test_a_bug_of_ours_looks_like_a_crash_and_leaves_nothing(project) -> None:
    project.replace(
        "scripts/judge_verdict.py",
        "write_text(options.output,",
        "raise OSError('disk')\n    write_text(options.output,",
    )
    run = project.snakemake(*TARGETS)
    assert run.returncode == 1
    assert not list((project.root / "results").glob("*.verdict"))
    # keep-going: the other case got as far as it could too.
    assert all((project.root / "results" / f"{case}.log").exists() for case in (SOUND, BROKEN))
    assert "OSError: disk" in project.text(f"results/logs/judge_verdict/{SOUND}.log")
