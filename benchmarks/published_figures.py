"""The host target against every figure that was published from NPU2, digit for digit.

`python -m benchmarks.published_figures` runs each published row of docs/kernel_registry on the tile it was
measured with, prints published and own figures side by side with the score, and writes them as CSV.
A figure matches when the log's own, rounded to the digits that were published, is the same.
"""

import argparse
import csv
import io
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from tabulate import tabulate

from scripts.atomic import write_text
from scripts.cases.case import Case, parse_case
from scripts.cases.kernel_facts import harness_kernels, load_kernel
from scripts.cases.tile_choice import CaseSpec, choose_spec
from scripts.errors import InputError, exit_status
from scripts.precision.harness_log import HarnessLog, parse_attempt
from scripts.registry.figures import scientific
from scripts.registry.rows import PUBLISHED, Row
from scripts.registry.store import load_rows
from scripts.targets.host import HostTarget
from scripts.targets.process import run_limited

REGISTRY = Path(__file__).resolve().parents[1] / "docs" / "kernel_registry"
FIGURES = ("mean_rel_L1", "rel_err_max", "abs_err_max")
TIME_LIMIT_SECONDS = 600
HEADERS = ("case", "method", "tile", "figure", "published", "host", "match")


@dataclass(frozen=True)
class PublishedRow:
    """A published row and the case it is of."""

    case: Case
    method: str | None
    row: Row  # as the registry holds it


@dataclass(frozen=True)
class PublishedFigure:
    """One published figure beside the host target's."""

    name: str  # mean_rel_L1, rel_err_max or abs_err_max
    published: str  # as printed
    host: str  # as the host target's log has it

    @property
    def matches(self) -> bool:
        """Whether ours, rounded to the published digits, is the published one."""
        return rounds_to(self.host, self.published)


@dataclass(frozen=True)
class RowResult:
    """What one row gave."""

    published: PublishedRow
    tile: str
    passed: bool  # every element within the kernel's tolerances
    mismatches: int  # elements that are not
    figures: list[PublishedFigure]

    @property
    def matches(self) -> bool:
        """Whether every published figure of the row is met."""
        return all(figure.matches for figure in self.figures)


def rounds_to(measured: str, published: str) -> bool:
    """Whether `measured` lies within half a unit of the last published digit; a published zero is exact.

    A mean that was published with one digit left of its trailing zeros (0.01) stands for two (1.0e-2).
    """
    ours, theirs = Decimal(measured), Decimal(published)
    if theirs.is_zero():
        return ours.is_zero()
    last_digit = min(theirs.as_tuple().exponent, theirs.adjusted() - 1)
    return abs(ours - theirs) <= Decimal(5).scaleb(last_digit - 1)


def published_rows(root: Path = REGISTRY) -> dict[tuple[str, str | None], list[PublishedRow]]:
    """The published rows by kernel and method."""
    rows: dict[tuple[str, str | None], list[PublishedRow]] = {}
    for kernel in harness_kernels():
        for row in load_rows(root, kernel):
            if row["evidence"]["kind"] == PUBLISHED:
                case = parse_case(f"{kernel}_{row['shape']}")
                rows.setdefault((kernel, row["method"]), []).append(PublishedRow(case, row["method"], row))
    return rows


def row_spec(published: PublishedRow) -> CaseSpec:
    """The tile, herd and method the row was measured with."""
    override = {"method": published.method} if published.method else None
    return choose_spec(published.case, [published.row], override)


def compare_row(published: PublishedRow, folder: Path, threads: int = 2) -> RowResult:
    """Build and run the row's case in `folder`. Raises InputError when it cannot be built or run."""
    target, spec = HostTarget(), row_spec(published)
    elf = folder / f"{published.case.name}.elf"
    built = run_limited(
        target.build_command(load_kernel(published.case.kernel), spec, elf), TIME_LIMIT_SECONDS
    )
    if built.exit_status != 0:
        raise InputError(f"{published.case.name}: not built: {built.output}")
    command = target.run_command(published.case.name, elf, threads)
    ran = run_limited(command, TIME_LIMIT_SECONDS, target.run_environment(threads))
    elf.unlink()
    log = parse_attempt(ran.output.splitlines(), ran.exit_status)
    if not log.precision:
        raise InputError(f"{published.case.name}: no [precision] line: {ran.output}")
    return RowResult(published, spec.tile_text, log.passed, log.mismatches or 0, _figures(published, log))


def _figures(published: PublishedRow, log: HarnessLog) -> list[PublishedFigure]:
    printed = published.row["printed"]
    return [
        PublishedFigure(name, printed[name], f"{getattr(log.precision[0], name):.3e}")
        for name in FIGURES
        if name in printed
    ]


def _cells(result: RowResult) -> list[tuple[str, ...]]:
    return [
        (
            result.published.case.name,
            result.published.method or "-",
            result.tile,
            figure.name,
            scientific(figure.published),
            scientific(figure.host),
            "yes" if figure.matches else "NO",
        )
        for figure in result.figures
    ]


def _csv(results: Sequence[RowResult]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*HEADERS, "passed", "mismatches"))
    for result in results:
        writer.writerows((*cells, result.passed, result.mismatches) for cells in _cells(result))
    return text.getvalue()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.published_figures", description=__doc__)
    parser.add_argument("--kernel", action="append", choices=harness_kernels(), help="only this kernel")
    parser.add_argument("--threads", type=int, default=2, help="threads of a kernel (default 2)")
    parser.add_argument("--csv", type=Path, default=Path("results/published_figures.csv"), metavar="FILE")
    return parser.parse_args()


def main() -> None:
    """Command line."""
    options = _arguments()
    chosen = options.kernel or harness_kernels()
    rows = [row for (kernel, _), group in published_rows().items() if kernel in chosen for row in group]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for number, row in enumerate(rows, start=1):
            results.append(compare_row(row, Path(folder), options.threads))
            print(f"{number}/{len(rows)} {row.case.name}", file=sys.stderr, flush=True)
    write_text(options.csv, _csv(results))
    print(tabulate([cells for r in results for cells in _cells(r)], headers=HEADERS, tablefmt="github"))
    print(f"\n{sum(r.matches for r in results)} of {len(results)} rows match in every published figure")


if __name__ == "__main__":
    sys.exit(exit_status(main))
