"""Which C++ source a case is built from: the project's own, or one that was written for the device."""

from dataclasses import dataclass
from pathlib import Path

from scripts.cases.kernel_facts import KernelFacts, harness_kernels, load_kernel
from scripts.errors import InputError

EXAMPLES = "programming_examples"


@dataclass(frozen=True)
class KernelSource:
    """A kernel source from outside of the project."""

    file: Path  # where it lies
    label: str  # what the record calls it: no folder of this machine


def kernel_source(facts: KernelFacts, given: Path) -> KernelSource | None:
    """The source for `facts` that `given` names: a C++ file, or a mlir-air checkout that holds one.

    None when `given` is a checkout and upstream has no source for this kernel. Raises InputError when there
    is no such file or folder, a checkout lacks the file, or a file is given for a kernel without `upstream`.
    """
    if given.is_dir():
        return _checked_out(facts, given)
    if not given.is_file():
        raise InputError(f"kernel source of {facts.name}: no file or folder {given}")
    if facts.upstream is None:
        known = ", ".join(name for name in harness_kernels() if load_kernel(name).upstream)
        raise InputError(
            f"kernel source of {facts.name}: found {given}; only these kernels take one: {known}"
        )
    upstream = f"{EXAMPLES}/{facts.upstream.source}"
    return KernelSource(given, upstream if given.as_posix().endswith(f"/{upstream}") else given.name)


def _checked_out(facts: KernelFacts, checkout: Path) -> KernelSource | None:
    if facts.upstream is None:
        return None
    file = checkout / EXAMPLES / facts.upstream.source
    if not file.is_file():
        raise InputError(
            f"kernel source of {facts.name}: {checkout} holds no {EXAMPLES}/{facts.upstream.source}; "
            "a mlir-air checkout is needed, or the file itself"
        )
    return KernelSource(file, f"{EXAMPLES}/{facts.upstream.source}")
