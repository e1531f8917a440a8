"""Step compile: build the ELF of one case. A wall or a compiler's error is recorded, not raised.

Writes <output-dir>/kernel.elf, then <output-dir>/build.json. Needs no device.
"""

import argparse
import dataclasses
import json
import sys
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

from scripts.atomic import write_text
from scripts.cases.case import Case, parse_case
from scripts.cases.kernel_facts import KernelFacts, load_kernel
from scripts.cases.overrides import parse_overrides
from scripts.cases.tile_choice import CaseSpec, IllegalTile, choose_spec, spec_variables
from scripts.cases.walls import hints
from scripts.errors import InputError, exit_status
from scripts.registry.store import load_rows
from scripts.targets.build_folder import ELF_NAME, RECORD_NAME, file_sha256
from scripts.targets.build_steps import Build
from scripts.targets.interface import Target, target_named, target_names
from scripts.targets.kernel_source import KernelSource, kernel_source
from scripts.targets.process import project_path, utc_now

# Upstream's longest sound builds stay under 10 minutes; a longer one does not come back.
TIME_LIMIT_SECONDS = 600.0


def build_elf(
    target: Target,
    facts: KernelFacts,
    spec: CaseSpec,
    folder: Path,
    time_limit: float,
    objects: Path | None = None,
    source: KernelSource | None = None,
) -> Build:
    """Build the ELF of `spec` in `folder`, by way of the object files that `objects` keeps if it is given.

    A kernel `source` from outside of the project needs `objects`. Prints what the builder printed to stderr.
    Raises InputError when a tool of the target is missing.
    """
    return target.build(facts, spec, folder, time_limit, objects, source)


def compile_case(case: Case, target: Target, options: argparse.Namespace) -> dict[str, Any]:
    """Build `case` and return its build record; see `_record` for the fields.

    Raises InputError for an unknown knob or method, a shape without a legal tile, or a missing tool.
    """
    facts, folder, started = load_kernel(case.kernel), options.output_dir, utc_now()
    source = kernel_source(facts, options.kernel_source) if options.kernel_source else None
    overrides = parse_overrides(options.tile, options.method)
    # A complete tile needs no registry: the workflow has chosen, and the build repeats that choice.
    complete = all(knob.name in overrides for knob in facts.knobs)
    rows = [] if complete else load_rows(options.registry, case.kernel)
    _make_folder(folder)
    (folder / RECORD_NAME).unlink(missing_ok=True)
    try:
        spec = choose_spec(case, rows, overrides)
    except IllegalTile as wall:
        build, chosen = Build("COMPILE_WALL", str(wall)), _refused_tile(facts, overrides)
    else:
        if options.tile_source:
            spec = dataclasses.replace(spec, tile_source=options.tile_source, note=options.note)
        chosen = _chosen_tile(facts, spec)
        for hint in chosen["hints"]:
            print(f"warning: {case.name}: {hint}", file=sys.stderr)
        build = build_elf(target, facts, spec, folder, options.time_limit, _objects(options), source)
    if build.status != "OK":
        (folder / ELF_NAME).unlink(missing_ok=True)
    return _record(case, target, build, {**chosen, "source": _source_record(facts, source)}, started)


def _objects(options: argparse.Namespace) -> Path | None:
    """Where object files are kept: beside the ELF when a kernel source needs them and no folder is named."""
    return options.objects or (options.output_dir / "objects" if options.kernel_source else None)


def _source_record(facts: KernelFacts, source: KernelSource | None) -> list[dict[str, str]]:
    """What the record says of the kernel's C++ files, the launch loop's included."""
    files = {
        project_path(file): file for file in (facts.sources if source is None else [facts.upstream.launch])
    }
    if source is not None:
        files = {source.label: source.file, **files}
    return [{"file": label, "sha256": file_sha256(file)} for label, file in files.items()]


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--output-dir: {folder} cannot be made: {error.strerror}") from None


def _chosen_tile(facts: KernelFacts, spec: CaseSpec) -> dict[str, Any]:
    """What the record says of a legal tile."""
    return {
        "method": spec.method,
        "tile": dict(spec.tile),
        "herd": list(spec.herd),
        "knobs": dict(spec.knobs),
        "tile_text": spec.tile_text,
        "tile_source": spec.tile_source,
        "tiles_used": spec.tiles_used,
        "tiles_target": spec.tiles_target,
        "note": spec.note,
        "hints": [f"{hint.name}: {hint.says}" for hint in hints(facts, spec_variables(spec))],
    }


def _refused_tile(facts: KernelFacts, overrides: Mapping[str, int | str]) -> dict[str, Any]:
    """What the record says of a tile that breaks a wall: the knobs asked for, defaults for the others."""
    knobs = {knob.name: int(overrides.get(knob.name, knob.default)) for knob in facts.knobs}
    herd = [int(extent(knobs)) for extent in facts.herd.extent]
    return {
        "method": overrides.get("method"),
        "tile": {name: knobs[name] for name in facts.tile_columns},
        "herd": herd,
        "knobs": knobs,
        "tile_text": facts.tile_text.format_map(knobs),
        "tile_source": "override",
        "tiles_used": prod(herd),
        "tiles_target": prod(facts.herd.target),
        "note": None,
        "hints": [],
    }


def _record(
    case: Case, target: Target, build: Build, chosen: Mapping[str, Any], started: str
) -> dict[str, Any]:
    """The build record: what was asked, with which tile, how it ended, and by which toolchain."""
    ended_well = build.status == "OK"
    return {
        "case": case.name,
        "kernel": case.kernel,
        "shape": case.shape,
        "target": target.name,
        "status": build.status,
        "reason": build.reason,
        "elf": build.elf if ended_well else None,
        "elf_sha256": build.sha256,
        **chosen,
        **build.details,
        "command": list(build.command),
        "toolchain": target.fingerprint(),
        "device": target.device,
        "started": started,
        "seconds": round(build.seconds, 3),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.compile_elf", description=__doc__)
    parser.add_argument("case", metavar="CASE", help="<kernel>_<shape>, e.g. gemm_2048x2048x8192")
    parser.add_argument("--target", default="host", help=f"one of {', '.join(target_names())} (default host)")
    parser.add_argument("--output-dir", type=Path, required=True, help="folder for kernel.elf and build.json")
    parser.add_argument("--tile", help="knobs, e.g. tile_m=64,herd_m=8 (default: chosen from the registry)")
    parser.add_argument("--method", help="code path of the kernel (default: chosen from the registry)")
    parser.add_argument("--tile-source", help="where --tile comes from, for the record")
    parser.add_argument("--note", help="why fewer tiles than the target are used, for the record")
    parser.add_argument(
        "--registry", type=Path, default=Path("docs/kernel_registry"), help="rows to choose from"
    )
    parser.add_argument(
        "--kernel-source",
        type=Path,
        nargs="?",
        metavar="PATH",
        help="build this C++ file, or the one in this mlir-air checkout, instead of the project's own",
    )
    parser.add_argument("--objects", type=Path, metavar="DIR", help="folder that keeps object files")
    parser.add_argument("--mlir-air", type=Path, metavar="DIR", help="checkout whose harnesses npu2 compiles")
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT_SECONDS, metavar="S", help="seconds")
    return parser.parse_args()


def main() -> None:
    """Command line."""
    options = _arguments()
    target = target_named(options.target, options.mlir_air)
    record = compile_case(parse_case(options.case), target, options)
    write_text(options.output_dir / RECORD_NAME, json.dumps(record, indent=2) + "\n")
    if record["status"] != "OK":
        print(f"{record['case']}: {record['status']}: {record['reason']}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(exit_status(main))
