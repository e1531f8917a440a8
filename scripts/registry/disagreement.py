"""When a new measurement and the row on file are not the same any more."""

from dataclasses import dataclass
from decimal import Decimal

from scripts.registry.upstream.number_style import Figure, read_figure

REGRESSION, IMPROVEMENT = "regression", "improvement"
PERF_TOLERANCE = 0.20
"""Run-to-run spread of a timing, and of another machine's clocks, stays below this."""
_LOWER_IS_BETTER = ("latency_us", "mean_rel_L1")
PERF_FIGURES = ("gflops", "gbps", "latency_us")
"""By which a row is compared: its throughput, or its latency where it gives no throughput."""


@dataclass(frozen=True)
class Disagreement:
    """A figure on file that a new measurement does not confirm."""

    where: str  # file and line
    figure: str  # the registry's name of it
    on_file: str  # as the file prints it
    measured: str  # in the same style
    change: str  # "regression" or "improvement"
    accepted: bool  # whether the measured figure was put in its place

    def __str__(self) -> str:
        outcome = "replaced, as --accept asks" if self.accepted else "left as it is; --accept replaces it"
        found = f"{self.where} has {self.on_file}, measured {self.measured}"
        return f"{self.change} of {self.figure}: {found}; {outcome}"


def change_of(figure: str, on_file: str, value: float | None) -> str | None:
    """REGRESSION or IMPROVEMENT when `value` contradicts the cell `on_file`, else None.

    mean_rel_L1 is the datapath's, so it may differ by the rounding of the cell only; a timing by 20 %,
    outside of the printed range where the cell gives one. A cell without a figure contradicts nothing.
    `value` is in the registry's unit: µs, GB/s, GFLOP/s.
    """
    printed = read_figure(on_file)
    if printed is None or value is None:
        return None
    value = printed.in_microseconds(value) if figure == "latency_us" else value
    if _agrees(figure, printed, value):
        return None
    better = (Decimal(repr(value)) < printed.low) == (figure in _LOWER_IS_BETTER)
    return IMPROVEMENT if better else REGRESSION


def _agrees(figure: str, printed: Figure, value: float) -> bool:
    if figure == "mean_rel_L1":
        return printed.holds(value)
    low, high = float(printed.low), float(printed.high)
    return low * (1 - PERF_TOLERANCE) <= value <= high * (1 + PERF_TOLERANCE)
