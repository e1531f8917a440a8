"""The registry's JSON files: reading, checking, and changing them without ever losing a row."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypedDict

from scripts.errors import InputError
from scripts.registry.disagreement import PERF_FIGURES, Disagreement, change_of
from scripts.registry.lock import registry_lock
from scripts.registry.roots import accepted_kinds, registry_file, registry_kernels
from scripts.registry.rows import (
    HARDWARE,
    SIMULATED,
    TABLE_COLUMNS,
    Row,
    check_row,
    identity,
    is_measured,
    joined,
    model_of,
    with_best,
)
from scripts.registry.transaction import commit


class Document(TypedDict):
    """A registry file: the rows of one kernel."""

    kernel: str  # folder name in kernels/
    title: str  # for people
    columns: list[str]  # of its table, as in kernel.yaml when the file was made
    rows: list[Row]  # in file order


@dataclass(frozen=True)
class AppendResult:
    """What an append left on file. A function of the row and the registry, not of how often it ran."""

    row: Row  # the row on file that stands for the appended one
    appended: bool  # that row is the appended evidence's own
    already_present: bool  # another evidence's row of this shape and method is on file
    disagreements: tuple[Disagreement, ...] = ()  # figures on file that the row does not confirm


def load_rows(root: Path, kernel: str) -> list[Row]:
    """The rows of `kernel` in the registry folder `root`; none when it has no file for that kernel.

    Raises InputError naming the file and the line or field when the folder is missing or the file malformed.
    """
    document = load_document(root, kernel)
    return document["rows"] if document else []


def load_document(root: Path, kernel: str) -> Document | None:
    """The registry file of `kernel`, checked; None when there is none. Raises as `load_rows`."""
    path = registry_file(root, kernel)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        registry_kernels(root)
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    return _checked(_parsed(text, path), kernel, path)


def _parsed(text: str, path: Path) -> Any:
    def refuse(constant: str) -> NoReturn:
        raise InputError(f"{path}: found {constant}; allowed: numbers and null")

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise InputError(f"{path} line {error.lineno}: not JSON ({error.msg}); restore the file") from None


def _checked(document: Any, kernel: str, path: Path) -> Document:
    if not isinstance(document, dict):
        raise InputError(f"{path}: found {type(document).__name__}; allowed: a JSON object")
    for field, kind in (("kernel", str), ("title", str), ("columns", list), ("rows", list)):
        if not isinstance(document.get(field), kind):
            raise InputError(f"{path}: field {field} is missing or no {kind.__name__}")
    if document["kernel"] != kernel:
        raise InputError(f"{path}: field kernel is {document['kernel']!r}; allowed: {kernel!r}")
    unknown = [column for column in document["columns"] if column not in TABLE_COLUMNS]
    if unknown:
        raise InputError(f"{path}: field columns has {unknown[0]!r}; allowed: {', '.join(TABLE_COLUMNS)}")
    for index, row in enumerate(document["rows"]):
        check_row(row, f"{path}: rows[{index}]{_shape_of(row)}")
    return document


def _shape_of(row: Any) -> str:
    return f" ({row['shape']})" if isinstance(row, dict) and "shape" in row else ""


def document_text(document: Document) -> str:
    """The file's text: one field a line, so that a diff shows the field that changed."""
    head = [f'  "{key}": {_json(document[key])},' for key in ("kernel", "title", "columns")]
    rows = ",\n".join(_row_text(row) for row in document["rows"])
    body = f"[\n{rows}\n  ]" if rows else "[]"
    return "\n".join(["{", *head, f'  "rows": {body}', "}"]) + "\n"


def _row_text(row: Row) -> str:
    fields = ",\n".join(f'      "{field}": {_json(value)}' for field, value in row.items())
    return f"    {{\n{fields}\n    }}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def new_document(kernel: str) -> Document:
    """An empty registry file for `kernel`, with the title and columns of its kernel.yaml.

    Raises InputError when the kernel is unknown or has no registry table.
    """
    # Imported here: a registry file that exists is read without any kernel.yaml.
    from scripts.cases.kernel_facts import load_kernel

    facts = load_kernel(kernel)
    if not facts.registry.get("columns"):
        raise InputError(
            f"kernels/{kernel}/kernel.yaml: field registry.columns is missing; no table to append to"
        )
    return {"kernel": kernel, "title": facts.title, "columns": list(facts.registry["columns"]), "rows": []}


def check_columns(document: Document, path: Path) -> None:
    """Raise InputError unless the file's columns are those of its kernel.yaml."""
    found, allowed = document["columns"], new_document(document["kernel"])["columns"]
    if found != allowed:
        raise InputError(
            f"{path}: field columns is {', '.join(found)}; allowed: {', '.join(allowed)} (as in kernel.yaml)"
        )


