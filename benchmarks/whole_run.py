"""What a whole `snakemake all` costs: wall time, the workflow's own share of it, and memory.

`python -m benchmarks.whole_run` copies the project to a temporary folder and runs the configured model there,
with no earlier results. Compiler and kernel times are read in the records of that run.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from scripts.errors import InputError, exit_status

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class WholeRun:
    """One run from nothing."""

    cases: int
    wall_seconds: float
    build_seconds: float  # sum over all builds, which share the cores
    run_seconds: float  # sum over all runs, which take turns
    largest_process_mib: float  # peak resident memory of the largest process

    def own_seconds_per_case(self, cores: int) -> float:
        """Wall time spent in neither compiler nor kernel process, a case."""
        return (self.wall_seconds - self.run_seconds - self.build_seconds / cores) / self.cases


def copy_project(target: Path) -> None:
    """The project's files as they are now. Raises InputError outside of a git checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        raise InputError(f"{ROOT}: git ls-files failed; a git checkout is needed")
    for name in filter(None, listed.stdout.split("\0")):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name)


def measure(project: Path) -> WholeRun:
    """Run `snakemake all` in `project`. Raises InputError when it fails."""
    begin = time.perf_counter()
    finished = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "all", "all"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    wall = time.perf_counter() - begin
    if finished.returncode != 0:
        raise InputError(f"snakemake all: exit status {finished.returncode}: {finished.stderr[-500:]}")
    builds = [json.loads(path.read_text()) for path in project.glob("results/build/*/build.json")]
    verdicts = [json.loads(path.read_text()) for path in project.glob("results/*.verdict")]
    return WholeRun(
        cases=len(verdicts),
        wall_seconds=wall,
        build_seconds=sum(build["seconds"] for build in builds),
        run_seconds=sum(verdict["evidence"]["seconds"] for verdict in verdicts),
        largest_process_mib=resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
    )


def main() -> None:
    """Command line."""
    argparse.ArgumentParser(prog="python -m benchmarks.whole_run", description=__doc__).parse_args()
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        copy_project(Path(folder))
        run = measure(Path(folder))
    print(f"cases                            {run.cases}")
    print(f"wall time                        {run.wall_seconds:.1f} s on {cores} cores")
    print(f"compiler, summed                 {run.build_seconds:.1f} s")
    print(f"kernel processes, summed         {run.run_seconds:.1f} s")
    print(f"the workflow's own, per case     {run.own_seconds_per_case(cores):.2f} s")
    print(f"largest process                  {run.largest_process_mib:.0f} MiB")


if __name__ == "__main__":
    sys.exit(exit_status(main))
