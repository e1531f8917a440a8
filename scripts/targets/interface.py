"""What the workflow asks of a target, and which targets there are."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Protocol

from scripts.cases.kernel_facts import KernelFacts
from scripts.cases.tile_choice import CaseSpec
from scripts.errors import InputError
from scripts.targets.build_steps import Build
from scripts.targets.kernel_source import KernelSource

# Loaded by name, so that a target's modules are those of its own cases and of no other target's.
_MODULES: Mapping[str, str] = {"host": "scripts.targets.host", "npu2": "scripts.targets.npu2.target"}


class Target(Protocol):
    """A place to build a case; the run step knows how each is run."""

    name: str  # as in the config: "host", "npu2"
    device: str  # what the kernel runs on, as the evidence names it
    build_modules: tuple[str, ...]  # modules that a build needs besides the step's, on which it depends
    run_modules: tuple[str, ...]  # the same for a run

    def fingerprint(self) -> str:
        """The toolchain as text, the same wherever the project lies. Raises InputError if it is missing."""

    def run_fingerprint(self) -> str | None:
        """What a run depends on besides the build, as text: driver and firmware; None where nothing does."""

    def check_lock(self, lock: Path) -> None:
        """Raises InputError when runs may not take `lock` for the lock of the device."""

    def build(
        self,
        facts: KernelFacts,
        spec: CaseSpec,
        folder: Path,
        time_limit: float,
        objects: Path | None = None,
        source: KernelSource | None = None,
    ) -> Build:
        """Build the ELF of `spec` in `folder`, in at most `time_limit` seconds.

        `objects` is a folder that may keep object files, `source` a kernel source to build instead of the
        target's own. Raises InputError if a tool is missing.
        """


def target_names() -> list[str]:
    """Every target there is, sorted."""
    return sorted(_MODULES)


def target_named(name: str, mlir_air: str | Path | None = None) -> Target:
    """The target called `name`; `mlir_air` is the checkout that npu2 drives.

    Raises InputError listing the known ones, or when npu2 has no checkout.
    """
    if name not in _MODULES:
        raise InputError(f"target: found {name!r}; known targets: {', '.join(target_names())}")
    return import_module(_MODULES[name]).configured(mlir_air)
