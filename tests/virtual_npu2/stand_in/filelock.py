"""Stand-in for the package `filelock`, which mlir-air's XRTRunner takes around load and run."""

import fcntl
from pathlib import Path
from types import TracebackType
from typing import Self


class FileLock:
    """An exclusive lock on a file, held inside of a `with` block."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def __enter__(self) -> Self:
        self._stream = self._path.open("a")
        fcntl.flock(self._stream, fcntl.LOCK_EX)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()
