"""What has drifted apart in mlir-air's registry: index, detail pages and JSON, compared with each other."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.cases.kernel_facts import KernelFacts, harness_kernels, load_kernel
from scripts.errors import InputError
from scripts.registry.lock import checkout_lock
from scripts.registry.upstream.call_sites import MODEL
from scripts.registry.upstream.claims import best_findings, bold_findings, headline_findings
from scripts.registry.upstream.columns import ShapeTable
from scripts.registry.upstream.filed_rows import FiledRow, json_rows, same_figure, table_rows
from scripts.registry.upstream.gemm_json import GemmJson
from scripts.registry.upstream.json_text import read_json
from scripts.registry.upstream.measured import index_path, json_path, page_of, page_path, tier_of
from scripts.registry.upstream.pages import detail_table, index_table
from scripts.registry.upstream.pipe_table import read_page

_COMPARED = ("latency_us", "gflops", "gbps", "mean_rel_L1", "abs_err_max", "rel_err_max")
_MODEL = re.compile(rf"(?<![\w.-]){MODEL}(?![\w-])")
_Users = Mapping[str, frozenset[str]]
"""Shape -> the models that one file names as its users, in lower case."""


@dataclass(frozen=True)
class _Filed:
    """What the files say of one kernel."""

    facts: KernelFacts
    index_table: ShapeTable
    detail_tables: Sequence[ShapeTable]
    index: Sequence[FiledRow]
    detail: Sequence[FiledRow]
    json_file: GemmJson | None
    json: Sequence[FiledRow]


def upstream_findings(root: Path) -> list[str]:
    """One line for each contradiction in the registry of a mlir-air checkout, empty when there is none.

    A file that is missing or not as expected is a finding, and hides only what needs it.
    """
    found: dict[str, None] = {}
    with checkout_lock(root):
        for kernel in harness_kernels():
            facts = load_kernel(kernel)
            if facts.registry.get("page"):
                found |= dict.fromkeys(_kernel_findings(root, facts))
        found |= dict.fromkeys(_guarded(lambda: headline_findings(index_path(root), _tables(root))))
    return list(found)


def _tables(root: Path) -> Iterator[tuple[str, ShapeTable]]:
    """The index's table of each detail page."""
    pages = {
        page_of(facts): facts for facts in map(load_kernel, harness_kernels()) if facts.registry.get("page")
    }
    lines = read_page(index_path(root))
    for page, facts in pages.items():
        yield page, index_table(index_path(root), lines, page, facts)


def _guarded(look: Callable[[], Iterator[str]]) -> list[str]:
    """The findings of `look`; a malformed file is one."""
    found: list[str] = []
    try:
        found.extend(look())
    except InputError as error:
        found.append(str(error))
    return found


def _kernel_findings(root: Path, facts: KernelFacts) -> list[str]:
    try:
        filed = _read(root, facts)
    except InputError as error:
        return [str(error)]
    looks = [
        lambda: _duplicates(filed.index),
        lambda: _duplicates(filed.detail),
        lambda: _duplicates(filed.json),
        lambda: _compared(filed.index, filed, with_tile=False),
        lambda: _compared(filed.json, filed, with_tile=True),
        lambda: bold_findings([filed.index_table, *filed.detail_tables]),
        lambda: best_findings(filed.json_file),
    ]
    return [line for look in looks for line in _guarded(look)]


def _read(root: Path, facts: KernelFacts) -> _Filed:
    page = page_of(facts)
    index, detail = index_path(root), page_path(root, page)
    whole, lines = index_table(index, read_page(index), page, facts), read_page(detail)
    methods = facts.method_names() or (None,)
    tables = [detail_table(detail, lines, method, facts) for method in methods]
    path = json_path(root, page)
    file = GemmJson(path, read_json(path)) if tier_of(facts) else None
    return _Filed(
        facts=facts,
        index_table=whole,
        detail_tables=tables,
        index=list(table_rows(whole, facts, None)),
        detail=[
            row
            for table, method in zip(tables, methods, strict=True)
            for row in table_rows(table, facts, method)
        ],
        json_file=file,
        json=list(json_rows(file, facts)) if file else [],
    )


def _duplicates(rows: Sequence[FiledRow]) -> Iterator[str]:
    seen: dict[tuple[str, str | None], FiledRow] = {}
    for row in rows:
        first = seen.setdefault((row.shape, row.method), row)
        if first is not row:
            yield f"{row.where}: a second row for {row.name}; the first is in line {first.line}"


def _compared(rows: Sequence[FiledRow], filed: _Filed, with_tile: bool) -> Iterator[str]:
    """Rows of the index or of the JSON against those of the detail page, both ways."""
    if not rows:
        return
    path = rows[0].path
    page, detail = filed.detail_tables[0].table.path.name, filed.detail
    there = {(row.shape, row.method): row for row in reversed(detail)}
    here = {(row.shape, row.method): row for row in reversed(rows)}
    for key, row in there.items():
        if key not in here:
            yield f"{row.where}: {row.name}{_used_by(row)} has no row in {path.name}"
    users_here, users_there = _users(rows), _users(detail)
    for key, row in here.items():
        if key not in there and row.claims:
            yield f"{row.where}: {row.name}{_used_by(row)} has no row in {page}"
        elif key in there:
            yield from _differences(row, there[key], with_tile)
            yield from _unnamed(row, there[key], users_there)
            yield from _unnamed(there[key], row, users_here)


def _users(rows: Sequence[FiledRow]) -> _Users:
    found: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        found[row.shape] |= {name.casefold() for name in _models(row.used_by)}
    return {shape: frozenset(names) for shape, names in found.items()}


def _used_by(row: FiledRow) -> str:
    models = _models(row.used_by)
    return f", used by {', '.join(models)}," if models else ""


def _models(cell: str) -> list[str]:
    """The models that a cell names, each once, by their spelling there."""
    names: dict[str, str] = defaultdict(str)
    for match in _MODEL.finditer(cell):
        names[match[0].casefold()] = match[0]
    return list(names.values())


def _differences(row: FiledRow, other: FiledRow, with_tile: bool) -> Iterator[str]:
    beside = f"{other.path.name} line {other.line}"
    for figure in _COMPARED:
        one, two = row.figures.get(figure), other.figures.get(figure)
        if one is not None and two is not None and not same_figure(one, two):
            yield f"{row.where}: {row.name}: {figure} is {one or 'not there'}; {beside} has {two}"
    if with_tile and other.tile is not None and row.tile != other.tile:
        yield f"{row.where}: {row.name}: tile is {row.tile}; {beside} has {other.tile}"


def _unnamed(row: FiledRow, other: FiledRow, users: _Users) -> Iterator[str]:
    """Models that one row names and the other's file does not; a shape without any name is left open."""
    known = users[other.shape]
    missing = [name for name in _models(row.used_by) if name.casefold() not in known]
    if known and missing:
        yield (
            f"{other.where}: {other.name}: does not name {', '.join(missing)} as a user; "
            f"{row.path.name} line {row.line} does"
        )
