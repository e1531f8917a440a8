"""Append one verdict to a registry folder, prove that its row is there, and write the receipt.

A PASS becomes a row, or joins the row of the same shape and method that is there already; a FAIL never
becomes one, and takes back the simulated row that an earlier PASS of the case left. Simulated verdicts go
to a working copy of the shared registry only.
"""

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scripts.atomic import write_text
from scripts.cases.kernel_facts import KernelFacts, load_kernel
from scripts.errors import InputError, exit_status
from scripts.precision.verdict import Verdict, read_verdict
from scripts.registry.disagreement import Disagreement
from scripts.registry.roots import SHARED_REGISTRY, is_same_folder, registry_file, registry_kernels
from scripts.registry.rows import FIGURES, HARDWARE, SIMULATED, Row
from scripts.registry.store import AppendResult, append, require_accepted, withdraw
from scripts.registry.upstream.append import append_upstream, require_hardware
from scripts.registry.upstream.measured import index_path, is_upstream_root
from scripts.registry.working_copy import ensure_working_copy

_OWN_EVIDENCE = ("elf_sha256", "started", "toolchain", "device")


def registry_row(verdict: Verdict, facts: KernelFacts) -> Row:
    """The row that a passing verdict becomes: its figures are those of the verdict's own run.

    Timings of a simulated run say nothing about the device and are left out.
    Raises InputError when the verdict's method or tile is not one of the kernel's.
    """
    evidence = verdict.evidence
    timing = asdict(verdict.perf) if verdict.perf and evidence.kind == HARDWARE else {}
    measured = {**timing, **(asdict(verdict.precision) if verdict.precision else {})}
    own = {field: getattr(evidence, field) for field in _OWN_EVIDENCE if getattr(evidence, field) is not None}
    return {
        "shape": verdict.shape,
        "method": _method(verdict, facts),
        "best": False,
        "tile": _tile(verdict, facts),
        "herd": list(verdict.herd or ()),
        **{figure: measured.get(figure) for figure in FIGURES},
        "printed": {},
        "used_by": list(verdict.used_by),
        "status": "⚠️" if evidence.attempts > 1 else "✅",
        "note": _note(verdict),
        "evidence": {"kind": evidence.kind, "source": evidence.source, "case": verdict.case, **own},
    }


def _method(verdict: Verdict, facts: KernelFacts) -> str | None:
    known = facts.method_names()
    if verdict.method in known or (verdict.method is None and not known):
        return verdict.method
    allowed = ", ".join(known) or "null"
    raise InputError(f"verdict of {verdict.case}: field method: found {verdict.method!r}; allowed: {allowed}")


def _tile(verdict: Verdict, facts: KernelFacts) -> dict[str, int]:
    if set(verdict.tile) != set(facts.tile_columns):
        found, allowed = ", ".join(verdict.tile) or "none", ", ".join(facts.tile_columns) or "none"
        raise InputError(f"verdict of {verdict.case}: field tile: found knobs {found}; allowed: {allowed}")
    return {knob: verdict.tile[knob] for knob in facts.tile_columns}


def _note(verdict: Verdict) -> str | None:
    retried = f"passed on attempt {verdict.evidence.attempts}" if verdict.evidence.attempts > 1 else None
    return "; ".join(note for note in (verdict.note, retried) if note) or None


def record(verdict: Verdict, registry: Path, seed: Path | None, accept: bool = False) -> dict[str, Any]:
    """Bring the registry in line with the verdict and return the receipt.

    `registry` is one of ours, made from `seed` where it is a working copy that is missing, or that of a
    mlir-air checkout. `accept` lets the verdict's figures replace those on file which they contradict.
    Raises InputError when the registry does not accept this evidence, or is not as expected.
    """
    kernel, kind = verdict.kernel, verdict.evidence.kind
    if verdict.case != f"{kernel}_{verdict.shape}":
        found = f"{verdict.case!r} of kernel {kernel!r} and shape {verdict.shape!r}"
        raise InputError(f"verdict: field case: found {found}; allowed: <kernel>_<shape>")
    upstream = is_upstream_root(registry)
    if upstream:
        require_hardware(registry, kind)
    elif seed and not is_same_folder(registry, seed):
        ensure_working_copy(registry, seed, kernel)
    require_accepted(registry, kind)
    facts = load_kernel(kernel)
    if not facts.registry.get("columns"):
        return _receipt(verdict, registry, None, f"no row: {kernel} has no registry table in its kernel.yaml")
    if verdict.passed:
        row = registry_row(verdict, facts)
        put = _append_upstream if upstream else append
        return _receipt(verdict, registry, put(registry, kernel, row, accept), None)
    if kind == SIMULATED:
        withdraw(registry, kernel, verdict.shape, verdict.method)
    return _receipt(verdict, registry, None, f"no row: {verdict.status}: {verdict.reason}")


