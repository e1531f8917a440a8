"""Step run: run the ELF of one case in a process of its own, and keep what it printed as the case's log.

A run that fails is recorded, not raised: in the log, and in <attempts>/<n>.json for the next run to see.
"""

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.atomic import write_text
from scripts.cases.case import Case, parse_case
from scripts.errors import InputError, exit_status
from scripts.precision.build_record import BuildRecord, read_build
from scripts.precision.judge import judge
from scripts.precision.verdict import Status, Verdict
from scripts.targets.attempts import FailedAttempt, log_tail, record_attempt
from scripts.targets.build_folder import RECORD_NAME, checked_elf
from scripts.targets.interface import Target, target_named
from scripts.targets.process import run_limited, utc_now

TIME_LIMIT_SECONDS = 600.0
# A hang or a crash can be chance, wrong numbers cannot: one more try, no more.
_MAY_BE_CHANCE = (Status.TIMEOUT, Status.RUNTIME)
_TRIES = 2


@dataclass(frozen=True)
class Attempt:
    """One attempt, judged by itself."""

    log: str  # its lines, from the `[run] case=` one to the `[run] exit_status=` one
    verdict: Verdict  # on these lines alone


def run_attempts(case: Case, build: BuildRecord, elf: Path, threads: int, time_limit: float) -> list[Attempt]:
    """Run `elf`, once more where the failure may be chance; at least one attempt, oldest first.

    Raises InputError for an unknown target, OSError if the process can't be started.
    """
    target = target_named(build.target)
    attempts: list[Attempt] = []
    while len(attempts) < _TRIES and (not attempts or attempts[-1].verdict.status in _MAY_BE_CHANCE):
        log = _device_log(case, target, elf, len(attempts) + 1, threads, time_limit)
        attempts.append(Attempt(log, judge(case, build, log)))
    return attempts


def _device_log(case: Case, target: Target, elf: Path, number: int, threads: int, time_limit: float) -> str:
    """Run the device process once; its lines between those that say how it was started and how it ended."""
    command = target.run_command(case.name, elf, threads)
    finished = run_limited(command, time_limit, target.run_environment(threads))
    return _attempt_log(
        f"[run] case={case.name} target={target.name} attempt={number} started={finished.started}",
        f"[run] command: {shlex.join(command)}",
        *finished.output.splitlines(),
        f"[run] exit_status={finished.exit_status} seconds={finished.seconds:.3f} state={finished.state}",
    )


def unbuilt_attempt(case: Case, build: BuildRecord) -> Attempt:
    """The one attempt of a case that has no ELF to run: why it has none."""
    kind = "wall" if build.status == "COMPILE_WALL" else "error"
    log = _attempt_log(
        f"[run] case={case.name} target={build.target} attempt=1 started={utc_now()}",
        f"[compile] {kind}: {build.reason}",
        "[run] exit_status=1 seconds=0.000 state=not_run",
    )
    return Attempt(log, judge(case, build, log))


def _attempt_log(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def record_failure(folder: Path, attempts: Sequence[Attempt], step: str) -> None:
    """Keep every attempt of a run that failed in the end; a pass on a second try leaves nothing to repeat."""
    if attempts[-1].verdict.passed:
        return
    for attempt in attempts:
        verdict = attempt.verdict
        started = verdict.evidence.started or utc_now()
        record_attempt(
            folder,
            FailedAttempt(verdict.case, step, verdict.status, verdict.reason, started, log_tail(attempt.log)),
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.run_kernel", description=__doc__)
    parser.add_argument("case", metavar="CASE", help="<kernel>_<shape>, e.g. gemm_2048x2048x8192")
    parser.add_argument("--build", type=Path, required=True, help="results/build/<case>, or its build.json")
    parser.add_argument("--log", type=Path, required=True, help="results/<case>.log")
    parser.add_argument("--attempts", type=Path, required=True, help="results/attempts/<case>")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of the run (default 1)")
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT_SECONDS, metavar="S", help="seconds")
    return parser.parse_args()


def main() -> None:
    """Command line."""
    options = _arguments()
    case = parse_case(options.case)
    record = options.build / RECORD_NAME if options.build.is_dir() else options.build
    build = read_build(record)
    if build.case != case.name:
        raise InputError(f"{record}: field case is {build.case!r}; allowed: {case.name!r}")
    if build.status == "OK":
        elf = checked_elf(record.parent, build.elf_sha256)
        attempts, step = run_attempts(case, build, elf, options.threads, options.time_limit), "run"
    else:
        attempts, step = [unbuilt_attempt(case, build)], "compile"
    log = "".join(attempt.log for attempt in attempts)
    write_text(options.log, log)
    record_failure(options.attempts, attempts, step)
    verdict = judge(case, build, log)
    print(f"{case.name}: {verdict.status}: {verdict.reason}")


if __name__ == "__main__":
    sys.exit(exit_status(main))
