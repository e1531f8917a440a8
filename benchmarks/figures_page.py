"""docs/published_figures.md, made from a run: the score, what does not match and why, how it was measured."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

import yaml
from tabulate import tabulate

from benchmarks.row_results import FIGURES, HEADERS, NOTHING, RowResult, figure_cells

OPEN_FIGURES = Path(__file__).with_name("open_figures.yaml")
COMMAND = "python -m benchmarks.published_figures --markdown docs/published_figures.md"


@dataclass(frozen=True)
class Measurement:
    """What a run of the whole table took, and where."""

    day: str  # UTC, ISO 8601
    seconds: float  # wall time
    peak_bytes: int  # resident memory of the largest process
    threads: int  # of the kernels and of numpy
    software: str  # compiler, numpy, BLAS


def score_line(results: Sequence[RowResult]) -> str:
    """The score in one sentence."""
    counted = [result for result in results if result.published.from_harness]
    judged = [result for result in counted if result.agrees is not None]
    line = (
        f"{sum(r.matches for r in counted)} of {len(counted)} rows match in every published figure; "
        f"{sum(r.agrees for r in judged)} of {len(judged)} published verdicts are the same"
    )
    others = len(results) - len(counted)
    return f"{line}; {others} rows measured by another script are not counted" if others else line


def likely_reason(result: RowResult, figure: str) -> str | None:
    """Why a figure of this row does not match, as open_figures.yaml says it; None where nothing is known."""
    for entry in _open_figures():
        if entry["kernel"] != result.published.case.kernel or figure not in entry["figures"]:
            continue
        if result.published.case.shape in entry.get("shapes", [result.published.case.shape]):
            return entry["reason"]
    return None


@cache
def _open_figures() -> list[dict]:
    return yaml.safe_load(OPEN_FIGURES.read_text(encoding="utf-8"))


def page(results: Sequence[RowResult], measurement: Measurement, plot: str | None) -> str:
    """The page as Markdown; `plot` is the name of the picture beside it, if there is one."""
    sections = [
        "# Published figures, computed without a device",
        f"<!-- Written by {COMMAND}; do not edit. -->",
        f"**{score_line(results)}.**",
        "Each row of [kernel_registry](kernel_registry/README.md) that was published from NPU2 is built with "
        "the tile it was measured with and run by the host target on the harness's own inputs. A figure "
        "matches when the host's, rounded to the digits that were published, is the same; a published zero "
        "is met by zero only. A verdict is the same when the harness's check passed or failed on the device "
        "as it does here, with as many failing elements where their number is known.",
        f"![published and host mean_rel_L1]({plot})" if plot else "",
        "## Score",
        _score_table(results),
        "## Figures that do not match",
        _open_table(results),
        "## Verdicts that failed on the device",
        _verdict_table(results),
        *_uncounted(results),
        "## How it was measured",
        _method(measurement, results),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _table(rows: Iterable[Sequence[object]], headers: Sequence[str]) -> str:
    # Figures are text already: tabulate would take 9.0e-3 for a number and drop its zero.
    return tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True)


def _score_table(results: Sequence[RowResult]) -> str:
    def kernel(result: RowResult) -> str:
        return result.published.case.kernel

    lines = []
    for name, group in groupby((r for r in results if r.published.from_harness), kernel):
        rows = list(group)
        whole = _share(rows, lambda row: row.matches)
        figures = (
            _share([f for r in rows for f in r.figures if f.name == each], _matches) for each in FIGURES
        )
        verdicts = _share([r for r in rows if r.agrees is not None], lambda row: row.agrees)
        lines.append((name, whole, *figures, verdicts))
    return _table(lines, ("kernel", "rows", *FIGURES, "verdicts"))


def _matches(item) -> bool:
    return item.matches


def _share(items: Sequence, holds: Callable[..., bool]) -> str:
    return f"{sum(map(holds, items))} of {len(items)}" if items else NOTHING


def _open_table(results: Sequence[RowResult]) -> str:
    """Every figure that does not match, and under the table the reasons it refers to by number."""
    lines, reasons = [], []
    for result in results:
        for cells, figure in zip(figure_cells(result), result.figures, strict=True):
            if result.published.from_harness and not figure.matches:
                reason = likely_reason(result, figure.name)
                if reason and reason not in reasons:
                    reasons.append(reason)
                why = str(reasons.index(reason) + 1) if reason else "not known"
                lines.append((*cells[:2], *cells[3:6], why))
    if not lines:
        return "None."
    listed = "\n".join(f"{number}. {reason}" for number, reason in enumerate(reasons, start=1))
    return f"{_table(lines, (*HEADERS[:2], *HEADERS[3:6], 'likely reason'))}\n\n{listed}"


def _verdict_table(results: Sequence[RowResult]) -> str:
    """Rows whose verdict is FAIL on either side, where the device's is known."""
    lines = []
    for result in results:
        if result.agrees is not None and "FAIL" in (result.published.expected_verdict, result.verdict):
            cells = figure_cells(result)[0]
            lines.append((*cells[:2], *cells[-3:]))
    return (
        _table(lines, ("case", "method", "device (elements)", "host (elements)", "same"))
        if lines
        else "None."
    )


def _uncounted(results: Sequence[RowResult]) -> list[str]:
    lines = [cells[:7] for r in results if not r.published.from_harness for cells in figure_cells(r)]
    if not lines:
        return []
    return [
        "## Not counted",
        "Measured by another script, on inputs that are not the harness's.",
        _table(lines, HEADERS[:7]),
    ]


def _method(measurement: Measurement, results: Sequence[RowResult]) -> str:
    took = f"{len(results)} rows in {measurement.seconds / 60:.0f} minutes on {measurement.threads} threads"
    memory = f"the largest process took {measurement.peak_bytes / 1e9:.1f} GB"
    return (
        f"```\n{COMMAND}\n```\n"
        f"{measurement.day}: {took}; {memory}. {measurement.software}.\n\n"
        "The order in which the reference's BLAS sums decides which of GEMV's rows differ by a rounding (see "
        "[datapath.md](datapath.md)). numpy's OpenBLAS sums alike on every x86 CPU from Haswell on; another "
        "BLAS may match other rows of GEMV."
    )
