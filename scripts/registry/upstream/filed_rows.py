"""What mlir-air's files say of each shape and method, as records that can be compared with each other."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.cases.kernel_facts import KernelFacts
from scripts.registry.upstream.columns import CONFIG, FIGURE, MEAN_BY_TIER, METHOD, Column, ShapeTable
from scripts.registry.upstream.gemm_json import GemmJson
from scripts.registry.upstream.measured import tier_of
from scripts.registry.upstream.number_style import BLANK, Figure, read_figure
from scripts.registry.upstream.pipe_table import TableRow

Key = tuple[str, str | None]
"""A shape as text, and the method where the kernel has several."""


@dataclass(frozen=True)
class FiledRow:
    """One row of one file, for one method."""

    path: Path
    line: int  # from 1
    shape: str  # e.g. "2048×2048×512"
    method: str | None
    figures: Mapping[str, str]  # registry's name -> text on file
    tile: str | None  # e.g. "64/256/32/128"; None where the file gives none
    used_by: str  # the cell that says who uses it
    claims: bool = True  # whether it says that there is a result; False where a method is marked as failed

    @property
    def where(self) -> str:
        """File and line."""
        return f"{self.path} line {self.line}"

    @property
    def name(self) -> str:
        """Shape and method, for a person."""
        return f"{self.shape} {self.method}" if self.method else self.shape


def table_rows(table: ShapeTable, facts: KernelFacts, method: str | None) -> Iterator[FiledRow]:
    """The rows of a table; of the index, one for each method of `facts` that a row says something of.

    `method` is that of a detail table. Raises InputError naming the line of a cell that holds no shape.
    """
    own = [column for column in table.of(METHOD) if column.names[0] == tier_of(facts)]
    for row in table.table.rows:
        if not own:
            yield _table_row(table, facts, row, method, None)
        for column in own:
            if row.cells[column.index] != BLANK:
                yield _table_row(table, facts, row, column.names[1], column)


def _table_row(
    table: ShapeTable, facts: KernelFacts, row: TableRow, method: str | None, own: Column | None
) -> FiledRow:
    dims = table.dims(row)
    tier = tier_of(facts)
    figures = {column.names[0]: row.cells[column.index] for column in table.of(FIGURE)}
    if own:
        figures["gflops"] = row.cells[own.index]
    for column in table.of(MEAN_BY_TIER):
        halves = row.cells[column.index].split(" / ")
        if table.told_method(row, tier) in (None, method):
            figures["mean_rel_L1"] = halves[tier == "low"] if len(halves) == 2 else halves[0]
    tiles = [row.cells[column.index] for column in table.of(CONFIG)]
    return FiledRow(
        path=table.table.path,
        line=row.line + 1,
        shape=shape_text(dims, facts),
        method=method,
        figures=figures,
        tile=re.sub(r"[*]|\s*\(.*", "", tiles[0]) if tiles else None,
        used_by=row.cells[table.use_column.index],
        claims=own is None or method in table.entries(row, tier),
    )


def shape_text(dims: Mapping[str, int | str], facts: KernelFacts) -> str:
    """A shape as the tables write it, in the order of the kernel's own dims."""
    return "×".join(str(dims[name]) for name in facts.dims)


def json_rows(file: GemmJson, facts: KernelFacts) -> Iterator[FiledRow]:
    """The methods of a GEMM's JSON that are of this kernel's tier."""
    for node, entry in file.shapes:
        for method, measured in entry["methods"].items():
            if measured.get("tier") != tier_of(facts):
                continue
            place = node.members["methods"].members[method]
            texts = {figure: measured[figure] for figure in ("gflops", "mean_rel_L1")}
            yield FiledRow(
                path=file.path,
                line=file.line_of(place),
                shape=shape_text(entry, facts),
                method=method,
                figures={name: BLANK if value is None else str(value) for name, value in texts.items()},
                tile="/".join(map(str, measured["tile"].values())),
                used_by=str(entry.get("used_by", "")),
            )


def same_figure(first: str, second: str) -> bool:
    """Whether two cells print one figure, be it with fewer digits; a cell without a figure says nothing."""
    one, two = read_figure(first), read_figure(second)
    if one is None or two is None:
        return (one is None) == (two is None)
    return _rounds_to(one, two) or _rounds_to(two, one)


def _rounds_to(coarse: Figure, fine: Figure) -> bool:
    if coarse.unit != fine.unit and coarse.unit and fine.unit:
        return False
    if fine.low != fine.high or coarse.low != coarse.high:
        return (coarse.low, coarse.high) == (fine.low, fine.high)
    return coarse.holds(float(fine.low))
