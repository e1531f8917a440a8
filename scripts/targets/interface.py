"""What the workflow asks of a target, and which targets there are."""

from pathlib import Path
from typing import Protocol

from scripts.cases.kernel_facts import KernelFacts
from scripts.cases.tile_choice import CaseSpec
from scripts.errors import InputError
from scripts.targets.build_steps import Build
from scripts.targets.host import HostTarget
from scripts.targets.kernel_source import KernelSource
from scripts.targets.npu2.target import Npu2Target


class Target(Protocol):
    """A place to build a case; the run step knows how each is run."""

    name: str  # as in the config: "host", "npu2"
    device: str  # what the kernel runs on, as the evidence names it
    run_modules: tuple[str, ...]  # modules that a run starts or needs besides the step's, on which it depends

    def fingerprint(self) -> str:
        """The toolchain as text, the same wherever the project lies. Raises InputError if it is missing."""

    def run_fingerprint(self) -> str | None:
        """What a run depends on besides the build, as text: driver and firmware; None where nothing does."""

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
    return sorted((HostTarget.name, Npu2Target.name))


def target_named(name: str, mlir_air: str | Path | None = None) -> Target:
    """The target called `name`; `mlir_air` is the checkout that npu2 drives.

    Raises InputError listing the known ones, or when npu2 has no checkout.
    """
    if name == HostTarget.name:
        return HostTarget()
    if name == Npu2Target.name:
        return Npu2Target.of(mlir_air)
    raise InputError(f"target: found {name!r}; known targets: {', '.join(target_names())}")
