"""What each column of a "tested shapes" table holds, read from the table's own header."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scripts.cases.case import Case
from scripts.cases.kernel_facts import KernelFacts
from scripts.errors import InputError
from scripts.registry.upstream.number_style import BLANK, read_figure
from scripts.registry.upstream.pipe_table import PipeTable, TableRow

SHAPE, AS_2D, CONFIG, FIGURE, METHOD, MEAN_BY_TIER, USED_BY, STATUS, CHUNKS = (
    *("shape", "as_2d", "config", "figure", "method", "mean_by_tier", "used_by", "status", "chunks"),
)

_FIGURES = {
    "latency": "latency_us",
    "bandwidth": "gbps",
    "GFLOPS": "gflops",
    "GFLOP/s": "gflops",
    "mean_rel_L1": "mean_rel_L1",
    "rel_err max": "rel_err_max",
    "abs_err max": "abs_err_max",
}
_NAMED = {
    "Used by": USED_BY,
    "Status": STATUS,
    "(as 2-D)": AS_2D,
    "dv_chunks": CHUNKS,
    "mean_rel_L1 (high / low)": MEAN_BY_TIER,
}
_CONFIG = re.compile(r"(?:best )?(?:tile|config|herd) \((.+)\)|(herd_x)")
_METHOD = re.compile(r"(?:(high|low)-prec (\S+)|(\w+) GFLOPS)")
_THROUGHPUT = ("latency_us", "gbps", "gflops")
# The mask of an attention shape is a tick; everything else in a shape is a number.
_MASKS = {"✓": "causal", "✗": "full"}
# A method's cell that starts so holds no result: nobody tried, or it failed.
_NO_RESULT = (BLANK, "⚠️", "❌")


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    index: int
    header: str
    role: str  # one of the roles above
    names: tuple[str, ...] = ()  # its dims, knobs, registry figure, or (tier, method)

    @property
    def separator(self) -> str:
        """What stands between the sizes of a shape cell: "/" where the header has it, else "×"."""
        return "/" if "/" in self.header else "×"


@dataclass(frozen=True)
class ShapeTable:
    """A table of measured shapes of one kernel."""

    table: PipeTable
    columns: tuple[Column, ...]

    def of(self, *roles: str) -> list[Column]:
        """The columns with one of these roles."""
        return [column for column in self.columns if column.role in roles]

    @property
    def use_column(self) -> Column:
        """The column that says who uses a shape: Used by, or Status where a table has none."""
        return (self.of(USED_BY) or self.of(STATUS))[0]

    def entries(self, row: TableRow, tier: str | None) -> dict[str, str]:
        """Method -> cell, for the methods of a tier that the row has a result of."""
        own = {
            column.names[1]: row.cells[column.index] for column in self.of(METHOD) if column.names[0] == tier
        }
        return {method: cell for method, cell in own.items() if not cell.startswith(_NO_RESULT)}

    def told_method(self, row: TableRow, tier: str | None) -> str | None:
        """The method that one mean_rel_L1 for all methods of a tier is of: the fastest; None without any."""
        entries = self.entries(row, tier)
        speeds = {method: read_figure(cell) for method, cell in entries.items()}
        known = {method: speed.high for method, speed in speeds.items() if speed}
        return max(known, key=known.get) if known else next(iter(entries), None)

    def dims(self, row: TableRow) -> dict[str, int | str]:
        """The dims that a row is of. Raises InputError naming the line when a cell holds no shape."""
        found: dict[str, int | str] = {}
        for column in self.of(SHAPE):
            found |= _dims(self.table, row, column)
        return found

    def rows_of(self, case: Case) -> list[TableRow]:
        """The rows of a shape: none when it is new, more than one when the table repeats itself."""
        wanted = shape_dims(case)
        return [row for row in self.table.rows if self.dims(row) == wanted]


def shape_dims(case: Case) -> dict[str, int | str]:
    """The dims of a case as a table has them: numbers, and the name of the mask."""
    masks = {1: "causal", 0: "full"}
    return {name: masks[value] if name == "mask" else value for name, value in case.dims.items()}


def read_columns(table: PipeTable, facts: KernelFacts) -> ShapeTable:
    """The columns of a kernel's table.

    Raises InputError naming the header's line for a column that nothing is known of, or when a column that
    every such table has is missing: the whole shape, a throughput, mean_rel_L1, Status.
    """
    columns = tuple(_column(table, index, facts) for index in range(len(table.columns)))
    present = {name for column in columns for name in (column.role, *column.names)}
    missing = [name for name in facts.dims if name not in present]
    if not present & {*_THROUGHPUT, METHOD}:
        missing.append("GFLOPS or bandwidth")
    if not present & {"mean_rel_L1", MEAN_BY_TIER}:
        missing.append("mean_rel_L1")
    if STATUS not in present:
        missing.append("Status")
    if missing:
        raise InputError(
            f"{table.path} line {table.line + 1}: no column for {missing[0]}; "
            f"found {' | '.join(table.columns)}"
        )
    return ShapeTable(table, columns)


def _column(table: PipeTable, index: int, facts: KernelFacts) -> Column:
    header = table.columns[index]
    if header in _NAMED:
        return Column(index, header, _NAMED[header])
    dims = _header_dims(header, facts.dims)
    if dims:
        return Column(index, header, SHAPE, dims)
    figure = _FIGURES.get(header) or _FIGURES.get(header.split(" (")[0])
    if figure:
        return Column(index, header, FIGURE, (figure,))
    config = _CONFIG.fullmatch(header)
    if config:
        return Column(index, header, CONFIG, tuple((config[1] or config[2]).split("/")))
    method = _METHOD.fullmatch(header)
    if method:
        return Column(index, header, METHOD, (method[1] or "high", method[2] or method[3]))
    raise InputError(
        f"{table.path} line {table.line + 1}: unknown column {header!r}; "
        f"allowed: shape, tile, {', '.join((*_FIGURES, *_NAMED))}"
    )


def _header_dims(header: str, dims: Mapping[str, object]) -> tuple[str, ...]:
    """The dims that a header names, e.g. (M, K, N), lq×lk or heads q/kv; none when it is no shape."""
    if header == "causal" and "mask" in dims:
        return ("mask",)
    known = {name.casefold(): name for name in dims}
    prefix = "h" if header.startswith("heads ") else ""
    tokens = re.split(r"×|/|, ", header.removeprefix("heads ").strip("()"))
    named = [known.get(f"{prefix}{token}".casefold()) for token in tokens]
    return tuple(name for name in named if name) if all(named) else ()


def _dims(table: PipeTable, row: TableRow, column: Column) -> dict[str, int | str]:
    cell = row.cells[column.index]
    if column.names == ("mask",) and cell in _MASKS:
        return {"mask": _MASKS[cell]}
    sizes = cell.split(" (")[0].split(column.separator)
    if len(sizes) != len(column.names) or not all(size.isascii() and size.isdigit() for size in sizes):
        raise InputError(
            f"{table.path} line {row.line + 1}: {cell!r} under {column.header}; "
            f"allowed: {column.separator.join(column.names)} as numbers"
        )
    return dict(zip(column.names, map(int, sizes), strict=True))


def shape_cell(column: Column, dims: Mapping[str, int | str]) -> str:
    """The cell of a shape column for these dims."""
    ticks = {name: tick for tick, name in _MASKS.items()}
    return column.separator.join(str(ticks.get(dims[name], dims[name])) for name in column.names)


def config_names(columns: Sequence[Column]) -> set[str]:
    """The knobs that the config columns of a table show."""
    return {name for column in columns if column.role == CONFIG for name in column.names}
