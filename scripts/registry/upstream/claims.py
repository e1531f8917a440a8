"""Claims to be the best that the tables and the JSON themselves contradict."""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from scripts.registry.upstream.columns import FIGURE, METHOD, Column, ShapeTable
from scripts.registry.upstream.gemm_json import GemmJson
from scripts.registry.upstream.number_style import Figure, read_figure
from scripts.registry.upstream.pipe_table import PipeTable, TableRow, read_page, sections, tables

_CLAIM = re.compile(r"\*\*([\d.]+(?:–[\d.]+)?) (GFLOP/s|GB/s)\*\*")
_FIGURE_OF_UNIT = {"GFLOP/s": "gflops", "GB/s": "gbps"}


def best_findings(file: GemmJson | None) -> Iterator[str]:
    """Entries of the JSON whose `best` is not the fastest measured method of its tier, or is missing."""
    for node, entry in file.shapes if file else ():
        speeds: dict[str, dict[str, float]] = {}
        for name, method in entry["methods"].items():
            if method["gflops"] is not None:
                speeds.setdefault(method.get("tier", "?"), {})[name] = method["gflops"]
        shape, best = f"{entry['M']}×{entry['K']}×{entry['N']}", entry.get("best", {})
        where = f"{file.path} line {file.line_of(node)}: {shape}"
        for tier, known in speeds.items():
            claimed, fastest = best.get(tier), max(known, key=known.get)
            if claimed not in known:
                yield f"{where}: best.{tier} is {claimed or 'missing'}; measured: {', '.join(known)}"
            elif known[claimed] < known[fastest]:
                yield (
                    f"{where}: best.{tier} is {claimed} with {known[claimed]} GFLOP/s; "
                    f"{fastest} has {known[fastest]}"
                )


def bold_findings(found: Sequence[ShapeTable]) -> Iterator[str]:
    """Bold figures that are not the best: of the row's methods, or of the column where only one is bold."""
    for table in found:
        methods = [column for column in table.of(METHOD) if column.header.startswith("high-prec")]
        if methods:
            for row in table.table.rows:
                yield from _bold_in_row(table.table, row, methods)
            continue
        for column in (*table.of(METHOD), *table.of(FIGURE)):
            if column.role == METHOD or column.names[0] in _FIGURE_OF_UNIT.values():
                yield from _bold_in_column(table.table, column)


def _bold_in_row(table: PipeTable, row: TableRow, methods: Sequence[Column]) -> Iterator[str]:
    figures = {
        column.header: (row.cells[column.index], _value(row.cells[column.index])) for column in methods
    }
    fastest = max((value for _, value in figures.values() if value is not None), default=None)
    for header, (cell, value) in figures.items():
        if cell.startswith("**") and value is not None and value < fastest:
            yield f"{table.path} line {row.line + 1}: {header} {cell} is bold; another method has {fastest}"


def _bold_in_column(table: PipeTable, column: Column) -> Iterator[str]:
    bold = [row for row in table.rows if row.cells[column.index].startswith("**")]
    values = {row.line: _value(row.cells[column.index]) for row in table.rows}
    known = {line: value for line, value in values.items() if value is not None}
    if len(bold) != 1 or values[bold[0].line] is None:
        return
    fastest = max(known, key=known.get)
    if known[bold[0].line] < known[fastest]:
        cell = bold[0].cells[column.index]
        yield (
            f"{table.path} line {bold[0].line + 1}: {column.header} {cell} is the one in bold; "
            f"line {fastest + 1} has {known[fastest]}"
        )


def _value(cell: str) -> Decimal | None:
    figure = read_figure(cell)
    return figure.high if figure else None


def headline_findings(path: Path, found: Iterable[tuple[str, ShapeTable]]) -> Iterator[str]:
    """Best-of claims of the index's table of kernels that its tables of shapes contradict.

    `found` are the tables of shapes, each with the name of its detail page.
    """
    shapes = dict(found)
    for section in sections(read_page(path)):
        if section.titles[-1] != "Kernels":
            continue
        for table in tables(path, section):
            for row in table.rows:
                text = " | ".join(row.cells)
                page, claim = re.search(r"details/(\w+)\.md", text), _CLAIM.search(text)
                if page and claim and page[1] in shapes:
                    yield from _headline(path, row, claim, shapes[page[1]])


def _headline(path: Path, row: TableRow, claim: re.Match[str], table: ShapeTable) -> Iterator[str]:
    claimed = read_figure(claim[1])
    figures = list(_throughputs(table, _FIGURE_OF_UNIT[claim[2]]))
    where = f"{path} line {row.line + 1}: best of {claim[1]} {claim[2]}"
    fastest = max(figures, key=lambda each: each[1].high, default=None)
    if fastest and fastest[1].high > claimed.high:
        yield f"{where}: line {fastest[0]} has {fastest[1].high}"
    if all((figure.low, figure.high) != (claimed.low, claimed.high) for _, figure in figures):
        yield f"{where}: no row of the table in line {table.table.line + 1} has it"


def _throughputs(table: ShapeTable, name: str) -> Iterator[tuple[int, Figure]]:
    """Each throughput of a table of shapes, with its line from 1."""
    columns = [column for column in table.of(FIGURE) if column.names[0] == name]
    columns += table.of(METHOD) if name == "gflops" else []
    for row in table.table.rows:
        for column in columns:
            figure = read_figure(row.cells[column.index])
            if figure:
                yield row.line + 1, figure
