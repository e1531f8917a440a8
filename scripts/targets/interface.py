"""What the workflow asks of a target, and which targets there are."""

from pathlib import Path
from typing import Protocol

from scripts.cases.kernel_facts import KernelFacts
from scripts.cases.tile_choice import CaseSpec
from scripts.errors import InputError
from scripts.targets.host import HostTarget
from scripts.targets.kernel_source import KernelSource
from scripts.targets.objects import BuildStep


class Target(Protocol):
    """A place to build and run a case."""

    name: str  # as in the config: "host"
    device: str  # what the kernel runs on, as the evidence names it
    run_modules: tuple[str, ...]  # modules that `run_command` starts, on which a run depends

    def fingerprint(self) -> str:
        """The toolchain as text, the same wherever the project lies. Raises InputError if it is missing."""

    def build_command(self, facts: KernelFacts, spec: CaseSpec, elf: Path) -> list[str]:
        """The argument list that builds the ELF of `spec`. Raises InputError if a tool is missing."""

    def build_steps(
        self, facts: KernelFacts, spec: CaseSpec, elf: Path, objects: Path, source: KernelSource | None
    ) -> list[BuildStep]:
        """The commands that build it by way of a folder of objects, from `source` if there is one."""

    def run_command(self, case: str, elf: Path, threads: int) -> list[str]:
        """The argument list that runs `elf` on at most `threads` threads and prints the harness's lines."""

    def run_environment(self, threads: int) -> dict[str, str]:
        """Environment variables that this command needs besides the caller's."""


_TARGETS: dict[str, Target] = {HostTarget.name: HostTarget()}


def target_names() -> list[str]:
    """Every target there is, sorted."""
    return sorted(_TARGETS)


def target_named(name: str) -> Target:
    """The target called `name`. Raises InputError listing the known ones."""
    if name not in _TARGETS:
        raise InputError(f"target: found {name!r}; known targets: {', '.join(target_names())}")
    return _TARGETS[name]
