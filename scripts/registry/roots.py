"""Registry folders, and which evidence each accepts.

A registry folder says in its marker, `registry.json`, which kinds of evidence may be appended to it:
`{"accepts": ["hardware"]}`. A folder without a marker accepts hardware evidence only, and so does the
project's shared registry, docs/kernel_registry, whatever its marker says. A simulated verdict is a
prediction, so it goes to a working copy (`scripts.registry.working_copy`), whose marker accepts both
kinds; from there on the code path is the same.
"""

import json
from pathlib import Path

from scripts.atomic import write_text
from scripts.errors import InputError
from scripts.registry.rows import HARDWARE, SIMULATED

SHARED_REGISTRY: Path = Path(__file__).resolve().parents[2] / "docs" / "kernel_registry"
MARKER = "registry.json"
_APPENDED_KINDS = (HARDWARE, SIMULATED)


def registry_file(root: Path, kernel: str) -> Path:
    """The JSON file that holds a kernel's rows."""
    return root / f"{kernel}.json"


def registry_kernels(root: Path) -> list[str]:
    """Kernels that have a file in `root`, sorted. Raises InputError when there is no such folder."""
    if not root.is_dir():
        raise InputError(f"{root}: no such registry folder; {SHARED_REGISTRY.name} is one")
    return sorted(path.stem for path in root.glob("*.json") if path.name != MARKER)


def is_same_folder(first: Path, second: Path) -> bool:
    """Whether both paths lead to one folder."""
    return first.resolve() == second.resolve()


def accepted_kinds(root: Path) -> tuple[str, ...]:
    """Kinds of evidence that may be appended to `root`. Raises InputError on a malformed marker."""
    marker = root / MARKER
    if is_same_folder(root, SHARED_REGISTRY) or not marker.is_file():
        return (HARDWARE,)
    try:
        kinds = json.loads(marker.read_text(encoding="utf-8"))["accepts"]
        unknown = [kind for kind in kinds if kind not in _APPENDED_KINDS]
    except (OSError, ValueError, KeyError, TypeError):
        unknown = ["no list called accepts"]
    if unknown:
        raise InputError(
            f"{marker}: {unknown[0]!r}; allowed: accepts lists {' and/or '.join(_APPENDED_KINDS)}"
        )
    return tuple(kinds)


def write_marker(root: Path, *kinds: str) -> None:
    """Declare which kinds of evidence `root` accepts."""
    write_text(root / MARKER, json.dumps({"accepts": list(kinds)}) + "\n")
