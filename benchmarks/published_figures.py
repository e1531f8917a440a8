"""The host target against every figure that was published from NPU2, digit for digit.

`python -m benchmarks.published_figures` runs each published row of docs/kernel_registry on the tile it was
measured with and prints published and own figures side by side, with the verdict and the score. It writes
them as CSV, as a plot beside it, and with --markdown as a page. A figure matches when the log's own,
rounded to the digits that were published, is the same.
"""

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tabulate import tabulate

from benchmarks.figures_page import Measurement, page, score_line
from benchmarks.figures_plot import draw
from benchmarks.row_results import (
    FIGURES,
    HEADERS,
    PublishedFigure,
    PublishedRow,
    RowResult,
    csv_text,
    figure_cells,
)
from scripts.atomic import write_text
from scripts.cases.case import parse_case
from scripts.cases.kernel_facts import harness_kernels, load_kernel
from scripts.cases.tile_choice import CaseSpec, choose_spec
from scripts.errors import InputError, exit_status
from scripts.precision.harness_log import HarnessLog, parse_attempt
from scripts.registry.rows import PUBLISHED
from scripts.registry.store import load_rows
from scripts.targets.compiler import find_compiler
from scripts.targets.host import HostTarget
from scripts.targets.process import run_limited, utc_now

REGISTRY = Path(__file__).resolve().parents[1] / "docs" / "kernel_registry"
TIME_LIMIT_SECONDS = 600


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


def compare_rows(rows: Sequence[PublishedRow], threads: int) -> tuple[list[RowResult], Measurement]:
    """Every row in turn, says which one on stderr; the results, and what the measurement took."""
    started, begin, results = utc_now(), time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder:
        for number, row in enumerate(rows, start=1):
            results.append(compare_row(row, Path(folder), threads))
            print(f"{number}/{len(rows)} {row.case.name}", file=sys.stderr, flush=True)
    # Linux counts in KiB; of the children it is the largest one's.
    largest = max(
        resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    measurement = Measurement(
        day=started[:10],
        seconds=time.monotonic() - begin,
        peak_bytes=largest * 1024,
        threads=threads,
        software=f"{find_compiler().version}; numpy {np.__version__} on {_blas()}",
    )
    return results, measurement


def _blas() -> str:
    """Name and version of numpy's BLAS, whose order of summation the FP32 references have."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"{blas['name']} {blas['version']}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.published_figures", description=__doc__)
    parser.add_argument("--kernel", action="append", choices=harness_kernels(), help="only this kernel")
    parser.add_argument("--threads", type=int, default=2, help="threads of a kernel (default 2)")
    parser.add_argument("--csv", type=Path, default=Path("results/published_figures.csv"), metavar="FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the page, its plot beside it")
    return parser.parse_args()


def main() -> None:
    """Command line."""
    options = _arguments()
    chosen = options.kernel or harness_kernels()
    rows = [row for (kernel, _), group in published_rows().items() if kernel in chosen for row in group]
    results, measurement = compare_rows(rows, options.threads)
    write_text(options.csv, csv_text(results))
    drawn = draw(results, options.csv, ("png", "svg"))
    if options.markdown:
        plot = draw(results, options.markdown, ("svg",)) if drawn else []
        write_text(options.markdown, page(results, measurement, plot[0].name if plot else None))
    lines = [cells for result in results for cells in figure_cells(result)]
    print(tabulate(lines, headers=HEADERS, tablefmt="github", disable_numparse=True))
    print(f"\n{score_line(results)}")


if __name__ == "__main__":
    sys.exit(exit_status(main))
