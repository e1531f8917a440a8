"""The published rows, as the tests of several parts read them."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from scripts.cases.case import Case, parse_case
from scripts.cases.kernel_facts import load_kernel

FIXTURE = Path(__file__).resolve().parents[1] / "fixtures" / "published_rows.csv"


@dataclass(frozen=True)
class PublishedRow:
    """One row of published_rows.csv."""

    case: Case
    method: str | None  # code path, None for a kernel that has one
    knobs: dict[str, int]  # tile and herd as knobs
    used_by: str  # the published cell


def published_rows() -> list[PublishedRow]:
    """Every published row."""
    with FIXTURE.open(encoding="utf-8", newline="") as stream:
        return [_row(cells) for cells in csv.DictReader(stream)]


def _row(cells: dict[str, str]) -> PublishedRow:
    kernel = cells["kernel"]
    if kernel == "gemm":
        kernel = (
            "gemm_f32"
            if cells["contract"] == "f32_out"
            else {"high": "gemm", "low": "gemm_low"}[cells["tier"]]
        )
    case = parse_case(f"{kernel}_{_shape(cells['shape'])}")
    return PublishedRow(
        case, cells["method"] or None, _knobs(kernel, cells["tile"], cells["herd"]), cells["used_by"]
    )


def _shape(text: str) -> str:
    """`2048x2048 d64/64 h32/8 causal` and `4194304 (2048x2048)` in the grammar of a case name."""
    return re.sub(r"\s*\(.*\)", "", text).replace("/", "x").replace(" ", "_")


def _knobs(kernel: str, tile: str, herd: str) -> dict[str, int]:
    facts = load_kernel(kernel)
    columns, rows = (int(part) for part in herd.split("x"))
    knobs = dict.fromkeys(("herd_m", "herd_x"), columns) | dict.fromkeys(("herd_n", "herd_y"), rows)
    numbers = [int(number) for number in re.findall(r"\d+", tile)]
    # GEMV's published tile starts with the herd's columns.
    names = ("herd_m", *facts.tile_columns) if kernel == "gemv" else facts.tile_columns
    assert len(names) == len(numbers), (kernel, tile)
    knobs |= dict(zip(names, numbers, strict=True))
    return {name: value for name, value in knobs.items() if name in {knob.name for knob in facts.knobs}}
