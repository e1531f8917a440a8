"""The build record, results/build/<case>/build.json, as the verdict reads it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.errors import InputError

BUILD_STATUSES = ("OK", "COMPILE_WALL", "COMPILE_ERROR", "TIMEOUT")
EVIDENCE_KINDS: Mapping[str, str] = {"host": "simulated", "npu2": "hardware"}


@dataclass(frozen=True)
class BuildRecord:
    """How a case was built, or why it could not be."""

    case: str  # `<kernel>_<shape>`
    target: str  # "host" or "npu2"
    status: str  # one of BUILD_STATUSES
    reason: str | None  # why there is no ELF; None when there is one
    method: str | None  # code path of the kernel, None when it has one only
    knobs: Mapping[str, int]  # every tile knob; empty when no tile was chosen
    tile: Mapping[str, int]  # the knobs a registry row keeps
    herd: tuple[int, int] | None  # columns and rows of tiles in use
    tiles_used: int | None
    tiles_target: int | None
    note: str | None  # why fewer tiles than the target are used
    elf_sha256: str | None
    toolchain: str | None  # compiler and version
    device: str | None  # what runs the ELF
    started: str | None  # UTC, ISO 8601 with Z
    seconds: float | None  # compile time
    artifacts: Mapping[str, str] = field(default_factory=dict)  # file beside the record -> sha256 (npu2)
    split: bool | None = None  # npu2: compiled apart from the run; None on the host target
    split_reason: str | None = None  # npu2: why it could not be
    versions: Mapping[str, str] = field(default_factory=dict)  # npu2: of mlir-air, mlir-aie and Peano
    command: tuple[str, ...] = ()  # the builder's argument list; several are joined by &&

    @property
    def evidence_kind(self) -> str:
        """`simulated` for the host target, `hardware` for the NPU."""
        return EVIDENCE_KINDS[self.target]


def read_build(path: Path) -> BuildRecord:
    """Read and check a build record. Raises InputError naming the file and the field."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: not found; a build record is needed") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path}: not a readable JSON file: {error}") from None
    return build_record(record, str(path))


def build_record(record: Any, where: str = "build record") -> BuildRecord:
    """Check a parsed build record. Raises InputError prefixed by `where`."""
    if not isinstance(record, dict):
        raise InputError(f"{where}: found {type(record).__name__}; a build record is a JSON object")
    for name, allowed in (("case", None), ("target", tuple(EVIDENCE_KINDS)), ("status", BUILD_STATUSES)):
        value = record.get(name)
        if not isinstance(value, str) or (allowed and value not in allowed):
            raise InputError(f"{where}: field {name} is {value!r}; allowed: {_allowed_text(allowed)}")
    herd = record.get("herd")
    optional = ("reason", "method", "tiles_used", "tiles_target", "note", "elf_sha256")
    return BuildRecord(
        case=record["case"],
        target=record["target"],
        status=record["status"],
        knobs=record.get("knobs") or {},
        tile=record.get("tile") or {},
        herd=tuple(herd) if herd else None,
        **{name: record.get(name) for name in (*optional, "toolchain", "device", "started", "seconds")},
        artifacts=record.get("artifacts") or {},
        split=record.get("split"),
        split_reason=record.get("split_reason"),
        versions=record.get("versions") or {},
        command=tuple(record.get("command") or ()),
    )


def _allowed_text(allowed: tuple[str, ...] | None) -> str:
    return ", ".join(allowed) if allowed else "a text"
