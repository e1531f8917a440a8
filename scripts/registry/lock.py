"""One writer at a time in a registry folder."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.errors import InputError
from scripts.registry.transaction import recover

WAIT_SECONDS = 60.0
"""An append takes milliseconds, so a lock that is held this long belongs to a stopped process."""
_POLL_SECONDS = 0.01


@contextmanager
def registry_lock(root: Path, wait_seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold an exclusive `flock` on `<root>/.lock`; the kernel frees it when the process dies.

    Creates the folder if it is missing, and finishes what a killed writer left in it. Readers need no lock:
    files are replaced atomically.
    Raises InputError if the folder cannot be written or the lock is not free in `wait_seconds`.
    """
    path = root / ".lock"
    try:
        root.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise InputError(f"{root}: cannot be written ({error.strerror}); allowed: a folder") from None
    with _held(handle, path, wait_seconds):
        recover(root)
        yield


@contextmanager
def checkout_lock(root: Path, wait_seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """The same for a folder of somebody's checkout: the lock is on the folder, so no file of ours appears.

    Raises InputError if there is no such folder or the lock is not free in `wait_seconds`.
    """
    try:
        handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise InputError(f"{root}: cannot be opened ({error.strerror}); allowed: a folder") from None
    with _held(handle, root, wait_seconds):
        recover(root)
        yield


@contextmanager
def _held(handle: int, path: Path, wait_seconds: float) -> Iterator[None]:
    try:
        _acquire(handle, path, wait_seconds)
        yield
    finally:
        os.close(handle)


def _acquire(handle: int, path: Path, wait_seconds: float) -> None:
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise InputError(
                    f"{path}: held by another process for more than {wait_seconds:g} s; "
                    "let it finish or end it"
                ) from None
            time.sleep(_POLL_SECONDS)
