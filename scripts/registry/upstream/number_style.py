"""How a column writes its numbers, learned from the cells that are there: 9.7e-3, 437 µs, 57.7 GB/s."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

BLANK = "—"
_FIGURE = re.compile(
    r"\**(?P<low>\d[\d.]*(?:e[+-]?\d+)?)(?:–(?P<high>\d[\d.]*(?:e[+-]?\d+)?))?"
    r"(?:\s*(?P<unit>µs|ms|s|GB/s|GFLOP/s))?\**†?(?:\s*\(.*\))?"
)
_MICROSECONDS = {"µs": 1.0, "ms": 1e3, "s": 1e6}


@dataclass(frozen=True)
class Figure:
    """A number that a cell prints, or a range of them."""

    low: Decimal  # in the cell's own unit
    high: Decimal  # the same as low unless it is a range
    unit: str  # "" when the cell names none

    def holds(self, value: float) -> bool:
        """Whether `value`, in the cell's unit, is printed like this but for rounding. Zero is exact."""
        if not self.high:
            return value == 0
        half = Decimal(5).scaleb(self.low.as_tuple().exponent - 1) * Decimal("1.000001")
        return self.low - half <= Decimal(repr(value)) <= self.high + half

    def in_microseconds(self, value: float) -> float:
        """A latency in µs as a number of this cell's unit."""
        return value / _MICROSECONDS.get(self.unit, 1.0)


def read_figure(cell: str) -> Figure | None:
    """The figure of a cell; None when it is blank or holds something else."""
    match = _FIGURE.fullmatch(cell)
    if match is None:
        return None
    low = Decimal(match["low"])
    return Figure(low, Decimal(match["high"] or match["low"]), match["unit"] or "")


@dataclass(frozen=True)
class NumberStyle:
    """How the cells of a column look."""

    unit: str  # "µs", "ms", "GB/s" or ""
    scientific: bool  # 9.7e-3 rather than 0.0097
    decimals: int  # digits after the point

    def write(self, value: float) -> str:
        """`value`, in the unit of the column's registry field (µs for latencies), as the column writes it."""
        if self.unit in _MICROSECONDS:
            return f"{self._latency(value / _MICROSECONDS[self.unit])} {self.unit}"
        if self.unit:
            return f"{value:.{2 if value < 1 else self.decimals}f} {self.unit}"
        return self._scientific(value) if self.scientific else self._decimal(value)

    def _latency(self, value: float) -> str:
        """Three digits, as latencies in ms have; whole µs."""
        if self.unit == "µs" or value >= 100:
            return f"{value:.0f}"
        return f"{value:.1f}" if value >= 10 else f"{value:.2f}"

    def _scientific(self, value: float) -> str:
        if value == 0:
            return "0.0"
        mantissa, exponent = f"{value:.{self.decimals}e}".split("e")
        return f"{mantissa}e{int(exponent)}"

    def _decimal(self, value: float) -> str:
        """A figure too small for the column's decimals keeps two digits, so that it never reads as zero."""
        text = f"{value:.{self.decimals}f}"
        return text if not value or float(text) else f"{value:.1e}".replace("e-0", "e-")


def style_of(cells: Sequence[str], scientific: bool, decimals: int, unit: str = "") -> NumberStyle:
    """The style of a column: what most of its cells do; the arguments where no cell holds a number."""
    printed = [match["low"] for cell in cells if (match := _FIGURE.fullmatch(cell))]
    units = Counter(figure.unit for cell in cells if (figure := read_figure(cell)))
    telling = [text for text in printed if Decimal(text)]
    if not telling:
        return NumberStyle(unit, scientific, decimals)
    scientific = sum("e" in text for text in telling) * 2 >= len(telling)
    alike = [text for text in telling if ("e" in text) == scientific]
    common = Counter(len(text.split("e")[0].partition(".")[2]) for text in alike).most_common(1)[0][0]
    return NumberStyle(units.most_common(1)[0][0], scientific, common)
