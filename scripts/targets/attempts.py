"""Failed attempts of a case: results/attempts/<case>/<n>.json, one file each, never rewritten.

How many there are is a param of the rules, so that Snakemake itself runs a failed case again.
"""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from scripts.atomic import write_text

_NAME = re.compile(r"([1-9]\d*)\.json")
_TAIL_LINES = 40


@dataclass(frozen=True)
class FailedAttempt:
    """One attempt that did not pass."""

    case: str  # <kernel>_<shape>
    step: str  # "compile" or "run": what failed
    status: str  # the verdict's status, e.g. "NUMERIC"
    reason: str  # one line for a person
    started: str  # UTC, ISO 8601 with Z
    log_tail: str  # the last lines of the attempt's log


def log_tail(text: str) -> str:
    """The last lines of a log."""
    return "\n".join(text.splitlines()[-_TAIL_LINES:])


def record_attempt(folder: Path, attempt: FailedAttempt) -> Path:
    """Write `attempt` under the next free number of `folder`; return the file."""
    path = folder / f"{max(_numbers(folder), default=0) + 1}.json"
    write_text(path, json.dumps(asdict(attempt), indent=2) + "\n")
    return path


def failed_attempts(folder: Path) -> int:
    """How many failed attempts `folder` holds."""
    return len(_numbers(folder))


def failed_builds(folder: Path) -> int:
    """How many of them failed to build. A file that cannot be read counts: better one build too many."""
    return sum(_step(folder / f"{number}.json") != "run" for number in _numbers(folder))


def _numbers(folder: Path) -> list[int]:
    """Numbers of the attempts on file; none when the folder is missing."""
    if not folder.is_dir():
        return []
    return [int(match[1]) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))]


def _step(path: Path) -> str | None:
    try:
        return json.loads(path.read_text(encoding="utf-8")).get("step")
    except (OSError, ValueError, AttributeError):
        return None
