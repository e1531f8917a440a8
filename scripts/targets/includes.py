"""Which files a C++ source includes, found by reading its #include lines."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)


def included_files(source: Path, folders: Sequence[Path]) -> tuple[Path, ...]:
    """Files that `source` includes, directly or not, beside the including file or in `folders`; sorted.

    A file that is found nowhere is the compiler's own, whose version stands for it. An include that the
    preprocessor would skip counts too.
    """
    found: set[Path] = set()
    waiting = [source]
    while waiting:
        file = waiting.pop()
        for name in _named(file):
            path = next(
                (folder / name for folder in (file.parent, *folders) if (folder / name).is_file()), None
            )
            if path is not None and path not in found:
                found.add(path)
                waiting.append(path)
    return tuple(sorted(found - {source}))


def _named(file: Path) -> tuple[str, ...]:
    status = file.stat()
    return _named_in_version(file, status.st_mtime_ns, status.st_size)


@cache
def _named_in_version(file: Path, changed: int, size: int) -> tuple[str, ...]:
    """What `file` includes; kept for as long as it stays as it is."""
    return tuple(_INCLUDE.findall(file.read_text(encoding="utf-8", errors="replace")))
