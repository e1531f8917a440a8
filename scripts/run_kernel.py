"""Step run: run the ELF of one case in a process of its own, and keep what it printed as the case's log.

A run that fails is recorded, not raised: in the log, and in <attempts>/<n>.json for the next run to see.
"""

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol

from scripts.atomic import write_text
from scripts.cases.case import Case, parse_case
from scripts.errors import InputError, exit_status
from scripts.precision.build_record import BuildRecord, read_build
from scripts.precision.judge import judge
from scripts.precision.verdict import Status, Verdict
from scripts.targets.attempts import FailedAttempt, log_tail, record_attempt
from scripts.targets.build_folder import RECORD_NAME, checked_elf
from scripts.targets.host import HostTarget
from scripts.targets.process import run_limited, utc_now

TIME_LIMIT_SECONDS = 600.0
# A hang or a crash can be chance, wrong numbers cannot: one more try, no more.
_MAY_BE_CHANCE = (Status.TIMEOUT, Status.RUNTIME)
_TRIES = 2
# Loaded by name, when asked for: the host target's cases do not depend on it.
_DEVICE_MODULE = "scripts.targets.npu2.run_options"


@dataclass(frozen=True)
class Attempt:
    """One attempt, judged by itself."""

    log: str  # its lines, from the `[run] case=` one to the `[run] exit_status=` one
    verdict: Verdict  # on these lines alone


class Runner(Protocol):
    """What runs a case once, and again."""

    @property
    def usable(self) -> bool:
        """Whether another attempt can be made."""

    def attempt(self, number: int) -> str:
        """Run the case; its log, from the `[run] case=` line to the `[run] exit_status=` one."""


@dataclass(frozen=True)
class HostRunner:
    """Runs the ELF in a process of its own on this machine."""

    case: Case
    elf: Path
    threads: int
    time_limit: float  # seconds
    usable: bool = True  # the host is always there

    def attempt(self, number: int) -> str:
        """The device process's lines, between those that say how it was started and how it ended."""
        target = HostTarget()
        command = target.run_command(self.case.name, self.elf, self.threads)
        finished = run_limited(command, self.time_limit, target.run_environment(self.threads))
        return _attempt_log(
            f"[run] case={self.case.name} target={target.name} attempt={number} started={finished.started}",
            f"[run] command: {shlex.join(command)}",
            *finished.output.splitlines(),
            f"[run] exit_status={finished.exit_status} seconds={finished.seconds:.3f} state={finished.state}",
        )


def run_attempts(case: Case, build: BuildRecord, runner: Runner) -> list[Attempt]:
    """Run the case, once more where the failure may be chance; at least one attempt, oldest first.

    Raises OSError if a process can't be started.
    """
    attempts: list[Attempt] = []
    while len(attempts) < _TRIES and (
        not attempts or (runner.usable and attempts[-1].verdict.status in _MAY_BE_CHANCE)
    ):
        log = runner.attempt(len(attempts) + 1)
        attempts.append(Attempt(log, judge(case, build, log)))
    return attempts


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


@contextmanager
def _runner(case: Case, build: BuildRecord, record: Path, options: argparse.Namespace) -> Iterator[Runner]:
    """The runner of the build's target. Raises InputError when what it needs is missing."""
    if build.target == HostTarget.name:
        elf = checked_elf(record.parent, build.elf_sha256)
        yield HostRunner(case, elf, options.threads, options.time_limit)
        return
    with import_module(_DEVICE_MODULE).device_runner(record, options) as runner:
        yield runner


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.run_kernel", description=__doc__)
    parser.add_argument("case", metavar="CASE", help="<kernel>_<shape>, e.g. gemm_2048x2048x8192")
    parser.add_argument("--build", type=Path, help="results/build/<case>, or its build.json")
    parser.add_argument("--log", type=Path, help="results/<case>.log")
    parser.add_argument("--attempts", type=Path, help="results/attempts/<case>")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of the run (default 1)")
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT_SECONDS, metavar="S", help="seconds")
    npu2 = parser.add_argument_group("on NPU2")
    npu2.add_argument("--target", help="with --print: npu2; else it has to be the build's")
    npu2.add_argument("--print", action="store_true", help="print the case's commands and run nothing")
    npu2.add_argument("--mlir-air", type=Path, metavar="DIR", help="checkout (default: $MLIR_AIR_ROOT)")
    npu2.add_argument("--repeats", type=int, default=2, metavar="N", help="runs of one ELF (default 2)")
    npu2.add_argument("--lock", type=Path, metavar="FILE", help="lock of the device (default: upstream's)")
    npu2.add_argument("--lock-wait", type=float, metavar="S", help="seconds to wait for it (default 1800)")
    npu2.add_argument(
        "--canary", type=Path, nargs="?", metavar="FILE", help="build.json of a small known-good case"
    )
    npu2.add_argument("--device-state", type=Path, metavar="FILE", help="what this run knows of the device")
    options = parser.parse_args()
    if not options.print and None in (options.build, options.log, options.attempts):
        parser.error("--build, --log and --attempts are needed, or --print")
    return options


def _print_commands(case: Case, options: argparse.Namespace) -> None:
    if options.target != "npu2":
        raise InputError(f"--target: found {options.target!r}; --print is for npu2, whose commands it shows")
    print("\n".join(import_module(_DEVICE_MODULE).printed_commands(case, options)))


def main() -> None:
    """Command line."""
    options = _arguments()
    case = parse_case(options.case)
    if options.print:
        _print_commands(case, options)
        return
    record = options.build / RECORD_NAME if options.build.is_dir() else options.build
    build = read_build(record)
    _check_build(case, build, record, options.target)
    if build.status == "OK":
        with _runner(case, build, record, options) as runner:
            attempts, step = run_attempts(case, build, runner), "run"
    else:
        attempts, step = [unbuilt_attempt(case, build)], "compile"
    log = "".join(attempt.log for attempt in attempts)
    write_text(options.log, log)
    record_failure(options.attempts, attempts, step)
    verdict = judge(case, build, log)
    print(f"{case.name}: {verdict.status}: {verdict.reason}")


def _check_build(case: Case, build: BuildRecord, record: Path, target: str | None) -> None:
    """Raises InputError when the build is of another case or target."""
    if build.case != case.name:
        raise InputError(f"{record}: field case is {build.case!r}; allowed: {case.name!r}")
    if target not in (None, build.target):
        raise InputError(f"--target: found {target!r}, but {record} is of target {build.target!r}")


if __name__ == "__main__":
    sys.exit(exit_status(main))