def append(root: Path, kernel: str, row: Row, accept: bool = False) -> AppendResult:
    """Put `row` into the registry `root`, re-read the file and prove that it is there.

    Simulated evidence replaces its own earlier row (same shape and method) and leaves every other as it
    is. Hardware evidence for a (shape, method) that a device measured already adds no row: its call sites
    join `used_by` of the one on file, whose figures stay, unless `accept` is set and they disagree: then the
    row takes its place. Appending the same row again changes no byte.

    Raises InputError when `root` does not accept this kind of evidence or a file is malformed.
    """
    check_row(row, f"new row of {kernel}")
    kind = row["evidence"]["kind"]
    require_accepted(root, kind)
    found: list[Disagreement] = []

    def change(rows: list[Row]) -> list[Row]:
        found.extend(_disagreements(registry_file(root, kernel), _standing_for(rows, row), row, accept))
        return _with_row(rows, row, replace=accept and bool(found))

    rows = _update(root, kernel, change)
    on_file = _standing_for(rows, row)
    if on_file is None or not _records(on_file, row):
        raise RuntimeError(f"{registry_file(root, kernel)}: {row['shape']} is not there after appending it")
    others = [r for r in rows if _same_code(r, row) and identity(r) != identity(row)]
    own = on_file["evidence"] == row["evidence"]
    return AppendResult(on_file, own, bool(others) or not own, tuple(found))


def _disagreements(path: Path, on_file: Row | None, row: Row, accept: bool) -> list[Disagreement]:
    """Figures of the row on file that hardware evidence does not confirm; speed is compared by one figure."""
    if on_file is None or row["evidence"]["kind"] != HARDWARE:
        return []
    by_speed = [figure for figure in PERF_FIGURES if on_file[figure] is not None][:1]
    found = []
    for figure in (*by_speed, "mean_rel_L1"):
        text = on_file["printed"].get(figure) or str(on_file[figure])
        change = change_of(figure, text, row[figure])
        if change:
            where = f"{path} {on_file['shape']}"
            found.append(Disagreement(where, figure, text, str(row[figure]), change, accept))
    return found


def withdraw(root: Path, kernel: str, shape: str, method: str | None) -> None:
    """Remove the simulated row of (shape, method), or of every method when it is None: its case fails now."""
    require_accepted(root, SIMULATED)

    def stays(row: Row) -> bool:
        return row["shape"] != shape or is_measured(row) or method not in (None, row["method"])

    if registry_file(root, kernel).exists():
        _update(root, kernel, lambda rows: [row for row in rows if stays(row)])


def require_accepted(root: Path, kind: str) -> None:
    """Raise InputError unless evidence of this kind may be appended to the registry `root`."""
    if kind not in accepted_kinds(root):
        raise InputError(
            f"{root}: found {kind} evidence; allowed: {' or '.join(accepted_kinds(root))} "
            "(simulated rows go to a working copy such as results/registry)"
        )


def replace_document(root: Path, document: Document) -> None:
    """Write a registry file whole, under the lock. Its rows are put in file order, `best` set anew."""
    with registry_lock(root):
        _write(root, document)


def _update(root: Path, kernel: str, change: Callable[[list[Row]], list[Row]]) -> list[Row]:
    """Apply `change` to the rows on file, under the lock; the rows as re-read afterwards."""
    with registry_lock(root):
        document = load_document(root, kernel) or new_document(kernel)
        check_columns(document, registry_file(root, kernel))
        _write(root, {**document, "rows": change(document["rows"])})
        return load_rows(root, kernel)


def _write(root: Path, document: Document) -> None:
    path = registry_file(root, document["kernel"])
    # Left by a writer that was killed; nobody else writes while we hold the lock.
    for leftover in root.glob(f".{path.name}.*"):
        leftover.unlink(missing_ok=True)
    document = {**document, "rows": with_best(document["rows"])}
    texts = {path: document_text(document)}
    if path.with_suffix(".md").exists():
        # Imported here: rendering needs pandas, and a working copy has no pages.
        from scripts.registry.tables import rendered_pages

        texts |= rendered_pages(root, document)
    commit(root, texts)


def _with_row(rows: list[Row], row: Row, replace: bool = False) -> list[Row]:
    """`rows` and the new one: joined into the row that stands for it, or in place of it, or added."""
    current = _standing_for(rows, row)
    if current is None:
        return [*rows, row]
    others = [other for other in rows if other is not current]
    if replace or row["evidence"]["kind"] == SIMULATED:
        return [*others, {**row, "used_by": joined(current["used_by"], row["used_by"])}]
    named = {model_of(label) for label in current["used_by"]}
    labels = [label for label in row["used_by"] if model_of(label) not in named]
    return [*others, {**current, "used_by": joined(current["used_by"], labels)}]


def _standing_for(rows: list[Row], row: Row) -> Row | None:
    """The row on file that an append of `row` leads to: its own kind's, for hardware also a published one."""
    candidates = [other for other in rows if _same_code(other, row)]
    if row["evidence"]["kind"] == HARDWARE:
        measured = [other for other in candidates if is_measured(other)]
        return min(measured, key=lambda other: other["evidence"]["kind"] != HARDWARE, default=None)
    return next((other for other in candidates if identity(other) == identity(row)), None)


def _same_code(first: Row, second: Row) -> bool:
    return (first["shape"], first["method"]) == (second["shape"], second["method"])


def _records(on_file: Row, row: Row) -> bool:
    """Whether the row on file names every model that calls `row`, and, if it is its own, equals it."""
    named = {model_of(label) for label in on_file["used_by"]}
    if not {model_of(label) for label in row["used_by"]} <= named:
        return False
    kept = {"used_by": on_file["used_by"], "best": on_file["best"]}
    return on_file["evidence"] != row["evidence"] or on_file == {**row, **kept}
