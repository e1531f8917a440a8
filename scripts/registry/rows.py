"""What a registry row holds: its fields, their check, its identity, its place in the file."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from scripts.errors import InputError

PUBLISHED, HARDWARE, SIMULATED = "published", "hardware", "simulated"
EVIDENCE_KINDS = (PUBLISHED, HARDWARE, SIMULATED)
MEASURED_KINDS = (PUBLISHED, HARDWARE)
"""Kinds of evidence that a device gave; simulated figures are predictions."""

FIGURES = ("latency_us", "gflops", "gbps", "mean_rel_L1", "rel_err_max", "abs_err_max")
TABLE_COLUMNS = ("shape", "method", "tile", "herd", *FIGURES, "used_by", "status", "evidence")
"""Fields that a kernel's table may show; which of them, and in which order, kernel.yaml says."""


class Evidence(TypedDict, total=False):
    """Where a row's figures come from; `kind` and `source` are always there."""

    kind: str  # "published", "hardware" or "simulated"
    source: str  # the published file, or the signal that judged the case: "harness", "diagnosis"
    case: str  # own runs only: the case whose verdict the row records
    elf_sha256: str  # own runs only: SHA-256 of the ELF that ran
    started: str  # own runs only: UTC start of the run, ISO 8601
    toolchain: str  # own runs only: compiler and its version
    device: str  # own runs only: what ran the ELF


class Row(TypedDict):
    """One (shape, method) of one kernel with one kind of evidence."""

    shape: str  # the kernel's shape grammar, e.g. "2048x2048x8192"
    method: str | None  # a method of kernel.yaml, or null for kernels without methods
    best: bool  # the fastest measured row of its shape
    tile: dict[str, int]  # kernel.yaml's tile_columns only
    herd: list[int]  # [columns, rows] of the array
    latency_us: float | None  # microseconds per call
    gflops: float | None  # GFLOP/s
    gbps: float | None  # GB/s
    mean_rel_L1: float | None  # mean|actual - expected| / mean|expected|
    rel_err_max: float | None  # largest relative error of an element
    abs_err_max: float | None  # largest absolute error of an element
    printed: dict[str, str]  # published figures exactly as printed, trailing zeros and ranges included
    used_by: list[str]  # call sites, e.g. "llama-3.2-1b prefill Gate/Up proj"
    status: str | None  # "✅", "⚠️" (passes with a reservation, see note), or null: none published
    note: str | None  # a fact that the columns cannot hold
    evidence: Evidence


_NUMBER = (int, float)
_FIELD_TYPES: Mapping[str, tuple[type, ...]] = {
    "shape": (str,),
    "method": (str, type(None)),
    "best": (bool,),
    "tile": (dict,),
    "herd": (list,),
    **{figure: (*_NUMBER, type(None)) for figure in FIGURES},
    "printed": (dict,),
    "used_by": (list,),
    "status": (str, type(None)),
    "note": (str, type(None)),
    "evidence": (dict,),
}


def check_row(row: Any, where: str) -> None:
    """Raise InputError, prefixed by `where`, unless `row` has exactly the fields of `Row`."""
    if not isinstance(row, dict):
        raise InputError(f"{where}: found {type(row).__name__}; a row is a JSON object")
    missing = [field for field in _FIELD_TYPES if field not in row]
    if missing:
        raise InputError(f"{where}: field {missing[0]} is missing; a row has {', '.join(_FIELD_TYPES)}")
    for field, value in row.items():
        _check_field(field, value, where)
    _check_evidence(row["evidence"], where)


def _check_field(field: str, value: Any, where: str) -> None:
    allowed = _FIELD_TYPES.get(field)
    if allowed is None:
        raise InputError(f"{where}: unknown field {field}; a row has {', '.join(_FIELD_TYPES)}")
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        names = " or ".join("null" if kind is type(None) else kind.__name__ for kind in allowed)
        raise InputError(f"{where}: field {field} is {value!r}; allowed: {names}")
    if field == "herd" and (len(value) != 2 or not all(_is_count(extent) for extent in value)):
        raise InputError(f"{where}: field herd is {value!r}; allowed: [columns, rows]")
    if field == "tile" and not all(_is_count(size) for size in value.values()):
        raise InputError(f"{where}: field tile is {value!r}; allowed: a positive integer for each knob")
    if field == "used_by" and not all(isinstance(label, str) and label for label in value):
        raise InputError(f"{where}: field used_by is {value!r}; allowed: a list of call sites")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _check_evidence(evidence: Mapping[str, Any], where: str) -> None:
    for field in ("kind", "source"):
        if not isinstance(evidence.get(field), str):
            raise InputError(f"{where}: field evidence.{field} is missing; allowed: a text")
    if evidence["kind"] not in EVIDENCE_KINDS:
        found, allowed = evidence["kind"], ", ".join(EVIDENCE_KINDS)
        raise InputError(f"{where}: field evidence.kind is {found!r}; allowed: {allowed}")


def identity(row: Row) -> tuple[str, str | None, str]:
    """(shape, method, kind of evidence): a registry file holds one row of each."""
    return row["shape"], row["method"], row["evidence"]["kind"]


def file_order(row: Row) -> tuple[Any, ...]:
    """Sort key of rows in a file: by the numbers of the shape, then method, then kind of evidence.

    The order depends on the rows alone, so that appending in any order gives the same bytes.
    """
    sizes = tuple(int(number) for number in re.findall(r"\d+", row["shape"]))
    return sizes, row["shape"], row["method"] or "", EVIDENCE_KINDS.index(row["evidence"]["kind"])


def is_measured(row: Row) -> bool:
    """Whether a device gave the row's figures."""
    return row["evidence"]["kind"] in MEASURED_KINDS


def speed(row: Row) -> float:
    """The row's throughput, for comparing rows of one shape; 0 when the row holds no timing."""
    return float(row["gflops"] or row["gbps"] or 0)


def with_best(rows: Iterable[Row]) -> list[Row]:
    """The rows in file order, `best` set on the fastest measured row of each shape and no other."""
    ordered = sorted(rows, key=file_order)
    fastest: dict[str, Row] = {}
    for row in filter(is_measured, ordered):
        current = fastest.get(row["shape"])
        if speed(row) > (speed(current) if current else 0.0):
            fastest[row["shape"]] = row
    return [{**row, "best": fastest.get(row["shape"]) is row} for row in ordered]


def joined(labels: Sequence[str], more: Iterable[str]) -> list[str]:
    """`labels`, then those of `more` that are not in it yet, in their order."""
    return [*labels, *(label for label in dict.fromkeys(more) if label not in labels)]


def model_of(label: str) -> str:
    """The model that a call-site label names: its first word."""
    return label.split(" ", 1)[0]
