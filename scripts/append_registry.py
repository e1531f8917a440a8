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
from scripts.registry.roots import is_same_folder, registry_file
from scripts.registry.rows import FIGURES, HARDWARE, SIMULATED, Row
from scripts.registry.store import AppendResult, append, require_accepted, withdraw
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


def record(verdict: Verdict, registry: Path, seed: Path) -> dict[str, Any]:
    """Bring the registry in line with the verdict and return the receipt.

    The receipt is a function of the verdict and the registry: recording the same verdict again gives the
    same one. Raises InputError when the registry does not accept this evidence.
    """
    kernel, kind = verdict.kernel, verdict.evidence.kind
    if verdict.case != f"{kernel}_{verdict.shape}":
        found = f"{verdict.case!r} of kernel {kernel!r} and shape {verdict.shape!r}"
        raise InputError(f"verdict: field case: found {found}; allowed: <kernel>_<shape>")
    if not is_same_folder(registry, seed):
        ensure_working_copy(registry, seed, kernel)
    require_accepted(registry, kind)
    facts = load_kernel(kernel)
    if not facts.registry.get("columns"):
        return _receipt(verdict, registry, None, f"no row: {kernel} has no registry table in its kernel.yaml")
    if verdict.passed:
        return _receipt(verdict, registry, append(registry, kernel, registry_row(verdict, facts)), None)
    if kind == SIMULATED:
        withdraw(registry, kernel, verdict.shape, verdict.method)
    return _receipt(verdict, registry, None, f"no row: {verdict.status}: {verdict.reason}")


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
        "registry": os.path.relpath(registry_file(registry, verdict.kernel)),
        "reason": reason,
    }


def _refresh_page(registry: Path, kernel: str) -> None:
    """Keep the Markdown in step where the folder shows it. A working copy has none, so it costs nothing."""
    if (registry / f"{kernel}.md").exists():
        # Imported here: rendering needs pandas, which takes longer to import than the append itself.
        from scripts.registry.tables import render

        render(registry)


def main() -> None:
    """Command line of the step."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--verdict", type=Path, required=True, help="results/<case>.verdict")
    parser.add_argument("--registry", type=Path, required=True, help="folder to append to")
    parser.add_argument("--seed", type=Path, required=True, help="folder a missing working copy starts from")
    parser.add_argument(
        "--receipt", type=Path, required=True, help="results/<case>.row, written in every case"
    )
    options = parser.parse_args()
    verdict = read_verdict(options.verdict)
    receipt = record(verdict, options.registry, options.seed)
    _refresh_page(options.registry, verdict.kernel)
    write_text(options.receipt, json.dumps(receipt, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(exit_status(main))
