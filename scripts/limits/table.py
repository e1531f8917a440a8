"""The table of limits as a file, and in one line."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from pathlib import Path

from scripts.errors import InputError
from scripts.limits.findings import LAUNCH, Finding, worth_a_look

COLUMNS = tuple(field.name for field in fields(Finding))


def table_text(found: Iterable[Finding]) -> str:
    """The findings as TSV with a header."""
    return "".join("\t".join(line) + "\n" for line in (COLUMNS, *map(astuple, found)))


def read_table(path: Path) -> list[Finding]:
    """The findings written by `table_text`. Raises InputError for a missing file or another table."""
    try:
        lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if not lines or tuple(lines[0]) != COLUMNS:
        raise InputError(f"{path}: the header is not {' '.join(COLUMNS)}; write it with scripts.preflight")
    for number, cells in enumerate(lines, start=1):
        if len(cells) != len(COLUMNS):
            raise InputError(f"{path}:{number}: {len(cells)} columns; {len(COLUMNS)} are needed")
    return [Finding(*cells) for cells in lines[1:]]


def summary(found: Sequence[Finding]) -> str:
    """The table in a few words, e.g. `16 cases, 190 limits: 2 hint, 6 idle tiles`."""
    found = [each for each in found if each.severity != LAUNCH]
    cases = len({each.case for each in found})
    outcomes = Counter(each.outcome for each in found if worth_a_look(each))
    counted = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    return f"{cases} cases, {len(found)} limits: {counted or 'all hold'}"
