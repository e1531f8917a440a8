"""Which table of which page a kernel's shapes stand in."""

import re
from collections.abc import Sequence
from pathlib import Path

from scripts.cases.kernel_facts import KernelFacts
from scripts.errors import InputError
from scripts.registry.upstream.columns import ShapeTable, read_columns
from scripts.registry.upstream.pipe_table import Section, sections, tables

_TESTED = "tested shapes"


def index_table(path: Path, lines: Sequence[str], page: str, facts: KernelFacts) -> ShapeTable:
    """The kernel's table in the index: that of the "tested shapes" section which links to its detail page.

    Raises InputError naming file and line when there is no such section, or its table is not as expected.
    """
    link = f"details/{page}.md"
    found = [
        section
        for section in sections(lines)
        if _TESTED in section.titles[-1].casefold() and any(link in line for line in section.lines)
    ]
    return _only_table(path, found, facts, f"a section of tested shapes that links to {link}")


def detail_table(path: Path, lines: Sequence[str], method: str | None, facts: KernelFacts) -> ShapeTable:
    """The kernel's table on its detail page, below "Tested shapes": for a method, that whose heading says it.

    Raises InputError naming file and line when there is no such table, or it is not as expected.
    """
    tested = [s for s in sections(lines) if any(title.casefold() == _TESTED for title in s.titles)]
    split = [section for section in tested if section.titles[-1].casefold() != _TESTED]
    if method is None or not split:
        return _only_table(path, tested, facts, 'a section "Tested shapes"')
    word = re.compile(rf"(?<![\w-]){re.escape(method)}(?!\w)", re.IGNORECASE)
    named = [section for section in split if word.search(section.titles[-1])]
    return _only_table(path, named, facts, f'a section below "Tested shapes" for method {method}')


def _only_table(path: Path, found: Sequence[Section], facts: KernelFacts, wanted: str) -> ShapeTable:
    """The first table of these sections that holds shapes; a section may start with another one."""
    if not found:
        raise InputError(f"{path} line 1: {wanted} is missing; restore the file")
    held = [table for section in found for table in tables(path, section)]
    if not held:
        raise InputError(f"{path} line {found[0].line + 1}: no table; {wanted} has one")
    return read_columns(held[0], facts)
