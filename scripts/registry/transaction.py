"""Several files of a folder changed together: after a kill at any moment, all of them or none.

The new contents are written to a pending folder first, then a journal that lists the renames, then the
renames are done, then the journal goes. A journal that is found was complete, so its renames are done
again; without a journal, whatever is pending is dropped.
"""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from scripts.atomic import write_text
from scripts.errors import InputError

PENDING = ".pending"
JOURNAL = "journal.json"


def commit(root: Path, texts: Mapping[Path, str]) -> list[Path]:
    """Make each file below `root` hold its text, all or none; the files whose text changed, sorted.

    The caller holds the lock of `root`. Files that hold their text already are left alone.
    Raises InputError when the folder cannot be written.
    """
    changed = {path: text for path, text in texts.items() if _text_of(path) != text}
    if not changed:
        return []
    try:
        if len(changed) == 1:
            # Replacing one file is all or none by itself.
            for path, text in changed.items():
                write_text(path, text)
        else:
            _write_pending(root, changed)
            recover(root)
    except OSError as error:
        raise InputError(
            f"{root}: cannot be written ({error.strerror}); allowed: a folder of yours"
        ) from None
    return sorted(changed)


def recover(root: Path) -> bool:
    """Finish or drop what a killed writer left in `root`; whether there was something to finish.

    The caller holds the lock of `root`. Raises InputError for a journal that is not one of ours.
    """
    pending = root / PENDING
    if not pending.exists():
        return False
    renames = _read_journal(pending / JOURNAL)
    for name, target in (renames or {}).items():
        # A rename that was done before the kill has left no pending file.
        if (pending / name).exists():
            os.replace(pending / name, root / target)
    for folder in {(root / target).parent for target in (renames or {}).values()}:
        _sync_folder(folder)
    # The journal goes first: without it the rest is rubbish.
    (pending / JOURNAL).unlink(missing_ok=True)
    shutil.rmtree(pending)
    return renames is not None


def _write_pending(root: Path, texts: Mapping[Path, str]) -> None:
    pending = root / PENDING
    pending.mkdir()
    renames = {}
    for number, (path, text) in enumerate(sorted(texts.items())):
        # A link stays a link: its target is replaced.
        real = path.resolve()
        real.parent.mkdir(parents=True, exist_ok=True)
        write_text(pending / str(number), text)
        if real.exists():
            shutil.copymode(real, pending / str(number))
        renames[str(number)] = os.path.relpath(real, root.resolve())
    _sync_folder(pending)
    write_text(pending / JOURNAL, json.dumps(renames, ensure_ascii=False))
    _sync_folder(pending)


def _read_journal(path: Path) -> dict[str, str] | None:
    """The renames of the journal, pending name -> path from the root; None without a journal."""
    try:
        renames = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:
        renames = None
    if not isinstance(renames, dict) or not all(isinstance(target, str) for target in renames.values()):
        raise InputError(f"{path}: not a journal of ours; look at {path.parent}, then remove it")
    return renames


def _text_of(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None


def _sync_folder(folder: Path) -> None:
    """Make the folder's entries durable, as `fsync` of a file does for its contents."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
