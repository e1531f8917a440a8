"""The host target's device: a process of its own that loads the ELF of a case, runs it and judges it.

`python -m scripts.targets.host_device ELF CASE` prints the harness's lines and exits with 0 when every
element is within the kernel's tolerances, else with 255 as the harness does.
"""

import argparse
import ctypes
import importlib
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
from ml_dtypes import bfloat16

from scripts.cases.case import Case, parse_case
from scripts.cases.kernel_facts import KernelFacts, load_kernel
from scripts.errors import InputError, exit_status
from scripts.precision.report_lines import harness_lines

FAILED = 255
# Signalling NaNs with a payload of their own. No kernel writes one: arithmetic gives quiet NaNs.
_POISON = {"bf16": (bfloat16, np.uint16, 0x7FA5), "f32": (np.float32, np.uint32, 0x7FA5A5A5)}


def launch(elf: Path, inputs: Sequence[np.ndarray], output: np.ndarray, threads: int) -> None:
    """Call the ELF's `air_launch` on contiguous arrays, writing `output`.

    Raises InputError when the ELF cannot be loaded or lacks the entry point, RuntimeError when the
    launch reports an error.
    """
    try:
        entry = ctypes.CDLL(str(elf.resolve())).air_launch
    except (OSError, AttributeError) as error:
        raise InputError(
            f"{elf}: cannot be loaded: {error}; a shared object with air_launch is needed"
        ) from None
    entry.argtypes = (ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_uint)
    entry.restype = ctypes.c_int
    pointers = (ctypes.c_void_p * len(inputs))(*(array.ctypes.data for array in inputs))
    status = entry(pointers, output.ctypes.data, threads)
    if status != 0:
        raise RuntimeError(f"air_launch returned {status}")


def poisoned(shape: Sequence[int], dtype: str) -> np.ndarray:
    """An output buffer of `shape` that shows which elements are never written; dtype bf16 or f32."""
    value_type, bits, pattern = _POISON[dtype]
    return np.full(shape, pattern, dtype=bits).view(value_type)


def clear_unwritten(output: np.ndarray, dtype: str) -> int:
    """Set elements that still hold the poison to 0, what the harness's buffers start as; return how many."""
    _, bits, pattern = _POISON[dtype]
    unwritten = output.view(bits) == pattern
    count = int(np.count_nonzero(unwritten))
    if count:
        output[unwritten] = 0
    return count


def run_case(case: Case, elf: Path, threads: int) -> bool:
    """Run `case` on its harness's inputs and print the harness's lines; whether it passed.

    Raises InputError for an ELF that cannot be loaded, RuntimeError for a launch that fails.
    """
    facts, module = load_kernel(case.kernel), reference_module(case.kernel)
    clock = [time.perf_counter()]
    inputs = [np.ascontiguousarray(array) for array in module.make_inputs(case.dims, facts.inputs)]
    clock.append(time.perf_counter())
    # Before the launch, so that a kernel which writes into its inputs cannot bend the reference too.
    expected = module.reference(case.dims, facts.inputs, inputs)
    clock.append(time.perf_counter())
    output = device_output(case, facts, elf, inputs, threads)
    clock.append(time.perf_counter())
    del inputs  # the comparison needs memory of its own
    lines, passed = harness_lines(output, expected, facts.rtol, facts.atol)
    clock.append(time.perf_counter())
    parts = zip(("inputs", "reference", "kernel", "comparison"), pairwise(clock), strict=True)
    print("[host] seconds:", *(f"{part}={end - begin:.3f}" for part, (begin, end) in parts))
    print("\n".join(lines))
    return passed


def reference_module(kernel: str) -> ModuleType:
    """The kernel's inputs and reference, kernels/<kernel>/reference.py."""
    return importlib.import_module(f"kernels.{kernel}.reference")


def device_output(
    case: Case, facts: KernelFacts, elf: Path, inputs: Sequence[np.ndarray], threads: int
) -> np.ndarray:
    """The kernel's output, of the case's output shape; says how many elements it never wrote."""
    output = poisoned(case.output_shape, facts.output_dtype)
    launch(elf, inputs, output, threads)
    unwritten = clear_unwritten(output, facts.output_dtype)
    if unwritten:
        print(f"[host] unwritten elements: {unwritten} of {output.size}")
    return output


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.targets.host_device", description=__doc__)
    parser.add_argument("elf", type=Path, metavar="ELF", help="kernel.elf of the case")
    parser.add_argument("case", metavar="CASE", help="<kernel>_<shape>")
    parser.add_argument("--threads", type=int, default=1, help="threads of the kernel (default 1)")
    return parser.parse_args()


def main() -> None:
    """Command line."""
    arguments = _arguments()
    try:
        passed = run_case(parse_case(arguments.case), arguments.elf, arguments.threads)
    except RuntimeError as error:
        print(f"RuntimeError: {error}")
        sys.exit(1)
    if not passed:
        sys.exit(FAILED)


if __name__ == "__main__":
    sys.exit(exit_status(main))
