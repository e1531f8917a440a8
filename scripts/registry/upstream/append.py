"""A measured case put into mlir-air's registry: index, detail page and JSON, all of them or none."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.errors import InputError
from scripts.registry.disagreement import Disagreement
from scripts.registry.lock import checkout_lock
from scripts.registry.rows import HARDWARE, Row
from scripts.registry.transaction import commit
from scripts.registry.upstream.call_sites import spelling, uses
from scripts.registry.upstream.cells import RowWriter
from scripts.registry.upstream.gemm_json import GemmJson, edit_json
from scripts.registry.upstream.json_text import read_json
from scripts.registry.upstream.measured import Measured, index_path, json_path, measured, page_path
from scripts.registry.upstream.pages import detail_table, index_table
from scripts.registry.upstream.pipe_table import read_page
from scripts.registry.upstream.proof import missing_upstream_row
from scripts.registry.upstream.table_edit import edit_table


@dataclass(frozen=True)
class UpstreamEdit:
    """The files of one case, with the case in them."""

    texts: Mapping[Path, str]  # every file of the case, changed or not
    appended: bool  # the case has a new row in its detail table
    disagreements: tuple[Disagreement, ...]


def append_upstream(root: Path, kernel: str, row: Row, accept: bool = False) -> UpstreamEdit:
    """Put a hardware row into the registry of a mlir-air checkout, under its lock, and prove it is there.

    A new shape is one line more in each table (and one entry in the JSON); for a shape on file, the models
    that use it join its cell. Nothing else in any file changes, and nothing at all the second time. With
    `accept`, figures on file that the row disagrees with are replaced.

    Raises InputError, and changes nothing, for evidence that is not of the hardware, and for a file that is
    missing or not as expected (naming file and line).
    """
    require_hardware(root, row["evidence"]["kind"])
    case = measured(kernel, row)
    with checkout_lock(root):
        edit = edited(root, case, accept)
        commit(root, edit.texts)
        models = [each.model for each in uses(row["used_by"])] or [None]
        missing = [missing_upstream_row(root, case.case, row["method"], model) for model in models]
    if any(missing):
        raise RuntimeError(f"{root}: {case.case.name} is not there after appending it: {missing}")
    return edit


def require_hardware(root: Path, kind: str) -> None:
    """Raise InputError unless this kind of evidence may enter a mlir-air checkout."""
    if kind != HARDWARE:
        raise InputError(
            f"{root}: found {kind} evidence; allowed: {HARDWARE} (what the host model predicts goes to "
            "a working copy such as results/registry)"
        )


def edited(root: Path, case: Measured, accept: bool = False) -> UpstreamEdit:
    """The files of a case with the case in them; changes nothing. Raises as `append_upstream`."""
    index, page = index_path(root), page_path(root, case.page)
    pages = {path: read_page(path) for path in (index, page)}
    spellings = _spellings(case, "".join(line for lines in pages.values() for line in lines))
    method = case.row["method"]
    edits = {
        index: edit_table(
            pages[index],
            RowWriter(index_table(index, pages[index], case.page, case.facts), case, spellings),
            accept,
        ),
        page: edit_table(
            pages[page],
            RowWriter(detail_table(page, pages[page], method, case.facts), case, spellings),
            accept,
        ),
    }
    texts = {path: "".join(edit.lines) for path, edit in edits.items()}
    disagreements = [each for edit in edits.values() for each in edit.disagreements]
    if case.tier:
        path = json_path(root, case.page)
        in_json = edit_json(GemmJson(path, read_json(path)), case, spellings, accept)
        texts[path] = in_json.text
        disagreements += in_json.disagreements
    return UpstreamEdit(texts, edits[page].appended, tuple(disagreements))


def _spellings(case: Measured, pages: str) -> dict[str, str]:
    return {each.model: spelling(each.model, pages) for each in uses(case.row["used_by"])}
