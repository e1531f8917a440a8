"""The facts of a kernel: kernels/<kernel>/kernel.yaml as typed, checked records."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from scripts.cases.formula import Formula
from scripts.errors import InputError

KERNELS_ROOT: Path = Path(__file__).resolve().parents[2] / "kernels"
FACTS_FILE = "kernel.yaml"


@dataclass(frozen=True)
class Dim:
    """One dimension of a kernel's shape."""

    name: str
    says: str  # what it counts
    values: Mapping[str, int] | None  # for an enumerated one: text in the shape -> value in formulas


@dataclass(frozen=True)
class HerdFacts:
    """How many tiles of the array a kernel can use."""

    extent: tuple[Formula, Formula]  # columns and rows, over the knobs
    target: tuple[int, int]  # columns and rows the kernel should fill
    below_target: str | None  # why fewer are used: a format string over dims, knobs, tiles_used, tiles_target


@dataclass(frozen=True)
class Method:
    """One code path of a kernel."""

    name: str
    when: Formula  # over the dims; the first method whose `when` holds is the default one
    macros: Mapping[str, Formula]  # macros it adds to the kernel's


@dataclass(frozen=True)
class Knob:
    """One tile parameter, and the values a search may try."""

    name: str
    default: int
    candidates: tuple[int, ...] | None  # the values to try
    range: tuple[int, int] | None  # or: every value from low to high
    divides: str | None  # or: every divisor of this dim ...
    multiple_of: int  # ... that is a multiple of this (1 when a constraint says it instead)
    unit: str  # what it counts


@dataclass(frozen=True)
class Constraint:
    """`left relation right` must hold for a legal tile (wall) or should (hint)."""

    name: str
    severity: str  # "wall", "hint", or for what speaks against one tile "known bad tile"
    left: Formula
    relation: str  # one of == != <= >= < >
    right: Formula
    says: str  # for a person


@dataclass(frozen=True)
class KnownBadTile:
    """A tile that compiled, ran, and was silently wrong on a device."""

    shape: Formula  # over the dims: where it was
    avoid: Constraint  # over the knobs, of severity "known bad tile": what it was, == 0 for another tile


@dataclass(frozen=True)
class UpstreamFacts:
    """The kernel as upstream writes it for the device, and what drives it on the host."""

    source: str  # C++ file below programming_examples/ of a mlir-air checkout
    launch: Path  # C++ file with the launch loop, absolute, inside kernels/
    macros: Mapping[str, Formula]  # -D macros of the source, over dims and knobs; the launch has the kernel's


@dataclass(frozen=True)
class KernelFacts:
    """Everything the workflow knows of a kernel. Diagnosis-only kernels have no tolerances and no timing."""

    name: str
    title: str
    contract: str  # types in and out, and where it rounds
    signal: str  # "harness" or "diagnosis": what can say that it is right
    grammar: str  # the shape's text, e.g. "{M}x{K}"
    dims: Mapping[str, Dim]
    output_shape: tuple[Formula, ...]  # over the dims
    output_dtype: str | None  # "bf16" or "f32"
    inputs: Mapping[str, Any]  # seed and other facts of the harness's inputs
    rtol: float | None
    atol: float | None
    tier: float | None  # mean_rel_L1 the contract stays within
    herd: HerdFacts
    methods: tuple[Method, ...]  # empty: one code path
    method_flags: Mapping[str, str]  # name a constraint may use -> method for which it is 1
    knobs: tuple[Knob, ...]
    constraints: tuple[Constraint, ...]
    known_bad_tiles: tuple[KnownBadTile, ...]  # none of them is a wall: another toolchain may be right
    tile_text: str  # format string over the knobs
    tile_columns: tuple[str, ...]  # knobs a registry row keeps as its tile
    arithmetic_knobs: tuple[str, ...]  # knobs that change the result's bits; no other one does
    sources: tuple[Path, ...]  # C++ files, absolute, inside kernels/
    macros: Mapping[str, Formula]  # -D macros, over dims, knobs and numbers of inputs
    upstream: UpstreamFacts | None  # None where upstream generates the code, or nobody has written a launch
    flops: Formula | None
    bytes: Formula | None
    registry: Mapping[str, Any]  # page and columns of its table
    npu2: Mapping[str, Any]  # how upstream's harness is called; read by scripts/targets/npu2/adapter.py
    launch_limits: Mapping[str, int]  # limits of one launch, where a model has to split its call
    folder: Path

    def knob(self, name: str) -> Knob:
        """The knob of that name; InputError lists the knobs there are."""
        for knob in self.knobs:
            if knob.name == name:
                return knob
        known = ", ".join(knob.name for knob in self.knobs) or "none"
        raise InputError(f"{self.name}: no tile parameter {name!r}; it has: {known}")

    def method_names(self) -> tuple[str, ...]:
        """Names of its methods, in order of preference."""
        return tuple(method.name for method in self.methods)


def kernel_names() -> list[str]:
    """Every folder of kernels/ that holds a kernel.yaml, sorted."""
    return list(_kernel_folders())


@cache
def _kernel_folders() -> tuple[str, ...]:
    return tuple(sorted(path.parent.name for path in KERNELS_ROOT.glob(f"*/{FACTS_FILE}")))


@cache
def load_kernel(name: str) -> KernelFacts:
    """The facts of kernel `name`.

    Raises InputError when there is no such kernel (listing those there are) or its kernel.yaml is malformed.
    """
    if name not in kernel_names():
        raise InputError(f"kernel {name!r}: unknown; known kernels: {', '.join(kernel_names())}")
    # Imported here because the reader needs the records above.
    from scripts.cases.kernel_reader import read_facts

    return read_facts(KERNELS_ROOT / name)


def diagnosis_kernels() -> list[str]:
    """Kernels that only the diagnosis judges, sorted."""
    return [name for name in kernel_names() if load_kernel(name).signal == "diagnosis"]


def harness_kernels() -> list[str]:
    """Kernels that have a leaf harness, sorted."""
    return [name for name in kernel_names() if load_kernel(name).signal == "harness"]
