"""Pipe tables of a Markdown file, with the line of each row, so that one line or one cell can be changed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.errors import InputError

_SEPARATOR = re.compile(r"\|(\s*:?-+:?\s*\|)+")
_HEADING = re.compile(r"(#{1,6}) +(.*)")
_UNESCAPED_PIPE = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class TableRow:
    """One row of a table."""

    line: int  # index of its line, from 0
    cells: tuple[str, ...]  # without the spaces around them


@dataclass(frozen=True)
class PipeTable:
    """A table whose rows all have as many cells as its header."""

    path: Path  # the file, for complaints
    line: int  # index of the header's line, from 0
    columns: tuple[str, ...]  # the header's cells
    rows: tuple[TableRow, ...]

    @property
    def end(self) -> int:
        """Index of the line after the last row: where the next row belongs."""
        return self.line + 2 + len(self.rows)

    def column(self, index: int) -> list[str]:
        """The cells of one column, from the first row to the last."""
        return [row.cells[index] for row in self.rows]


@dataclass(frozen=True)
class Section:
    """What stands between one heading and the next."""

    titles: tuple[str, ...]  # of the headings above it, outermost first, its own last
    line: int  # index of its heading's line, from 0
    lines: tuple[str, ...]  # from its heading on, with their line ends


def read_page(path: Path) -> list[str]:
    """The lines of a Markdown file, each with its LF.

    Raises InputError naming file and line when it is missing, not UTF-8, has CR line ends or stops mid-line.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise InputError(f"{path} line 1: no such file; a registry of mlir-air has it") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} line 1: cannot be read: {error}") from None
    # Not splitlines(): that splits at other characters too, and the text has to be put together again.
    lines = [f"{line}\n" for line in text.split("\n")]
    if lines[-1] != "\n":
        raise InputError(f"{path} line {len(lines)}: stops without a line end; the file was cut short")
    for number, line in enumerate(lines, start=1):
        if "\r" in line:
            raise InputError(f"{path} line {number}: ends in CR; allowed: LF line ends only")
    return lines[:-1]


def sections(lines: Sequence[str]) -> list[Section]:
    """The sections of a page. A `#` inside of a code block is no heading."""
    starts: list[tuple[int, tuple[str, ...]]] = []
    titles: list[tuple[int, str]] = []
    fenced = False
    for index, line in enumerate(lines):
        fenced ^= line.lstrip().startswith("```")
        heading = None if fenced else _HEADING.match(line)
        if heading:
            level = len(heading[1])
            titles = [*(entry for entry in titles if entry[0] < level), (level, heading[2].strip())]
            starts.append((index, tuple(title for _, title in titles)))
    ends = [index for index, _ in starts[1:]] + [len(lines)]
    return [
        Section(names, start, tuple(lines[start:end]))
        for (start, names), end in zip(starts, ends, strict=True)
    ]


def tables(path: Path, section: Section) -> list[PipeTable]:
    """The tables of a section. Raises InputError naming file and line when one is not whole."""
    return [_table(path, start, block) for start, block in _blocks(section)]


def _blocks(section: Section) -> Iterator[tuple[int, list[str]]]:
    """Runs of lines that start with a pipe, and the index of the first."""
    block: list[str] = []
    for offset, line in enumerate([*section.lines, "\n"]):
        if line.startswith("|"):
            block.append(line)
        elif block:
            yield section.line + offset - len(block), block
            block = []


def _table(path: Path, start: int, block: Sequence[str]) -> PipeTable:
    if len(block) < 2 or not _SEPARATOR.fullmatch(block[1].strip()):
        raise InputError(f"{path} line {start + 1}: a table without its |---| line; it was cut short")
    header, separator, *rows = (split_cells(line) for line in block)
    for offset, cells in enumerate([separator, *rows], start=1):
        if len(cells) != len(header) or not block[offset].rstrip("\n").endswith("|"):
            raise InputError(
                f"{path} line {start + offset + 1}: {len(cells)} cells; "
                f"the header in line {start + 1} has {len(header)}"
            )
    return PipeTable(
        path,
        start,
        header,
        tuple(TableRow(start + 2 + index, cells) for index, cells in enumerate(rows)),
    )


def split_cells(line: str) -> tuple[str, ...]:
    """The cells of a table line, without the spaces around them."""
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if re.search(r"(?<!\\)\|$", inner) else inner
    return tuple(cell.strip() for cell in _UNESCAPED_PIPE.split(inner))


def row_line(cells: Sequence[str]) -> str:
    """A table line. A pipe inside a cell is escaped, so that it does not end the cell."""
    return "| " + " | ".join(_UNESCAPED_PIPE.sub(r"\\|", cell) for cell in cells) + " |\n"


def with_cell(line: str, index: int, old: str, new: str) -> str:
    """The line with one cell's text exchanged; every other character stays where it is."""
    bounds = [match.start() for match in _UNESCAPED_PIPE.finditer(line)]
    start, end = bounds[index] + 1, bounds[index + 1]
    return line[:start] + line[start:end].replace(old, _UNESCAPED_PIPE.sub(r"\\|", new), 1) + line[end:]
