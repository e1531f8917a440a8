"""Every published tile is legal, and the registry's own rows choose themselves."""

import csv
import json
from pathlib import Path

import pytest

from scripts.cases.case import parse_case
from scripts.cases.kernel_facts import KERNELS_ROOT, load_kernel
from scripts.cases.legal_tiles import method_flags
from scripts.cases.tile_choice import choose_spec
from scripts.cases.walls import find_wall
from tests.unit.published import FIXTURE, PublishedRow, published_rows

ROWS = published_rows()
COLUMNS = ("kernel", "contract", "method", "tier", "best", "shape", "tile", "herd", "used_by")
SHARED = KERNELS_ROOT.parent.parent / "shared" / "upstream" / "published_rows.csv"
SEED = KERNELS_ROOT.parent / "docs" / "kernel_registry"


def _label(row: PublishedRow) -> str:
    return f"{row.case.name}-{row.method or 'only'}"


def test_the_fixture_holds_every_harness_kernel() -> None:
    assert len(ROWS) == 211
    assert {row.case.kernel for row in ROWS} >= {
        "gemm",
        "gemm_f32",
        "gemm_low",
        "gemv",
        "flash_attention",
        "rope",
    }


@pytest.mark.skipif(not SHARED.is_file(), reason="../shared/upstream/published_rows.csv is not here")
def test_the_fixture_is_the_published_table() -> None:
    def cells(path: Path) -> list[list[str]]:
        with path.open(encoding="utf-8", newline="") as stream:
            return [[row[column] for column in COLUMNS] for row in csv.DictReader(stream)]

    assert cells(FIXTURE) == cells(SHARED)


@pytest.mark.parametrize("row", ROWS, ids=_label)
def test_a_published_tile_is_legal(row: PublishedRow) -> None:
    defaults = {knob.name: knob.default for knob in load_kernel(row.case.kernel).knobs}
    wall = find_wall(row.case, {**defaults, **row.knobs}, row.method)
    assert wall is None


@pytest.mark.parametrize("kernel", sorted({row.case.kernel for row in ROWS}))
def test_a_seeded_row_is_chosen_for_its_own_shape(kernel: str) -> None:
    rows = json.loads((SEED / f"{kernel}.json").read_text(encoding="utf-8"))["rows"]
    facts = load_kernel(kernel)
    for row in rows:
        overrides = {"method": row["method"]} if row["method"] else None
        spec = choose_spec(parse_case(f"{kernel}_{row['shape']}"), rows, overrides)
        assert spec.tile == {name: row["tile"][name] for name in facts.tile_columns}
        assert list(spec.herd) == row["herd"]
        assert method_flags(facts, spec.method) == method_flags(facts, row["method"])
