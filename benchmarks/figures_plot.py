"""The plot of published and host figures, where matplotlib is installed (the `plots` extra)."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.row_results import RowResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INSTALL = "no plot: matplotlib is not installed; pip install '.[plots]' brings it"
# One colour and one marker a kernel: eleven colours alone are hard to tell apart.
_STYLES = (
    *(("#1f4e9c", "o"), ("#3f8fd2", "s"), ("#7b4ea3", "D"), ("#d1495b", "o"), ("#2e933c", "^")),
    *(("#9a6324", "v"), ("#e08e0b", "s"), ("#c2185b", "P"), ("#00838f", "X"), ("#5d6d7e", "<")),
    *(("#8d9440", ">"), ("#000000", "*")),
)
# Off by single roundings if at all, six decades below the others: a panel of its own.
_ALMOST_EXACT = "gemv"
_MARGIN = 1.25


@dataclass(frozen=True)
class _Point:
    """One row's mean_rel_L1."""

    kernel: str
    published: float
    host: float
    matches: bool  # to the published digits


def draw(results: Sequence[RowResult], beside: Path, formats: Sequence[str]) -> list[Path]:
    """Write the plot as `beside` with each of the suffixes; the files, none without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        print(INSTALL, file=sys.stderr)
        return []
    matplotlib.use("Agg")
    # The same figures give the same file, and text stays text.
    matplotlib.rcParams.update({"svg.hashsalt": "published_figures", "svg.fonttype": "none", "font.size": 9})
    import matplotlib.pyplot as plt

    points = _points(results)
    panels = [[p for p in points if (p.kernel == _ALMOST_EXACT) == almost] for almost in (False, True)]
    panels = [panel for panel in panels if panel]
    figure, axes = plt.subplots(1, len(panels), figsize=(5.6 * len(panels), 5.5), squeeze=False)
    for panel, axis in zip(panels, axes[0], strict=True):
        _draw_panel(axis, panel, sorted({point.kernel for point in points}))
    figure.suptitle("mean_rel_L1: published from NPU2, and computed by the host target", fontsize=11)
    figure.tight_layout()
    files = [beside.with_suffix(f".{suffix}") for suffix in formats]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, dpi=130, metadata={"Date": None} if file.suffix == ".svg" else None)
    plt.close(figure)
    return files


def _points(results: Sequence[RowResult]) -> list[_Point]:
    means = [
        (result.published.case.kernel, figure)
        for result in results
        for figure in result.figures
        if figure.name == "mean_rel_L1" and result.published.from_harness
    ]
    return [_Point(kernel, float(mean.published), float(mean.host), mean.matches) for kernel, mean in means]


def _draw_panel(axis: "Axes", points: Sequence[_Point], kernels: Sequence[str]) -> None:
    """A point a row on logarithmic axes, the diagonal under them, a ring around those that do not match."""
    values = [value for point in points for value in (point.published, point.host)]
    positive = [value for value in values if value > 0] or [1e-9]
    low, high = min(positive) / _MARGIN, max(positive) * _MARGIN
    # Zero has no place on a logarithmic axis: it stands in a band a decade below the smallest figure.
    zero = low / 5 if 0.0 in values else None
    for kernel in sorted({point.kernel for point in points}):
        color, marker = _STYLES[kernels.index(kernel) % len(_STYLES)]
        own = [point for point in points if point.kernel == kernel]
        label = f"{kernel}: {sum(point.matches for point in own)} of {len(own)}"
        places = zip(*(_place(point, zero) for point in own), strict=True)
        axis.scatter(*places, s=32, c=color, marker=marker, alpha=0.75, linewidths=0, label=label)
    rings = [_place(point, zero) for point in points if not point.matches]
    if rings:
        style = {"s": 95, "facecolors": "none", "edgecolors": "0.25", "linewidths": 0.9}
        axis.scatter(*zip(*rings, strict=True), **style, label="other digits")
    _finish_axes(axis, zero, low, high)


def _place(point: _Point, zero: float | None) -> tuple[float, float]:
    return point.published or zero, point.host or zero


def _finish_axes(axis: "Axes", zero: float | None, low: float, high: float) -> None:
    """Limits, ticks, diagonal, the band of zero, and the legend."""
    ticks = _ticks(low, high)
    texts = [f"{tick:.0e}".replace("e-0", "e-") for tick in ticks]
    if zero is not None:
        ticks, texts, border, low = [zero, *ticks], ["0", *texts], zero * 2.5, zero / 2.5
        axis.axvspan(low, border, color="0.95", zorder=0)
        axis.axhspan(low, border, color="0.95", zorder=0)
    axis.plot([low, high], [low, high], color="0.75", linewidth=1, zorder=1)
    axis.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), aspect="equal")
    for place in (axis.xaxis, axis.yaxis):
        place.set_ticks(ticks, labels=texts)
        place.set_ticks([], minor=True)
    axis.set(xlabel="published", ylabel="host target")
    axis.grid(True, color="0.92")
    axis.set_axisbelow(True)
    corner = {"loc": "upper left"} if zero is None else {"loc": "upper center", "bbox_to_anchor": (0.4, 1)}
    axis.legend(**corner, framealpha=0.9, edgecolor="0.85", title="kernel: rows that match")


def _ticks(low: float, high: float) -> list[float]:
    """Powers of ten between the limits, with their doubles and fives where there are few."""
    steps = (1.0, 2.0, 5.0) if high / low < 1e4 else (1.0,)
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    candidates = [step * 10.0**decade for decade in decades for step in steps]
    return [tick for tick in candidates if low <= tick <= high]
