"""The npu2 target: mlir-air's own harnesses, compiled without the device and run on it."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from scripts.cases.kernel_facts import KernelFacts
from scripts.cases.tile_choice import CaseSpec
from scripts.errors import InputError
from scripts.targets.build_folder import file_sha256
from scripts.targets.build_steps import Build
from scripts.targets.kernel_source import KernelSource
from scripts.targets.npu2.adapter import adapter
from scripts.targets.npu2.build import compile_harness
from scripts.targets.npu2.checkout import Checkout, open_checkout, plain_path
from scripts.targets.npu2.commands import PERF_ITERS, WRAPPER, HarnessCase
from scripts.targets.npu2.device import find_device
from scripts.targets.npu2.device_lock import checked_lock
from scripts.targets.npu2.toolchain import fingerprint, toolchain_versions
from scripts.targets.process import PROJECT_ROOT

_RUN_MODULE = "scripts.targets.npu2.run_options"
_SOURCES = (".py", ".cc")
# Started as a script, on mlir-air's Python.
_WRAPPER_MODULES = ("scripts.targets.npu2.split_harness",) if WRAPPER.is_file() else ()


@dataclass(frozen=True)
class Npu2Target:
    """Builds and runs by way of a mlir-air checkout."""

    checkout: Checkout

    name = "npu2"
    device = "NPU2"
    build_modules = (__name__, *_WRAPPER_MODULES)
    run_modules = (_RUN_MODULE, *_WRAPPER_MODULES)

    def fingerprint(self) -> str:
        """Versions of mlir-air, mlir-aie and Peano. Raises InputError when Peano is missing."""
        return fingerprint(toolchain_versions(self.checkout))

    def run_fingerprint(self) -> str:
        """The device, and the versions of XRT, firmware and driver."""
        return find_device().line()

    def check_lock(self, lock: Path) -> None:
        """Raises InputError for the harness's own inner lock, or a folder that does not exist."""
        checked_lock(lock)

    def build(
        self,
        facts: KernelFacts,
        spec: CaseSpec,
        folder: Path,
        time_limit: float,
        objects: Path | None = None,
        source: KernelSource | None = None,
    ) -> Build:
        """Compile the harness of `spec` in `folder`. `objects` is not used: make keeps the harness's own.

        A checkout that lacks the kernel's harness is a failed build, so that it stops no other case.
        Raises InputError for a `source`, or when Peano is missing.
        """
        if source is not None:
            raise InputError(
                f"kernel source of {facts.name}: the npu2 target builds the checkout's own; edit it there"
            )
        versions = toolchain_versions(self.checkout)
        if facts.signal == "diagnosis":
            # Nothing to build by itself: it is part of a fused ELF, which `make diagnosis` builds.
            return Build("OK", None, details={"split": False, "versions": versions, "source": []})
        try:
            sources = harness_sources(self.checkout, facts.name)
        except InputError as error:
            return Build(
                "COMPILE_ERROR", str(error), details={"split": True, "versions": versions, "source": []}
            )
        case = HarnessCase(spec, self.checkout, folder.resolve(), PERF_ITERS)
        build = compile_harness(case, facts, time_limit)
        return dataclasses.replace(build, details={**build.details, "versions": versions, "source": sources})


def harness_sources(checkout: Checkout, kernel: str) -> list[dict[str, str]]:
    """What the record says of the harness's files: those beside its script, from the checkout on."""
    folder = checkout.harness_folder(adapter(kernel))
    files = [file for file in sorted(folder.iterdir()) if file.name == "Makefile" or file.suffix in _SOURCES]
    return [
        {"file": file.relative_to(checkout.root).as_posix(), "sha256": file_sha256(file)} for file in files
    ]


def configured(mlir_air: str | Path | None) -> Npu2Target:
    """The target that drives the checkout `mlir_air`.

    Raises InputError when it is none, or the project lies where make cannot build.
    """
    plain_path(PROJECT_ROOT, "the project's folder")
    return Npu2Target(open_checkout(mlir_air))