def _append_upstream(registry: Path, kernel: str, row: Row, accept: bool) -> AppendResult:
    edit = append_upstream(registry, kernel, row, accept)
    return AppendResult(row, edit.appended, not edit.appended, edit.disagreements)


def _receipt(
    verdict: Verdict, registry: Path, result: AppendResult | None, reason: str | None
) -> dict[str, Any]:
    return {
        "case": verdict.case,
        "kernel": verdict.kernel,
        "shape": verdict.shape,
        "appended": result.appended if result else False,
        "already_present": result.already_present if result else False,
        "used_by": result.row["used_by"] if result else [],
        "row": result.row if result else None,
        "disagreements": [asdict(each) for each in result.disagreements] if result else [],
        "registry": os.path.relpath(_file(registry, verdict.kernel)),
        "reason": reason,
    }


def _file(registry: Path, kernel: str) -> Path:
    """The file that tells which registry it is, and holds the kernel's rows."""
    return index_path(registry) if is_upstream_root(registry) else registry_file(registry, kernel)


def destination(options: argparse.Namespace, verdict: Verdict) -> tuple[Path, Path | None]:
    """Where the verdict's row goes, and the seed it may be made from.

    Hardware evidence goes to --registry-root where one is given; everything else to --registry. mlir-air
    keeps rows of kernels with a harness only, so those that the diagnosis judges go to --registry too.
    Raises InputError when neither option takes this kind of evidence.
    """
    kind = verdict.evidence.kind
    if (
        options.registry_root
        and (kind == HARDWARE or not options.registry)
        and not _kept_apart(options, verdict)
    ):
        require_hardware(options.registry_root, kind)
        if not is_upstream_root(options.registry_root) and not registry_kernels(options.registry_root):
            raise InputError(
                f"{options.registry_root}: no registry; allowed: kernel_registry/ of a mlir-air checkout, or "
                f"a folder such as {SHARED_REGISTRY.name}"
            )
        return options.registry_root, None
    if not options.registry:
        raise InputError("--registry: missing; allowed: a folder, or --registry-root for hardware evidence")
    return options.registry, options.seed


def _kept_apart(options: argparse.Namespace, verdict: Verdict) -> bool:
    """Whether the registry root is mlir-air's, which has no table for the verdict's kernel."""
    judged_by_diagnosis = load_kernel(verdict.kernel).signal == "diagnosis"
    return bool(options.registry) and judged_by_diagnosis and is_upstream_root(options.registry_root)


def main() -> None:
    """Command line of the step."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--verdict", type=Path, required=True, help="results/<case>.verdict")
    parser.add_argument("--registry", type=Path, help="folder to append to, e.g. a working copy")
    parser.add_argument("--seed", type=Path, help="folder a missing working copy starts from")
    parser.add_argument(
        "--registry-root",
        type=Path,
        help="where hardware evidence goes instead: kernel_registry/ of a mlir-air checkout, or one of ours",
    )
    parser.add_argument(
        "--accept", action="store_true", help="replace figures on file that the verdict contradicts"
    )
    parser.add_argument(
        "--receipt", type=Path, required=True, help="results/<case>.row, written in every case"
    )
    options = parser.parse_args()
    verdict = read_verdict(options.verdict)
    registry, seed = destination(options, verdict)
    receipt = record(verdict, registry, seed, options.accept)
    write_text(options.receipt, json.dumps(receipt, indent=2, ensure_ascii=False) + "\n")
    for each in receipt["disagreements"]:
        print(f"{verdict.case}: {Disagreement(**each)}")


if __name__ == "__main__":
    sys.exit(exit_status(main))
