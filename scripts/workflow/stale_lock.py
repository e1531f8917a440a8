"""Telling the lock of a Snakemake that was killed from the lock of one that runs.

Snakemake's own lock is a file, which outlives `kill -9` and then asks a person to unlock by hand. So
every Snakemake here also shares a lock that the kernel frees when its holder dies: if nobody shares it,
nobody runs.
"""

import fcntl
from pathlib import Path
from typing import IO

_SNAKEMAKE = Path(".snakemake")
_held: list[IO[str]] = []  # open for as long as this process lives: closing would free the lock


def clear_stale_lock() -> bool:
    """Remove what a killed Snakemake has left in .snakemake/locks; whether no other one was at work here.

    While another one is, nothing is removed, and Snakemake's own lock decides whether both may run.
    """
    _SNAKEMAKE.mkdir(exist_ok=True)
    stream = (_SNAKEMAKE / "alive.lock").open("w", encoding="utf-8")
    _held.append(stream)
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        alone = False
    else:
        alone = True
        for lock in (_SNAKEMAKE / "locks").glob("*.lock"):
            lock.unlink(missing_ok=True)
    fcntl.flock(stream, fcntl.LOCK_SH)
    return alone
