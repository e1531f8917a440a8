"""What a kernel engineer asks before compiling, answered without a device and without leaving a trace.

Is the tile legal, or which wall does it break? How exact is the result, does it pass, and by what margin?
With --sweep: which tile to try first? The figures come from building and running the case on the host
target, in a temporary folder: results/ and the registry are never written.
"""

import argparse
import dataclasses
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from math import isfinite
from pathlib import Path

from scripts.cases.case import Case, parse_case
from scripts.cases.kernel_facts import load_kernel
from scripts.cases.known_shapes import KnownRow
from scripts.cases.tile_choice import CaseSpec
from scripts.compile_elf import TIME_LIMIT_SECONDS, build_elf
from scripts.errors import InputError, exit_status
from scripts.prediction.answer import OWN_ROUNDING, Answer, record, text
from scripts.prediction.device_run import run_elfs
from scripts.prediction.forced_rounding import ROUNDING_MODES, ForcedRounding
from scripts.prediction.legality import asked_tile
from scripts.prediction.margins import Prediction
from scripts.prediction.sweep import neighbour_of, ranked_tiles, timed_rows
from scripts.prediction.tile_text import tile_overrides
from scripts.registry.store import load_rows
from scripts.targets.build_folder import ELF_NAME
from scripts.targets.host import HostTarget

TOP = 10


def answer_question(case: Case, rows: Sequence[KnownRow], options: argparse.Namespace) -> Answer:
    """The answer for the tile of `options`, or for the one the workflow would choose, or for the best one.

    Raises InputError for a kernel without a harness, an unknown knob or method, a shape without a legal
    tile, a missing compiler, or a build or run that fails.
    """
    facts = load_kernel(case.kernel)
    if facts.signal != "harness":
        raise InputError(f"{case.name}: {case.kernel} has no harness, so there are no figures to predict")
    overrides = tile_overrides(facts, options.tile, options.method)
    asked = asked_tile(case, rows, overrides)
    tiles = ranked_tiles(case, asked.method, rows) if options.sweep else None
    if tiles and not options.tile:
        best = asked_tile(case, rows, {**overrides, **tiles[0].knobs})
        asked = dataclasses.replace(best, source="first of the ranking")
    known = neighbour_of(case, asked.knobs, timed_rows(case, asked.method, rows))
    predictions = predicted(case, asked.spec, options) if asked.spec else {}
    return Answer(case, asked, known, predictions, tiles, options.top)


def predicted(case: Case, spec: CaseSpec, options: argparse.Namespace) -> dict[str, Prediction]:
    """Predictions by rounding: the kernel's own, then the one that was asked for."""
    facts = load_kernel(case.kernel)
    rtol = facts.rtol if options.rtol is None else options.rtol
    atol = facts.atol if options.atol is None else options.atol
    targets = {OWN_ROUNDING: HostTarget()}
    if options.rounding:
        targets[options.rounding] = ForcedRounding(options.rounding)
    with tempfile.TemporaryDirectory() as folder:
        elfs = [
            built(target, case, spec, Path(folder) / str(number))
            for number, target in enumerate(targets.values())
        ]
        results = run_elfs(HostTarget(), case, elfs, rtol, atol, options.threads)
    return dict(zip(targets, results, strict=True))


def built(target: HostTarget, case: Case, spec: CaseSpec, folder: Path) -> Path:
    """The ELF of `spec`, in `folder`. Raises InputError with the compiler's first complaint."""
    folder.mkdir()
    build = build_elf(target, load_kernel(case.kernel), spec, folder, TIME_LIMIT_SECONDS)
    if build.status != "OK":
        raise InputError(f"{case.name}: {build.status}: {build.reason}")
    return folder / ELF_NAME


def _tolerance(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not (isfinite(number) and number >= 0):
        raise argparse.ArgumentTypeError(f"found {value!r}; a number, 0 or larger, is needed")
    return number


def _count(value: str) -> int:
    if not (value.isascii() and value.isdecimal() and int(value) > 0):
        raise argparse.ArgumentTypeError(f"found {value!r}; a positive integer is needed")
    return int(value)


class _OneLine(argparse.ArgumentParser):
    """Refuses a command line in one line, as every other bad input is refused."""

    def error(self, message: str) -> None:
        self.exit(2, f"error: {message}\n")


def _arguments() -> argparse.Namespace:
    parser = _OneLine(prog="python -m scripts.predict", description=__doc__)
    parser.add_argument("kernel", metavar="KERNEL", help="e.g. gemm")
    parser.add_argument("shape", metavar="SHAPE", help="e.g. 2048x2048x9216")
    parser.add_argument("--tile", help="e.g. 64/256/32/128, or tile_m=64,herd_m=8 (default: the workflow's)")
    parser.add_argument("--method", help="code path of the kernel (default: the workflow's)")
    parser.add_argument("--rounding", choices=ROUNDING_MODES, help="also with every narrowing in this mode")
    parser.add_argument("--rtol", type=_tolerance, help="instead of the kernel's")
    parser.add_argument("--atol", type=_tolerance, help="instead of the kernel's")
    parser.add_argument("--sweep", action="store_true", help="rank the legal tiles; figures of the best one")
    parser.add_argument("--top", type=_count, default=TOP, metavar="N", help=f"tiles to list (default {TOP})")
    parser.add_argument("--json", action="store_true", help="the answer as JSON")
    parser.add_argument(
        "--registry", type=Path, default=Path("docs/kernel_registry"), help="measured rows to learn from"
    )
    parser.add_argument(
        "--threads", type=_count, default=len(os.sched_getaffinity(0)), help="of the kernel (default: all)"
    )
    return parser.parse_args()


def main() -> None:
    """Command line."""
    options = _arguments()
    case = parse_case(f"{options.kernel}_{options.shape}")
    answer = answer_question(case, load_rows(options.registry, case.kernel), options)
    print(json.dumps(record(answer), indent=2, allow_nan=False) if options.json else text(answer))


if __name__ == "__main__":
    sys.exit(exit_status(main))
