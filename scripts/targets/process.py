"""Running one command with a time limit, and leaving nothing of it behind."""

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parents[2]
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def project_path(path: Path) -> str:
    """`path` as commands name it: they run from the project's root, and records hold no other folder."""
    return os.path.relpath(path, PROJECT_ROOT)


@dataclass(frozen=True)
class Finished:
    """A command that has ended."""

    exit_status: int  # of the process; -n when signal n ended it
    state: str  # "ok" (ended by itself), "timeout" or "signal"
    output: str  # what it printed, stdout and stderr as they came
    started: str  # UTC, ISO 8601 with Z
    seconds: float  # wall time


def utc_now() -> str:
    """The time as evidence holds it: UTC, ISO 8601, whole seconds, `Z`."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def run_limited(
    command: Sequence[str],
    time_limit: float,
    environment: Mapping[str, str] | None = None,
    inherited: Sequence[int] = (),
) -> Finished:
    """Run `command` from the project's root, in its own process group, at most `time_limit` seconds.

    `environment` is added to this process's own; the command inherits the descriptors `inherited`. The whole
    group is killed at the limit, at the end, and if this process is interrupted; on Linux the command also
    dies with this process.
    Raises OSError if the command can't be started.
    """
    started, begin = utc_now(), time.monotonic()
    # A file, not a pipe: a grandchild that keeps a pipe open would outlast the time limit.
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=PROJECT_ROOT,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
            pass_fds=inherited,
            preexec_fn=_die_with_parent if _LIBC else None,  # noqa: PLW1509 (one thread so far)
        )
        overdue = threading.Event()
        # Not `process.wait(time_limit)`, which looks only every 50 ms whether the process has ended.
        limit = threading.Timer(time_limit, lambda: (overdue.set(), _kill_group(process)))
        limit.start()
        try:
            process.wait()
        finally:
            limit.cancel()
            _kill_group(process)
            process.wait()
        output.seek(0)
        text = output.read().decode("utf-8", errors="replace")
    state = "timeout" if overdue.is_set() else "signal" if process.returncode < 0 else "ok"
    return Finished(process.returncode, state, text, started, time.monotonic() - begin)


def _die_with_parent() -> None:
    """Ask Linux to kill this process when its parent dies, so that `kill -9` of a step leaves no orphan."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill whatever is left of the process's group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
