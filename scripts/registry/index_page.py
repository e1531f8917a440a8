"""The registry's front page: what it is, how to read it, and a table of the kernels."""

from collections import Counter

import pandas as pd

from scripts.cases.kernel_facts import load_kernel
from scripts.registry.figures import figure_text
from scripts.registry.markdown import markdown_table
from scripts.registry.rows import EVIDENCE_KINDS, Row, is_measured, speed
from scripts.registry.store import Document

_INTRODUCTION = """\
<!-- rendered by python -m scripts.registry render -->

# Kernel registry

The (kernel, shape) pairs that ran on AMD NPU2 (Strix, AIE2P), with the tile that was used and what was
measured. One `<kernel>.json` per kernel is the record; the pages beside it are rendered from it, so edit
neither by hand.

## How to read a row

- **Tile**: sizes of the tile knobs, in the order the top of the page names them. **Herd**: columns x rows.
- **mean_rel_L1**: mean of abs(actual - expected) over mean of abs(expected), against an FP32 reference.
- **abs_err max**, **rel_err max**: the worst element. They describe a row and judge nothing: rel_err is large
  wherever the reference is near zero.
- **Status**: ✅ passed; ⚠️ holds with a reservation, given under Notes; - none published.
- **Used by**: the call sites that need the shape (model, phase, operation).
- **Evidence**: *published*, a figure of the upstream registry, measured there on NPU2; *hardware*, our own
  run on an NPU2; *simulated*, predicted by the host target. Simulated rows never enter docs/kernel_registry,
  only the working copy of a run.

## Kernels
"""

_COMMANDS = """\
## Commands

```
python -m scripts.registry lookup gemm M=2048 K=2048 N=2048 precision=high output_dtype=bf16
python -m scripts.registry check docs/kernel_registry
python -m scripts.registry render --root docs/kernel_registry
```
"""


def index_page(documents: list[Document]) -> str:
    """The front page over all registry files, figures computed from their rows."""
    entries = [_entry(document) for document in documents]
    return "\n".join([_INTRODUCTION, markdown_table(pd.DataFrame(entries)), "", _COMMANDS])


def _entry(document: Document) -> dict[str, str]:
    rows, kernel = document["rows"], document["kernel"]
    kinds = Counter(row["evidence"]["kind"] for row in rows)
    return {
        "Kernel": f"[{kernel}]({kernel}.md)",
        "Contract": load_kernel(kernel).contract,
        "Shapes": str(len({row["shape"] for row in rows})),
        "Evidence": ", ".join(f"{kinds[kind]} {kind}" for kind in EVIDENCE_KINDS if kinds[kind]) or "-",
        "Fastest": _fastest(rows),
        "mean_rel_L1": _range(rows),
    }


def _fastest(rows: list[Row]) -> str:
    """The highest throughput that a device gave, and its shape."""
    row = max(filter(is_measured, rows), key=speed, default=None)
    if row is None or not speed(row):
        return "-"
    figure = "gflops" if row["gflops"] else "gbps"
    unit = " GFLOP/s" if figure == "gflops" else ""
    return f"{figure_text(row, figure)}{unit} at {row['shape']}{' ' + row['method'] if row['method'] else ''}"


def _range(rows: list[Row]) -> str:
    """The smallest and the largest mean_rel_L1 among the rows."""
    known = sorted(
        (row for row in rows if row["mean_rel_L1"] is not None), key=lambda row: row["mean_rel_L1"]
    )
    if not known:
        return "-"
    low, high = (figure_text(row, "mean_rel_L1") for row in (known[0], known[-1]))
    return low if low == high else f"{low} to {high}"
