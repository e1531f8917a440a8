"""One case on the device: lock, canary, runs that are compared, timing, and the canary again after an error.

Everything between taking the lock and giving it back is device work; what could be done before is done.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from scripts.cases.case import Case
from scripts.precision.harness_log import FAIL_LINE
from scripts.precision.judge import judge
from scripts.precision.verdict import Status
from scripts.targets.build_folder import file_sha256
from scripts.targets.npu2.adapter import ARTIFACTS
from scripts.targets.npu2.built_case import BuiltCase
from scripts.targets.npu2.device import find_device
from scripts.targets.npu2.device_lock import HeldLock, LockBusy, device_lock
from scripts.targets.npu2.device_state import read_state, write_state
from scripts.targets.process import Finished, run_limited, utc_now

# Where the split is not possible a run compiles too, which alone may take this long.
_COMPILE_SECONDS = 600.0
_DEVICE_TROUBLE = (Status.RUNTIME, Status.TIMEOUT)


@dataclass(frozen=True)
class DeviceOptions:
    """How the device is used."""

    lock: Path  # file of the outer lock, absolute
    lock_wait: float  # seconds to wait for it
    repeats: int  # runs of each ELF, whose figures are compared
    time_limit: float  # seconds of one run
    canary: BuiltCase  # a small known-good case
    state: Path  # file with what this run of the workflow knows of the device


class DeviceRunner:
    """Runs one case, while the device is ours. `blocked` says why it is not."""

    def __init__(
        self, subject: BuiltCase, options: DeviceOptions, lock: HeldLock | None, blocked: str | None = None
    ) -> None:
        self._subject, self._options, self._lock, self.blocked = subject, options, lock, blocked
        self._notes: list[str] = []
        if lock is not None:
            self._ask_state()

    @property
    def usable(self) -> bool:
        """Whether another attempt can be made."""
        return self.blocked is None

    def attempt(self, number: int) -> str:
        """The log of one attempt; of one that started nothing, when the device is not to be had."""
        case, build = self._subject.case, self._subject.build
        start = f"[run] case={case.name} target={build.target} attempt={number} started={utc_now()}"
        if self.blocked is not None:
            return _text(
                start, f"[device] not run: {self.blocked}", "[run] exit_status=1 seconds=0.000 state=not_run"
            )
        self._remember(healthy=False, last_case=case.name)
        lines, decided = self._runs()
        head = [start, f"[run] command: {self._subject.shown()}", *self._head()]
        verdict = judge(case, build, _text(*head, *lines, _end(decided)))
        trouble = verdict.status in _DEVICE_TROUBLE or self._timing_failed(lines)
        lines += self._after_trouble(case, f"{verdict.status}") if trouble else []
        self._remember(healthy=self.usable)
        return _text(*head, *lines, f"[lock] held={self._lock.held():.3f} s", _end(decided))

    def _ask_state(self) -> None:
        """Find out whether the device is sound, by a canary if nobody in this session has done so."""
        state = read_state(self._options.state)
        if state.wedged:
            self.blocked = state.wedged
        elif not state.healthy:
            before = f"; last on the device: {state.last_case}" if state.last_case else ""
            failure = self._canary_failure()
            name = self._options.canary.case.name
            if failure is None:
                self._notes = [f"[canary] passed before the first case: {name}"]
                self._remember(healthy=True)
            else:
                self.blocked = f"the canary {name} failed before the case: {failure}{before}"
                self._remember(healthy=False, wedged=f"device wedged{before}; {self.blocked}")

    def _after_trouble(self, case: Case, status: str) -> list[str]:
        """The canary once more: a device that does not pass it runs nothing else."""
        failure, name = self._canary_failure(), self._options.canary.case.name
        if failure is None:
            return [f"[canary] passed after this case: {name}"]
        self.blocked = (
            f"device wedged by {case.name} ({status}): the canary {name} failed after it: {failure}; "
            "reset the device, then run again"
        )
        self._remember(healthy=False, wedged=self.blocked)
        return [f"[canary] failed after this case: {name}: {failure}"]

    def _runs(self) -> tuple[list[str], Finished]:
        """The lines of every run, and the run that decides: the first that failed, else the last one."""
        subject = self._subject
        command, repeats = subject.command(), self._options.repeats if subject.build.split else 1
        lines: list[str] = []
        decided: Finished | None = None
        for number in range(1, repeats + 1):
            finished = self._run(command, 0.0 if subject.build.split else _COMPILE_SECONDS)
            lines += [*finished.output.splitlines(), f"[repeat] {number} of {repeats}: {_how(finished)}"]
            decided = finished if decided is None or decided.exit_status == 0 else decided
            if _is_trouble(finished):
                break
        timing = subject.timing_command()
        if timing is not None and decided.exit_status == 0:
            finished = self._run(timing, 0.0)
            lines += [*finished.output.splitlines(), f"[timing] {_how(finished)}"]
        return [*lines, *_made_by_the_run(subject)], decided

    def _run(self, command: list[str], more_seconds: float) -> Finished:
        """One process on the device. It inherits the lock: should this step be killed, it still holds it."""
        return run_limited(
            command, self._options.time_limit + more_seconds, inherited=(self._lock.descriptor,)
        )

    def _canary_failure(self) -> str | None:
        """Why the canary did not pass; None when it did."""
        canary = self._options.canary
        if canary.build.status != "OK":
            return f"it could not be built: {canary.build.status}: {canary.build.reason}"
        finished = self._run(canary.command(), 0.0 if canary.build.split else _COMPILE_SECONDS)
        verdict = judge(canary.case, canary.build, _text(*finished.output.splitlines(), _end(finished)))
        return None if verdict.passed else f"{verdict.status}: {verdict.reason}"

    def _timing_failed(self, lines: list[str]) -> bool:
        return any(line.startswith("[timing] ") and "exit_status=0 " not in line for line in lines)

    def _head(self) -> list[str]:
        """Lines that say what the device is, and how it was got."""
        build = self._subject.build
        split = [] if build.split else [f"[split] compiled and run in one process: {build.split_reason}"]
        device = [f"[device] {find_device().line()}", f"[lock] waited={self._lock.waited:.3f} s"]
        return [*device, *self._notes, *split]

    def _remember(self, **changes: object) -> None:
        state = read_state(self._options.state)
        write_state(self._options.state, replace(state, **changes))


@contextmanager
def device_session(subject: BuiltCase, options: DeviceOptions) -> Iterator[DeviceRunner]:
    """The runner of a case, with the device's lock held where it is to be had.

    Raises InputError when an artifact is missing or the lock's file can't be opened.
    """
    subject.check_artifacts()
    blocked = _without_the_lock(options)
    if blocked is not None:
        yield DeviceRunner(subject, options, None, blocked)
        return
    try:
        with device_lock(options.lock, options.lock_wait) as lock:
            yield DeviceRunner(subject, options, lock)
    except LockBusy as busy:
        yield DeviceRunner(subject, options, None, str(busy))


def _without_the_lock(options: DeviceOptions) -> str | None:
    """What is known to keep the case from running without asking for the device."""
    if find_device().name is None:
        return "no NPU: there is neither a device node under /dev/accel nor one that xrt-smi reports"
    return read_state(options.state).wedged


def _made_by_the_run(subject: BuiltCase) -> list[str]:
    """What a run that compiled too has left in its folder."""
    if subject.build.split:
        return []
    files = [subject.harness.build_dir / name for name in ARTIFACTS]
    return [f"[artifact] {file.name} sha256={file_sha256(file)}" for file in files if file.is_file()]


def _is_trouble(finished: Finished) -> bool:
    """Whether it ended without the harness having judged the numbers: then there is nothing to compare."""
    return finished.state != "ok" or (
        finished.exit_status != 0 and FAIL_LINE not in finished.output.splitlines()
    )


def _how(finished: Finished) -> str:
    return f"exit_status={finished.exit_status} seconds={finished.seconds:.3f} state={finished.state}"


def _end(finished: Finished) -> str:
    return f"[run] {_how(finished)}"


def _text(*lines: str) -> str:
    return "\n".join(lines) + "\n"
