"""The lock that everybody who touches the NPU takes: flock on one file, as flock(1) takes it.

Only this outer lock is ours. The harness takes its own inner one, $TMPDIR/npu.lock, while it loads and runs;
whoever held that around a harness would wait for himself.
"""

import fcntl
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from scripts.errors import InputError

DEFAULT_LOCK = Path("/tmp/mlir-air-npu.lock")
WAIT_SECONDS = 1800.0  # upstream's contract too
_INNER_NAME = "npu.lock"
_PROC_LOCKS = Path("/proc/locks")
_LONGEST_COMMAND = 120


class LockBusy(Exception):
    """The lock was not to be had in time; the message names who holds it."""


@dataclass(frozen=True)
class HeldLock:
    """The lock, while it is held."""

    descriptor: int  # of the file; a child that inherits it keeps the device locked for as long as it lives
    waited: float  # seconds until it was had
    since: float  # time.monotonic() when it was had

    def held(self) -> float:
        """Seconds since it was had."""
        return time.monotonic() - self.since


def checked_lock(path: Path) -> Path:
    """`path`, made absolute. Raises InputError for the harness's own inner lock, or a missing folder."""
    absolute = Path(os.path.abspath(path))
    inner = {Path(folder, _INNER_NAME) for folder in (tempfile.gettempdir(), "/tmp")}
    if absolute in inner:
        raise InputError(
            f"lock: found {path}, which the harness takes by itself while it runs: it would wait for itself; "
            f"the outer lock is {DEFAULT_LOCK}"
        )
    if not absolute.parent.is_dir():
        raise InputError(f"lock: found {path}; a file in a folder that exists is needed")
    return absolute


@contextmanager
def device_lock(path: Path, wait: float) -> Iterator[HeldLock]:
    """Hold the lock `path`, exclusively; wait at most `wait` seconds for it, in the kernel's queue.

    Raises LockBusy when somebody else has it for longer, InputError when the file can't be opened. Uses
    SIGALRM, so it is for the main thread.
    """
    descriptor = _opened(path)
    try:
        begin = time.monotonic()
        if not _locked(descriptor, wait):
            raise LockBusy(f"{path} was not to be had within {wait:g} s; {holder_text(path)}")
        now = time.monotonic()
        yield HeldLock(descriptor, now - begin, now)
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    """The file, made if it is missing. Read-only: somebody else's is locked as well as one of our own."""
    try:
        with suppress(FileNotFoundError):
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        with suppress(PermissionError):
            os.fchmod(descriptor, 0o666)  # whatever the umask: the other users lock it too
        return descriptor
    except OSError as error:
        raise InputError(f"lock: {path} cannot be opened: {error.strerror}") from None


def _locked(descriptor: int, wait: float) -> bool:
    """Whether the lock was had in time. It queues, as polling would lose to those who do."""
    with suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    if wait <= 0:
        return False
    before = signal.signal(signal.SIGALRM, _too_late)
    signal.setitimer(signal.ITIMER_REAL, wait)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return True
    except TimeoutError:
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _too_late(signal_number: int, frame: object) -> None:
    raise TimeoutError


def is_free(path: Path) -> bool:
    """Whether nobody holds the lock right now. Makes no file."""
    if not path.exists():
        return True
    descriptor = _opened(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)


def holder_text(path: Path) -> str:
    """Who holds the lock, for a person."""
    holders = holders_of(path)
    return f"held by {'; '.join(holders)}" if holders else "its holder is not to be seen from here"


def holders_of(path: Path) -> list[str]:
    """Processes that hold the lock as the kernel lists them, "pid 4711 (python run.py) of user anna"."""
    try:
        status = path.stat()
        lines = _PROC_LOCKS.read_text(encoding="ascii").splitlines()
    except OSError:
        return []
    # "1: FLOCK  ADVISORY  WRITE 4711 00:2e:12345 0 EOF"; one that waits has "->" in the second place.
    # The device in it is not always the one that stat gives (btrfs, overlays), the inode is.
    fields = [line.split() for line in lines]
    flocks = [field for field in fields if len(field) > 5 and field[1] == "FLOCK"]
    pids = [int(field[4]) for field in flocks if field[5].endswith(f":{status.st_ino}")]
    living = [pid for pid in pids if Path("/proc", str(pid)).is_dir()]
    # The one that took it may have died, with a child left that inherited it.
    return [_process_text(pid) for pid in living or (_users_of(path) if pids else [])]


def _users_of(path: Path) -> list[int]:
    """Processes that have the file open, among those that we may look at."""
    users = []
    for folder in Path("/proc").glob("[0-9]*/fd"):
        with suppress(OSError):
            if any(os.path.samefile(link, path) for link in folder.iterdir() if link.exists()):
                users.append(int(folder.parent.name))
    return [pid for pid in users if pid != os.getpid()]


def _process_text(pid: int) -> str:
    command, user = "", ""
    with suppress(OSError, KeyError):
        command = (
            Path("/proc", str(pid), "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        )
        user = f" of user {Path('/proc', str(pid)).owner()}"
    shown = " ".join(command.split())[:_LONGEST_COMMAND]
    return f"pid {pid}{f' ({shown})' if shown else ''}{user}"
