"""kill -9 at the worst moment: the next run resumes by itself, and nothing is half-written."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CASE = "toy_copy_1024"
TARGET = f"results/{CASE}.row"


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
    snakemake = start(project, TARGET, TOY_SLEEPS="1024")
    wait_for(lambda: device_processes(project))
    os.killpg(snakemake.pid, signal.SIGKILL)
    snakemake.wait()
    wait_for(lambda: not device_processes(project))  # the hung kernel died with the step
    assert not (project.root / f"results/{CASE}.log").exists()
    jobs = planned(project.snakemake("-n", TARGET))
    assert jobs == [f"{step} {CASE}" for step in ("Judge", "Record", "Run")]  # what was built stays built
    resume(project)


@pytest.mark.parametrize("delay", [0.2, 1.2])
def test_killed_at_any_time(project, delay: float) -> None:
    snakemake = start(project, TARGET)
    wait_for((project.root / ".snakemake" / "locks").is_dir)
    time.sleep(delay)
    os.killpg(snakemake.pid, signal.SIGKILL)
    snakemake.wait()
    for path in (project.root / "results").rglob("*"):
        if path.suffix in (".json", ".verdict", ".row") and path.is_file() and not path.name.startswith("."):
            json.loads(path.read_text())
    resume(project)


def resume(project) -> None:
    """Run again, with no option and no unlocking: the case ends as if nothing had happened."""
    resumed = project.snakemake(TARGET)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert json.loads(project.text(f"results/{CASE}.verdict"))["verdict"] == "PASS"
    assert json.loads(project.text(f"results/{CASE}.row"))["appended"]


def test_a_second_snakemake_is_refused_while_the_first_is_at_work(project) -> None:
    first = start(project, TARGET, TOY_SLEEPS="1024")
    try:
        wait_for(lambda: any((project.root / ".snakemake" / "locks").glob("*.lock")))
        second = project.snakemake(TARGET)
        assert second.returncode == 1
        assert "lock" in second.stderr.lower() + second.stdout.lower()
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
