"""How fast the host target's kernels are, each beside what numpy needs for the same work.

`python -m benchmarks.host_speed` builds each case's ELF and times it in turn with its yardstick, several
times; it prints medians and their ratio. GEMM is compared with numpy's FP32 `A @ B`, FlashAttention with
its FP32 reference, and the memory-bound kernels, single-threaded, with a plain copy of the same bytes.
"""

import argparse
import ctypes
import importlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

# Set before numpy loads its BLAS, which reads the number of threads once.
_THREADS = os.environ.setdefault("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0))))
for _variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, _THREADS)

import numpy as np  # noqa: E402
from tabulate import tabulate  # noqa: E402

from scripts.cases.case import Case, parse_case  # noqa: E402
from scripts.cases.kernel_facts import load_kernel  # noqa: E402
from scripts.cases.tile_choice import choose_spec  # noqa: E402
from scripts.errors import InputError, exit_status  # noqa: E402
from scripts.registry.store import load_rows  # noqa: E402
from scripts.targets.host import HostTarget  # noqa: E402
from scripts.targets.process import run_limited  # noqa: E402

REGISTRY = Path(__file__).resolve().parents[1] / "docs" / "kernel_registry"
CASES = (
    "gemm_2048x2048x2048",
    "gemm_2048x8192x2048",
    "flash_attention_2048x2048_d64x64_h32x8_causal",
    "gemv_16384x2048",
    "rmsnorm_2048x2048",
    "layernorm_1024x768",
    "rope_65536x64",
    "silu_and_mul_16777216",
    "gelu_8388608",
    "eltwise_add_4194304",
)
# OpenBLAS keeps its threads spinning for a while after a call; the other side must not pay for that.
_SETTLE_SECONDS = 0.2


@dataclass(frozen=True)
class Comparison:
    """Medians of one case."""

    case: str
    yardstick: str  # what it is compared with
    threads: int
    kernel_ms: float
    yardstick_ms: float

    @property
    def ratio(self) -> float:
        """Kernel time over yardstick time; below 1 the kernel is the faster one."""
        return self.kernel_ms / self.yardstick_ms


def build(case: Case, folder: Path) -> ctypes.CDLL:
    """The case's ELF, built with the registry's tile. Raises InputError when the compiler refuses it."""
    facts = load_kernel(case.kernel)
    elf = folder / f"{case.name}.elf"
    spec = choose_spec(case, load_rows(REGISTRY, case.kernel))
    finished = run_limited(HostTarget().build_command(facts, spec, elf), 600)
    if finished.exit_status != 0:
        raise InputError(
            f"{case.name}: the compiler ended with status {finished.exit_status}: {finished.output}"
        )
    return ctypes.CDLL(str(elf))


def median_ms(sides: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """Median time of each side in milliseconds; the sides take turns, after one turn that is not counted."""
    times: list[list[float]] = [[] for _ in sides]
    for turn in range(repeats + 1):
        for side, kept in zip(sides, times, strict=True):
            time.sleep(_SETTLE_SECONDS)
            begin = time.perf_counter()
            side()
            if turn > 0:
                kept.append((time.perf_counter() - begin) * 1e3)
    return [statistics.median(kept) for kept in times]


@dataclass(frozen=True)
class Yardstick:
    """What a kernel is timed against."""

    name: str
    threads: int  # both sides use that many
    run: Callable[[], object]


def yardstick(case: Case, inputs: Sequence[np.ndarray], output: np.ndarray) -> Yardstick:
    """The same work done by numpy: a matrix product, the FP32 reference, or the bytes copied."""
    if case.kernel in ("gemm", "gemm_f32", "gemm_low"):
        a, b = (array.astype(np.float32) for array in inputs)
        return Yardstick("numpy FP32 A @ B", int(_THREADS), lambda: a @ b)
    if case.kernel == "flash_attention":
        facts, module = load_kernel(case.kernel), _reference_module(case)
        return Yardstick(
            "numpy FP32 reference", int(_THREADS), lambda: module.reference(case.dims, facts.inputs, inputs)
        )
    pairs = [(np.empty_like(array), array) for array in (*inputs, output)]
    return Yardstick("numpy copy of the bytes", 1, lambda: [np.copyto(*pair) for pair in pairs])


def _reference_module(case: Case) -> ModuleType:
    return importlib.import_module(f"kernels.{case.kernel}.reference")


def compare(case: Case, folder: Path, repeats: int) -> Comparison:
    """Time one case against its yardstick."""
    facts, module = load_kernel(case.kernel), _reference_module(case)
    inputs = module.make_inputs(case.dims, facts.inputs)
    output = np.zeros_like(module.reference(case.dims, facts.inputs, inputs))
    other = yardstick(case, inputs, output)
    library = build(case, folder)
    pointers = (ctypes.c_void_p * len(inputs))(*(array.ctypes.data for array in inputs))
    target = ctypes.c_void_p(output.ctypes.data)
    kernel_ms, other_ms = median_ms(
        [lambda: library.air_launch(pointers, target, other.threads), other.run], repeats
    )
    return Comparison(case.name, other.name, other.threads, kernel_ms, other_ms)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.host_speed", description=__doc__)
    parser.add_argument(
        "cases", nargs="*", default=CASES, metavar="CASE", help="cases to time (default: a set)"
    )
    parser.add_argument("--repeats", type=int, default=5, help="counted turns of each side (default 5)")
    options = parser.parse_args()
    cases = [parse_case(name) for name in options.cases]
    with tempfile.TemporaryDirectory() as folder:
        rows = [compare(case, Path(folder), options.repeats) for case in cases]
    table = [(r.case, r.yardstick, r.threads, r.kernel_ms, r.yardstick_ms, r.ratio) for r in rows]
    headers = ("case", "compared with", "threads", "kernel ms", "other ms", "ratio")
    print(tabulate(table, headers=headers, tablefmt="github", floatfmt=".2f"))


if __name__ == "__main__":
    sys.exit(exit_status(main))
