"""The verdict on one case: a closed set of statuses, and metrics tied to them."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from scripts.errors import InputError


class Status(StrEnum):
    """What became of a case. Everything but PASS and NOT_RUN is a FAIL."""

    PASS = "PASS"  # every element proven close, by a complete log that does not contradict itself
    NUMERIC = "NUMERIC"  # it ran, and some elements are wrong
    CORRUPT = "CORRUPT"  # it ran, and the output as a whole is wrong
    NONDETERMINISTIC = "NONDETERMINISTIC"  # two runs of one ELF gave different figures
    COMPILE_WALL = "COMPILE_WALL"  # it does not compile for this tile
    RUNTIME = "RUNTIME"  # it crashed, or the device failed
    TIMEOUT = "TIMEOUT"  # the compile or the run did not end in time
    NOT_RUN = "NOT_RUN"  # nobody tried
    BAD_LOG = "BAD_LOG"  # the log is incomplete or contradicts itself


MEASURED = frozenset({Status.PASS, Status.NUMERIC, Status.CORRUPT})
"""Statuses that carry figures; the others carry none."""


def outcome_of(status: Status) -> str:
    """The verdict in a word: PASS, FAIL, or NOT_RUN, which says nothing against the case."""
    return status.value if status in (Status.PASS, Status.NOT_RUN) else "FAIL"


@dataclass(frozen=True)
class Precision:
    """Error figures of the run's own log. A figure that is not finite is None, as JSON has no NaN."""

    mean_rel_L1: float | None  # mean|a-e| / mean|e|
    rel_err_max: float | None  # max |a-e| / |e|; gates nothing
    abs_err_max: float | None  # max |a-e|
    rtol: float  # relative tolerance of the comparison
    atol: float  # absolute tolerance of the comparison
    mismatches: int  # elements outside the tolerance
    elements: int  # elements of the output

    def proves_a_pass(self) -> bool:
        """Whether there are elements, none outside the tolerance, and every figure is a number."""
        figures = (self.mean_rel_L1, self.rel_err_max, self.abs_err_max)
        finite = all(figure is not None and math.isfinite(figure) for figure in figures)
        return finite and self.elements > 0 and self.mismatches == 0


@dataclass(frozen=True)
class Perf:
    """Timing of the run's own log."""

    latency_us: float  # microseconds per call
    gflops: float | None  # GFLOP/s; None for kernels whose FLOP count is not meaningful
    gbps: float | None  # GB/s of operands read and written; None where the kernel gives no formula


@dataclass(frozen=True)
class Evidence:
    """Where a verdict comes from."""

    kind: str  # "simulated" or "hardware"
    target: str  # "host" or "npu2"
    source: str  # "harness" or "diagnosis"
    command: str | None  # the command that ran, None when none did
    elf_sha256: str | None  # of the ELF that ran
    toolchain: str | None  # compiler and version
    device: str | None  # what ran the ELF
    started: str | None  # UTC, ISO 8601 with Z
    seconds: float | None  # wall time of the run
    attempts: int  # attempts within this run; 0 when it never started
    hardware: Mapping[str, Any] | None = None  # npu2: versions, device, artifacts, lock; None on the host


@dataclass(frozen=True)
class Verdict:
    """The verdict on one case; `as_json` gives the fields in the order of the record."""

    case: str  # `<kernel>_<shape>`
    kernel: str
    shape: str
    status: Status
    reason: str  # one line for a person
    precision: Precision | None  # present exactly when the status is MEASURED and the source a harness
    perf: Perf | None  # only where the status is MEASURED, and the log holds a timing
    method: str | None  # code path of the kernel, None when it has one only
    tile: Mapping[str, int]  # the knobs a registry row keeps
    herd: tuple[int, int] | None  # columns and rows of tiles in use
    tiles_used: int | None
    tiles_target: int | None
    note: str | None  # the written reason for using fewer tiles than the target
    used_by: tuple[str, ...]  # call sites, e.g. "llama-3.2-1b prefill Gate/Up proj"
    evidence: Evidence

    def __post_init__(self) -> None:
        """Tie the metrics to the status. Raises ValueError when they do not belong together."""
        measured = self.status in MEASURED
        figures_due = measured and self.evidence.source == "harness"
        if (self.precision is not None) != figures_due:
            raise ValueError(
                f"status {self.status} {'needs' if figures_due else 'carries no'} precision figures"
            )
        if self.perf is not None and not measured:
            raise ValueError(f"status {self.status} carries no timing")
        if self.status is Status.PASS and self.precision and not self.precision.proves_a_pass():
            raise ValueError("PASS needs finite figures, at least one element, and no mismatch")
        if not self.reason or "\n" in self.reason:
            raise ValueError("reason must be one line")

    @property
    def passed(self) -> bool:
        """Whether the case passed."""
        return self.status is Status.PASS

    def as_json(self) -> str:
        """The record as JSON text, in the documented order, with a newline at the end."""
        record: dict[str, Any] = {}
        for name, value in asdict(self).items():
            if name == "status":
                record["verdict"] = outcome_of(self.status)
            record[name] = value
        if self.evidence.hardware is None:
            del record["evidence"]["hardware"]
        return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_verdict(path: Path) -> Verdict:
    """Read and check a verdict file. Raises InputError naming the file and what is wrong with it."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return _verdict(record)
    except FileNotFoundError:
        raise InputError(f"{path}: not found; a verdict is needed") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path}: not a readable JSON file: {error}") from None
    except KeyError as error:
        raise InputError(f"{path}: field {error.args[0]} is missing from the verdict") from None
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: not a verdict: {error}") from None


def _verdict(record: Mapping[str, Any]) -> Verdict:
    values = {field.name: record[field.name] for field in fields(Verdict)}
    status = Status(values["status"])
    if record["verdict"] != outcome_of(status):
        raise ValueError(f"verdict {record['verdict']!r} contradicts status {status}")
    values |= {
        "status": status,
        "precision": Precision(**values["precision"]) if values["precision"] else None,
        "perf": Perf(**values["perf"]) if values["perf"] else None,
        "herd": tuple(values["herd"]) if values["herd"] else None,
        "used_by": tuple(values["used_by"]),
        "evidence": Evidence(**values["evidence"]),
    }
    return Verdict(**values)
