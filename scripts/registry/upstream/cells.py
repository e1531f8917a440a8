"""The cells of one row: what a new one holds, and where a row on file disagrees."""

from collections.abc import Mapping
from dataclasses import dataclass

from scripts.registry.upstream.call_sites import UseStyle, use_style
from scripts.registry.upstream.columns import (
    AS_2D,
    CHUNKS,
    CONFIG,
    FIGURE,
    MEAN_BY_TIER,
    METHOD,
    SHAPE,
    STATUS,
    Column,
    ShapeTable,
    shape_cell,
    shape_dims,
)
from scripts.registry.upstream.measured import Measured
from scripts.registry.upstream.number_style import BLANK, style_of

# Style of a column that holds no number yet: (scientific, decimals, unit).
_DEFAULT_STYLES = {
    "latency_us": (False, 0, "µs"),
    "gbps": (False, 1, "GB/s"),
    "gflops": (False, 0, ""),
    "mean_rel_L1": (True, 1, ""),
    "rel_err_max": (True, 1, ""),
    "abs_err_max": (True, 1, ""),
}


@dataclass(frozen=True)
class RowWriter:
    """Writes a measured case in the style of one table."""

    table: ShapeTable
    measured: Measured
    spellings: Mapping[str, str]  # model -> as the registry spells it

    def new_row(self) -> list[str]:
        """The cells of a row of its own."""
        return [self._new_cell(column) for column in self.table.columns]

    def _new_cell(self, column: Column) -> str:
        row = self.measured.row
        if column.role == SHAPE:
            return shape_cell(column, shape_dims(self.measured.case))
        if column.role == CONFIG:
            return self.config(column)
        if column.role == CHUNKS:
            return str(self.measured.case.dims["DV"] // row["tile"]["lkp"])
        if column.role == FIGURE:
            return self.figure(column, column.names[0])
        if column.role == METHOD:
            text = self.figure(column, "gflops") if self.is_own(column) else BLANK
            return f"**{text}**" if text != BLANK and self._marks_best(column) else text
        if column.role == MEAN_BY_TIER:
            halves = dict.fromkeys(("high", "low"), BLANK)
            return " / ".join({**halves, self.measured.tier: self.figure(column, "mean_rel_L1")}.values())
        if column.role == AS_2D:
            return BLANK
        return self._use_cell(column)

    def config(self, column: Column) -> str:
        """The tile, in the order that the header names its sizes; the herd too where it is not the usual."""
        sizes = "/".join(str(self.measured.size_of(name)) for name in column.names)
        if self.measured.shows_herd(column.names):
            columns, rows = self.measured.row["herd"]
            return f"{sizes} (herd {columns}×{rows})"
        return sizes

    def figure(self, column: Column, name: str) -> str:
        """A figure of the measured row as the column writes it."""
        value = self.measured.row[name]
        if value is None:
            return BLANK
        cells = self.table.table.column(column.index)
        if column.role == MEAN_BY_TIER:
            cells = [half for cell in cells for half in cell.split(" / ")]
        scientific, decimals, unit = _DEFAULT_STYLES[name]
        return style_of(cells, scientific, decimals, unit).write(float(value))

    def is_own(self, column: Column) -> bool:
        """Whether a method's column is that of the measured method."""
        return column.names == (self.measured.tier, self.measured.row["method"])

    def _marks_best(self, column: Column) -> bool:
        """Whether the table has each shape's fastest method in bold: those with a tier in the header do."""
        return column.header.startswith(("high-prec", "low-prec"))

    def _use_cell(self, column: Column) -> str:
        mark = self.measured.row["status"] or "✅"
        if column is not self.table.use_column:
            return mark
        return self.use_style(column).new_cell(mark, self.measured.row["used_by"])

    def use_style(self, column: Column) -> UseStyle:
        """How that column says it."""
        return use_style(self.table.table.column(column.index), column.role == STATUS, self.spellings)
