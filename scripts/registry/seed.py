"""Seeding the registry from the published rows, so that where each figure comes from can be repeated."""

import csv
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from scripts.cases.case import parse_case
from scripts.cases.kernel_facts import KernelFacts, load_kernel
from scripts.errors import InputError
from scripts.registry.labels import call_site_labels
from scripts.registry.roots import registry_kernels, write_marker
from scripts.registry.rows import FIGURES, HARDWARE, PUBLISHED, Row, check_row, identity
from scripts.registry.store import new_document, replace_document

PUBLISHED_COLUMNS = (
    *("kernel", "contract", "method", "tier", "best", "shape", "tile", "herd"),
    *(*FIGURES, "used_by", "status", "source"),
)
_FACTS_FILE = Path(__file__).with_name("published_facts.yaml")


def seed(csv_path: Path, root: Path, replace: bool = False) -> dict[str, int]:
    """Write a registry folder that holds exactly the rows of a published CSV; rows per kernel.

    Raises InputError naming the file and line when a row is not as expected, or when `root` holds rows
    already and `replace` is not set; then it writes nothing.
    """
    held = registry_kernels(root) if root.is_dir() else []
    if held and not replace:
        raise InputError(f"{root}: holds {', '.join(held)} already; allowed: an empty folder, or --replace")
    rows = published_rows(csv_path)
    for kernel, kernel_rows in rows.items():
        replace_document(root, {**new_document(kernel), "rows": kernel_rows})
    write_marker(root, HARDWARE)
    return {kernel: len(kernel_rows) for kernel, kernel_rows in rows.items()}


def published_rows(csv_path: Path) -> dict[str, list[Row]]:
    """The rows of a published CSV by kernel. Raises InputError naming the file and line."""
    facts = yaml.safe_load(_FACTS_FILE.read_text(encoding="utf-8"))
    rows: dict[str, list[Row]] = {}
    for line, record in _records(csv_path):
        where = f"{csv_path} line {line}"
        kernel = _kernel_of(record)
        try:
            row = published_row(record, load_kernel(kernel), facts)
        except (InputError, ValueError) as error:
            raise InputError(f"{where}: {error}") from None
        check_row(row, where)
        same = [other for other in rows.setdefault(kernel, []) if identity(other) == identity(row)]
        if same:
            raise InputError(f"{where}: a second row for {kernel} {row['shape']} {row['method'] or ''}")
        rows[kernel].append(row)
    return rows


def _records(csv_path: Path) -> Iterable[tuple[int, dict[str, str]]]:
    try:
        text = csv_path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{csv_path}: cannot be read: {error}") from None
    reader = csv.DictReader(text.splitlines(), strict=True)
    missing = [column for column in PUBLISHED_COLUMNS if column not in (reader.fieldnames or [])]
    if missing:
        raise InputError(
            f"{csv_path} line 1: column {missing[0]} is missing; allowed: {','.join(PUBLISHED_COLUMNS)}"
        )
    for record in reader:
        if None in record or None in record.values():
            raise InputError(
                f"{csv_path} line {reader.line_num}: cut short or too long; {len(PUBLISHED_COLUMNS)} cells"
            )
        yield reader.line_num, record


def _kernel_of(record: Mapping[str, str]) -> str:
    """The kernel folder of a row: the CSV's GEMM is three contracts of ours."""
    if record["kernel"] != "gemm":
        return record["kernel"]
    if record["contract"] == "f32_out":
        return "gemm_f32"
    return "gemm_low" if record["tier"] == "low" else "gemm"


def published_row(record: Mapping[str, str], kernel: KernelFacts, facts: Mapping[str, Any]) -> Row:
    """One CSV row as a registry row. Raises InputError or ValueError when a cell is not as expected."""
    shape = parse_case(f"{kernel.name}_{_shape_name(record['shape'])}").shape
    herd = [int(extent) for extent in record["herd"].split("x")]
    extra = facts.get(kernel.name, {}).get(shape, {})
    printed = {figure: record[figure] for figure in FIGURES if record[figure]}
    return {
        "shape": shape,
        "method": record["method"] or None,
        "best": False,
        "tile": _tile(record["tile"], herd, kernel),
        "herd": herd,
        **{figure: _number(printed.get(figure)) for figure in FIGURES},
        "printed": printed,
        "used_by": extra.get("used_by") or call_site_labels(record["used_by"]),
        "status": extra.get("status") or record["status"] or None,
        "note": extra.get("note"),
        "evidence": {"kind": PUBLISHED, "source": f"{record['source']} ({facts['snapshot']})"},
    }


def _shape_name(published: str) -> str:
    """Our name of a published shape: "512x512 d64/64 h2/2 full" is "512x512_d64x64_h2x2_full"."""
    return published.split(" (")[0].replace("/", "x").replace(" ", "_")


def _tile(published: str, herd: list[int], kernel: KernelFacts) -> dict[str, int]:
    """The published tile text as named knobs, read with the kernel's own tile_text."""
    if not kernel.tile_columns:
        return {}
    parts = re.split(r"\{(\w+)\}", kernel.tile_text)
    # split() alternates literal text and knob names.
    pieces = [
        re.escape(part) if index % 2 == 0 else f"(?P<{part}>[0-9]+)" for index, part in enumerate(parts)
    ]
    match = re.fullmatch("".join(pieces), published)
    if match is None:
        raise InputError(f"tile: found {published!r}; allowed: {kernel.tile_text}")
    knobs = {knob: int(size) for knob, size in match.groupdict().items()}
    if knobs.get("herd_m", herd[0]) != herd[0]:
        raise InputError(
            f"tile: found {published!r} on herd {herd[0]}x{herd[1]}; the herd's columns are in both"
        )
    return {knob: knobs[knob] for knob in kernel.tile_columns}


def _number(printed: str | None) -> int | float | None:
    """A published figure; of a range, its lower end."""
    if printed is None:
        return None
    low = printed.split("–")[0]
    return int(low) if low.isascii() and low.isdigit() else float(low)
