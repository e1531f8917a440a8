"""The registry's Markdown pages, rendered from its JSON through pandas and tabulate."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from scripts.atomic import write_text
from scripts.cases.kernel_facts import KernelFacts, load_kernel
from scripts.registry.figures import figure_text, scientific
from scripts.registry.index_page import index_page
from scripts.registry.lock import registry_lock
from scripts.registry.markdown import markdown_table
from scripts.registry.roots import registry_file, registry_kernels
from scripts.registry.rows import FIGURES, PUBLISHED, SIMULATED, Row
from scripts.registry.store import Document, check_columns, load_document

_HEADINGS = {
    "shape": "Shape",
    "method": "Method",
    "tile": "Tile",
    "herd": "Herd",
    "latency_us": "Latency",
    "gflops": "GFLOP/s",
    "gbps": "Bandwidth",
    "mean_rel_L1": "mean_rel_L1",
    "rel_err_max": "rel_err max",
    "abs_err_max": "abs_err max",
    "used_by": "Used by",
    "status": "Status",
    "evidence": "Evidence",
}
INDEX = "README.md"


def render(root: Path) -> list[Path]:
    """Write the page of each kernel in `root`, and the index; the paths that were written.

    Raises InputError when a registry file is malformed, and then writes nothing.
    """
    with registry_lock(root):
        pages = rendered_pages(root)
        for path, text in pages.items():
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                write_text(path, text)
    return list(pages)


def rendered_pages(root: Path, new: Document | None = None) -> dict[Path, str]:
    """The text of every page that `root` should hold, with `new` in place of its own file or beside them.

    Raises InputError when a registry file is malformed.
    """
    own = {new["kernel"]: new} if new else {}
    kernels = sorted({*registry_kernels(root), *own})
    documents = [own.get(kernel) or load_document(root, kernel) for kernel in kernels]
    present = [document for document in documents if document]
    for document in present:
        check_columns(document, registry_file(root, document["kernel"]))
    pages = {root / f"{document['kernel']}.md": kernel_page(document) for document in present}
    return {**pages, root / INDEX: index_page(present)}


def kernel_page(document: Document) -> str:
    """The page of one kernel: its contract, its rows, and the notes the columns cannot hold."""
    facts = load_kernel(document["kernel"])
    sections = [
        f"<!-- rendered from {document['kernel']}.json by python -m scripts.registry render -->",
        f"# {document['title']}",
        _introduction(facts, document["rows"]),
        markdown_table(_frame(document)),
        *_notes(document["rows"]),
    ]
    return "\n\n".join(sections) + "\n"


def header_line(kernel: str) -> str:
    """The names of the columns of the kernel's table, as `row_lines` has them."""
    return f"| {' | '.join(_HEADINGS[column] for column in load_kernel(kernel).registry['columns'])} |"


def row_lines(kernel: str, rows: Sequence[Row]) -> list[str]:
    """The rows as lines of the kernel's table, without padding or bold: the same beside any others."""
    columns = load_kernel(kernel).registry["columns"]
    cells = ([_cell(row, column, has_rivals=False) for column in columns] for row in rows)
    return [f"| {' | '.join(line)} |" for line in cells]


def _introduction(facts: KernelFacts, rows: list[Row]) -> str:
    shape = facts.grammar.replace("{", "").replace("}", "")
    dims = "; ".join(f"{dim.name}: {dim.says}" for dim in facts.dims.values())
    lines = [f"- **Contract**: {facts.contract}", f"- **Shape** `{shape}` ({dims})"]
    if facts.tile_columns:
        knobs = "; ".join(f"{name}: {facts.knob(name).unit}" for name in facts.tile_columns)
        lines.append(f"- **Tile** `{'/'.join(facts.tile_columns)}` ({knobs})")
    limits = ", ".join(f"{name} {scientific(str(value))}" for name, value in _limits(facts))
    lines.append(f"- **Passes** when each element is within atol + rtol·abs(expected): {limits}")
    sources = sorted({row["evidence"]["source"] for row in rows if row["evidence"]["kind"] == PUBLISHED})
    if sources:
        lines.append(f"- **Published rows** come from {', '.join(sources)}")
    if len({row["method"] for row in rows}) > 1:
        lines.append("- **Bold** GFLOP/s: the fastest measured row of a shape that has several")
    return "\n".join(lines)


def _limits(facts: KernelFacts) -> list[tuple[str, float]]:
    named = (("rtol", facts.rtol), ("atol", facts.atol), ("tier mean_rel_L1", facts.tier))
    return [(name, value) for name, value in named if value is not None]


def _frame(document: Document) -> pd.DataFrame:
    """One row of cells per registry row, columns as the kernel's kernel.yaml orders them."""
    rows = document["rows"]
    shapes = [row["shape"] for row in rows]
    columns = document["columns"]
    cells = [[_cell(row, column, shapes.count(row["shape"]) > 1) for column in columns] for row in rows]
    return pd.DataFrame(cells, columns=[_HEADINGS[column] for column in columns])


def _cell(row: Row, column: str, has_rivals: bool) -> str:
    if column in FIGURES:
        text = figure_text(row, column)
        return f"**{text}**" if column == "gflops" and row["best"] and has_rivals else text
    if column == "tile":
        return "/".join(str(size) for size in row["tile"].values()) or "-"
    if column == "herd":
        return "x".join(str(extent) for extent in row["herd"])
    if column == "used_by":
        return "; ".join(row["used_by"]) or "-"
    if column == "evidence":
        return _evidence_cell(row)
    return row[column] or "-"


def _evidence_cell(row: Row) -> str:
    """The kind of evidence, and for own runs the day; simulated figures are set apart by italics."""
    evidence = row["evidence"]
    kind = f"*{SIMULATED}*" if evidence["kind"] == SIMULATED else evidence["kind"]
    return f"{kind} {evidence.get('started', '')[:10]}".rstrip()


def _notes(rows: list[Row]) -> list[str]:
    notes = [f"- `{row['shape']}`{_method_of(row)}: {row['note']}" for row in rows if row["note"]]
    return ["## Notes", "\n".join(notes)] if notes else []


def _method_of(row: Row) -> str:
    return f" {row['method']}" if row["method"] else ""
