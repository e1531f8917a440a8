"""Whether mlir-air's registry holds a case, read back from the files themselves."""

from pathlib import Path

from scripts.cases.case import Case
from scripts.cases.kernel_facts import load_kernel
from scripts.registry.upstream.call_sites import names_model
from scripts.registry.upstream.columns import ShapeTable
from scripts.registry.upstream.gemm_json import GemmJson
from scripts.registry.upstream.json_text import read_json
from scripts.registry.upstream.measured import index_path, json_path, page_of, page_path, tier_of
from scripts.registry.upstream.pages import detail_table, index_table
from scripts.registry.upstream.pipe_table import read_page


def missing_upstream_row(root: Path, case: Case, method: str | None, model: str | None) -> str | None:
    """Why the registry does not hold the case with that method for `model` (None: anybody), or None.

    Raises InputError naming file and line when a file is missing or not as expected.
    """
    facts = load_kernel(case.kernel)
    page = page_of(facts)
    index, detail = index_path(root), page_path(root, page)
    cells = {
        index: _use_cell(index_table(index, read_page(index), page, facts), case),
        detail: _use_cell(detail_table(detail, read_page(detail), method, facts), case),
    }
    if tier_of(facts):
        path = json_path(root, page)
        found = GemmJson(path, read_json(path)).entry(case.dims)
        cells[path] = found[1].get("used_by", "") if found and method in found[1]["methods"] else None
    for path, cell in cells.items():
        if cell is None:
            return f"{path} holds no row for {case.name}"
        if model and not names_model(cell, model):
            return f"the row in {path} does not name {model}"
    return None


def _use_cell(table: ShapeTable, case: Case) -> str | None:
    """What the row of a case says of who uses it; None when there is no row."""
    rows = table.rows_of(case)
    return rows[0].cells[table.use_column.index] if rows else None
