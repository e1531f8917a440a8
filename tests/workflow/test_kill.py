"""kill -9 at the worst moment: the next run resumes by itself, and nothing is half-written."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CASES = ("toy_copy_1024", "toy_copy_2048")
TARGETS = [f"results/{case}.row" for case in CASES]


def start(project, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    """Start Snakemake in a process group of its own."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.Popen(
        [sys.executable, "-m", "snakemake", *arguments],
        cwd=project.root,
        env={**os.environ, "PATH": path, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def wait_for(condition, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to the point where it is to be killed"
        time.sleep(0.02)


def device_processes(project) -> list[int]:
    """Device processes that run in the project."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            in_project = entry.name.isdigit() and Path(os.readlink(entry / "cwd")) == project.root
            if in_project and b"host_device" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_killed_while_a_kernel_runs(project, planned) -> None:
    assert project.snakemake(TARGETS[0]).returncode == 0
    snakemake = start(project, *TARGETS, TOY_SLEEPS="2048")
    wait_for(lambda: device_processes(project))
    os.killpg(snakemake.pid, signal.SIGKILL)
    snakemake.wait()
    wait_for(lambda: not device_processes(project))  # the hung kernel died with the step
    assert not (project.root / f"results/{CASES[1]}.log").exists()
    jobs = planned(project.snakemake("-n", *TARGETS))
    assert jobs == [f"{step} {CASES[1]}" for step in ("Judge", "Record", "Run")]
    resumed = project.snakemake(*TARGETS)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    for case in CASES:
        assert json.loads(project.text(f"results/{case}.verdict"))["verdict"] == "PASS"
    assert planned(project.snakemake("-n", *TARGETS)) == []


@pytest.mark.parametrize("delay", [0.2, 1.2])
def test_killed_at_any_time(project, planned, delay: float) -> None:
    snakemake = start(project, TARGETS[0])
    wait_for((project.root / ".snakemake" / "locks").is_dir)
    time.sleep(delay)
    os.killpg(snakemake.pid, signal.SIGKILL)
    snakemake.wait()
    for path in (project.root / "results").rglob("*"):
        if path.suffix in (".json", ".verdict", ".row") and path.is_file() and not path.name.startswith("."):
            json.loads(path.read_text())
    assert project.snakemake(TARGETS[0]).returncode == 0
    assert planned(project.snakemake("-n", TARGETS[0])) == []


def test_a_second_snakemake_is_refused_while_the_first_is_at_work(project) -> None:
    first = start(project, *TARGETS, TOY_SLEEPS="1024")
    try:
        wait_for(lambda: any((project.root / ".snakemake" / "locks").glob("*.lock")))
        second = project.snakemake(*TARGETS)
        assert second.returncode == 1
        assert "lock" in second.stderr.lower() + second.stdout.lower()
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
