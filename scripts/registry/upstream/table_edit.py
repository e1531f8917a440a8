"""One table with a measured case in it: one line more, or one cell of the row that is there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scripts.registry.disagreement import PERF_FIGURES, Disagreement, change_of
from scripts.registry.upstream.cells import RowWriter
from scripts.registry.upstream.columns import CONFIG, FIGURE, MEAN_BY_TIER, METHOD, Column
from scripts.registry.upstream.number_style import BLANK, read_figure
from scripts.registry.upstream.pipe_table import TableRow, row_line, with_cell

# Figures that belong to one measurement: who takes one takes the others.
_WITH_MEAN = ("mean_rel_L1", "rel_err_max", "abs_err_max")


@dataclass(frozen=True)
class Edit:
    """A file with the case in it."""

    lines: list[str]
    appended: bool  # the case has a new row
    disagreements: tuple[Disagreement, ...]


def edit_table(lines: Sequence[str], writer: RowWriter, accept: bool) -> Edit:
    """The page's lines with the case in the writer's table. All other lines are the same.

    A row on file keeps its figures, unless `accept` is set and they disagree; the models join it.
    """
    rows = writer.table.rows_of(writer.measured.case)
    if not rows:
        end = writer.table.table.end
        return Edit([*lines[:end], row_line(writer.new_row()), *lines[end:]], True, ())
    row = rows[0]
    found = list(_disagreements(writer, row, accept))
    cells = {**_filled(writer, row), **_joined(writer, row)}
    for each in found if accept else ():
        cells |= _replaced(writer, row, each.figure)
    line = lines[row.line]
    for index, new in cells.items():
        if new != row.cells[index]:
            line = with_cell(line, index, row.cells[index], new)
    return Edit([*lines[: row.line], line, *lines[row.line + 1 :]], False, tuple(found))


def _joined(writer: RowWriter, row: TableRow) -> dict[int, str]:
    """The cell that says who uses the shape."""
    column = writer.table.use_column
    cell = row.cells[column.index]
    return {column.index: writer.use_style(column).joined(cell, writer.measured.row["used_by"])}


def _figures(writer: RowWriter, row: TableRow) -> list[tuple[Column, str, str]]:
    """The figures of a row that the case has too: (column, registry's name, text on file)."""
    found = []
    for column in writer.table.of(FIGURE, METHOD, MEAN_BY_TIER):
        cell = row.cells[column.index]
        if column.role == FIGURE:
            found.append((column, column.names[0], cell))
        elif column.role == MEAN_BY_TIER:
            half = _half(cell, writer.measured.tier)
            told = writer.table.told_method(row, writer.measured.tier)
            if half == BLANK or told in (None, writer.measured.row["method"]):
                found.append((column, "mean_rel_L1", half))
        elif writer.is_own(column):
            found.append((column, "gflops", cell))
    return found


def _half(cell: str, tier: str | None) -> str:
    """One tier's part of a cell such as "9.7e-3 / 1.3e-2"; "" when the cell is not of that form."""
    halves = cell.split(" / ")
    return halves[tier == "low"] if len(halves) == 2 else ""


def _disagreements(writer: RowWriter, row: TableRow, accept: bool) -> list[Disagreement]:
    """The figures of the row that the case does not confirm. Its speed is compared by one figure."""
    figures = _figures(writer, row)
    by_speed = next((name for name in PERF_FIGURES if name in {name for _, name, _ in figures}), None)
    found = []
    for column, name, text in figures:
        change = (
            change_of(name, text, writer.measured.row[name]) if name in (by_speed, "mean_rel_L1") else None
        )
        if change:
            where = f"{writer.table.table.path} line {row.line + 1}"
            found.append(Disagreement(where, name, text, writer.figure(column, name), change, accept))
    return found


def _replaced(writer: RowWriter, row: TableRow, figure: str) -> Mapping[int, str]:
    """The cells of a disagreeing figure and of those measured with it; with the speed goes the tile."""
    together = _WITH_MEAN if figure in _WITH_MEAN else PERF_FIGURES
    cells = {}
    for column, name, text in _figures(writer, row):
        if name in together and writer.measured.row[name] is not None:
            new = writer.figure(column, name)
            whole = row.cells[column.index]
            cells[column.index] = whole.replace(text, f"**{new}**" if text.startswith("**") else new, 1)
    if figure in PERF_FIGURES:
        cells |= {column.index: writer.config(column) for column in writer.table.of(CONFIG)}
    return cells


def _filled(writer: RowWriter, row: TableRow) -> dict[int, str]:
    """Cells of the row that were left open for this method or tier, and bold on the faster method."""
    cells: dict[int, str] = {}
    for column, name, text in _figures(writer, row):
        if text != BLANK or column.role == FIGURE or writer.measured.row[name] is None:
            continue
        new = writer.figure(column, name)
        if column.role == METHOD:
            cells |= _with_bold(writer, row, column, new)
        else:
            halves = row.cells[column.index].split(" / ")
            halves[writer.measured.tier == "low"] = new
            cells[column.index] = " / ".join(halves)
    return cells


def _with_bold(writer: RowWriter, row: TableRow, own: Column, new: str) -> dict[int, str]:
    """The method's cell; where the table has its faster high-precision method in bold, so is this one."""
    rivals = [
        column
        for column in writer.table.of(METHOD)
        if column.names[0] == own.names[0] == "high" and column is not own and "-prec" in own.header
    ]
    figures = {column.index: read_figure(row.cells[column.index]) for column in rivals}
    slower = [i for i, figure in figures.items() if figure and figure.low < read_figure(new).low]
    if not slower or len(slower) < len([figure for figure in figures.values() if figure]):
        return {own.index: new}
    return {own.index: f"**{new}**", **{index: row.cells[index].strip("*") for index in slower}}
