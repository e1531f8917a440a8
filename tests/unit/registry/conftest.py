"""Rows and registry folders for the registry's tests."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripts.registry.roots import write_marker
from scripts.registry.rows import Row

PROJECT = Path(__file__).resolve().parents[3]


@pytest.fixture
def make_row() -> Callable[..., Row]:
    """A factory of GEMM rows; keyword arguments replace fields, `kind` the kind of evidence."""

    def make(kind: str = "simulated", **fields: Any) -> Row:
        row = {
            "shape": "512x512x512",
            "method": "drain",
            "best": False,
            "tile": {"tile_m": 32, "tile_k_l2": 256, "tile_k_l1": 32, "tile_n": 128},
            "herd": [8, 4],
            "latency_us": None,
            "gflops": None,
            "gbps": None,
            "mean_rel_L1": 0.009273,
            "rel_err_max": 1234.5,
            "abs_err_max": 0.001969,
            "printed": {},
            "used_by": ["llama-3.2-1b prefill Q proj"],
            "status": "✅",
            "note": None,
            "evidence": {"kind": kind, "source": "harness"},
        }
        return {**row, **fields}

    return make


@pytest.fixture
def working_copy(tmp_path: Path) -> Path:
    """An empty registry folder that accepts every kind of evidence."""
    root = tmp_path / "registry"
    write_marker(root, "hardware", "simulated")
    return root


@pytest.fixture
def published_csv() -> Path:
    """The CSV the registry was seeded from, where it is at hand."""
    path = PROJECT.parent / "shared" / "upstream" / "published_rows.csv"
    if not path.exists():
        pytest.skip("the published CSV is not beside this checkout (../shared/upstream/published_rows.csv)")
    return path
