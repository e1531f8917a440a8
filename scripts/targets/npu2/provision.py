"""What the npu2 target needs on this machine, one finding each; nothing is compiled and nothing is run."""

import os
from collections.abc import Iterator
from pathlib import Path

from scripts.cases.kernel_facts import harness_kernels
from scripts.errors import InputError
from scripts.targets.npu2.adapter import adapter
from scripts.targets.npu2.checkout import Checkout, open_checkout
from scripts.targets.npu2.commands import WRAPPER
from scripts.targets.npu2.device import NODE_FOLDER, Device, device_nodes, find_device, xrt_smi
from scripts.targets.npu2.device_lock import DEFAULT_LOCK, checked_lock, holder_text, is_free
from scripts.targets.npu2.toolchain import UNKNOWN, mlir_air_commit, peano_folder, peano_version, python_facts
from scripts.targets.provision import Finding, asked, program


def findings(mlir_air: Path | None, lock: Path | None) -> Iterator[Finding]:
    """Everything to compile a harness, then everything to run it."""
    yield asked("make", lambda: program("make"))
    try:
        checkout = open_checkout(mlir_air)
    except InputError as error:
        yield Finding("mlir-air", False, str(error))
    else:
        yield Finding("mlir-air", True, f"{checkout.root}, {' '.join(mlir_air_commit(checkout.root))}")
        yield from _harnesses(checkout)
        yield from _python(checkout)
    yield asked("Peano", lambda: f"{peano_folder()}, {peano_version()}")
    yield _mlir_aie()
    yield from _device()
    yield _lock(lock or DEFAULT_LOCK)


def _harnesses(checkout: Checkout) -> Iterator[Finding]:
    """Harnesses that the checkout lacks; a model that calls none of them runs all the same."""
    kernels, lacking = harness_kernels(), []
    for kernel in kernels:
        try:
            checkout.harness_folder(adapter(kernel))
        except InputError as error:
            lacking.append(str(error).removeprefix("mlir_air: "))
    found = f"{len(kernels) - len(lacking)} of {len(kernels)} kernels"
    yield Finding("harnesses", None if lacking else True, "; ".join([found, *lacking]))
    if not WRAPPER.is_file():
        yield Finding("split", None, f"{WRAPPER.name} is missing: every run compiles under the lock")


def _python(checkout: Checkout) -> Iterator[Finding]:
    """The Python that harnesses run on, and what it has."""
    facts = python_facts(checkout.python)
    version = facts.get("mlir_aie") or UNKNOWN
    yield Finding("Python", True, f"{checkout.python}, mlir-aie {version}")
    for package, needed in (
        ("air", "source mlir-air's environment, or set MLIR_AIR_PYTHON"),
        ("pyxrt", "source XRT's setup.sh"),
    ):
        there = bool(facts.get(package))
        yield Finding(package, there, "found" if there else f"{checkout.python} does not find it: {needed}")


def _mlir_aie() -> Finding:
    """Headers of the AIE API come from mlir-aie: by its folder, or from beside aie-opt."""
    named = os.environ.get("MLIR_AIE_INSTALL_DIR")
    if named:
        there = Path(named).is_dir()
        return Finding("mlir-aie", there, named if there else f"MLIR_AIE_INSTALL_DIR: no folder {named}")
    return asked("mlir-aie", _aie_opt)


def _aie_opt() -> str:
    try:
        return program("aie-opt")
    except InputError as error:
        raise InputError(
            f"aie-opt is {error}, and MLIR_AIE_INSTALL_DIR is not set; either is needed"
        ) from None


def _device() -> Iterator[Finding]:
    """XRT, the device node, and what the driver says of the device."""
    tool, nodes, device = xrt_smi(), device_nodes(), find_device()
    yield Finding("XRT", tool is not None, _xrt_text(tool, device))
    usable = [node for node in nodes if os.access(node, os.R_OK | os.W_OK)]
    if usable:
        yield Finding("device node", True, ", ".join(usable))
    elif nodes:
        yield Finding(
            "device node", False, f"{', '.join(nodes)}: no right to open it; join its group (render)"
        )
    else:
        yield Finding(
            "device node", False, f"none in {NODE_FOLDER}: no NPU, or its driver (amdxdna) is not loaded"
        )
    yield Finding("device", device.name is not None, device.line() if device.name else "none is reported")


def _xrt_text(tool: str | None, device: Device) -> str:
    if tool is None:
        return "xrt-smi is not on PATH, nor in /opt/xilinx/xrt/bin; source XRT's setup.sh"
    return f"{tool}, {device.xrt}, firmware {device.firmware}"


def _lock(path: Path) -> Finding:
    """The state of the device's lock. Somebody who holds it is waited for, so that is no obstacle."""
    try:
        lock = checked_lock(path)
        return Finding("lock", None, f"{lock}: {'free' if is_free(lock) else holder_text(lock)}")
    except InputError as error:
        return Finding("lock", False, str(error))
