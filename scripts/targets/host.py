"""The host target: the kernel's C++ source against the host AIE API, as an ELF that a process loads."""

import os
import sys
from pathlib import Path

from scripts.cases.kernel_facts import KERNELS_ROOT, KernelFacts
from scripts.cases.tile_choice import CaseSpec, spec_variables
from scripts.targets.compiler import find_compiler
from scripts.targets.process import PROJECT_ROOT
from scripts.targets.toolchain import FLAGS, host_fingerprint

DEVICE_MODULE = "scripts.targets.host_device"
HOST_API = KERNELS_ROOT / "aie_host" / "include"
# Every library that numpy's BLAS may have been built with reads one of these.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


class HostTarget:
    """Builds with the machine's own compiler and runs in a process of its own."""

    name = "host"
    device = "host model of AIE2P"
    run_modules = (DEVICE_MODULE,)

    def fingerprint(self) -> str:
        """Compiler, flags and instruction set. Raises InputError when there is no compiler."""
        return host_fingerprint()

    def build_command(self, facts: KernelFacts, spec: CaseSpec, elf: Path) -> list[str]:
        """The compiler's argument list, its paths relative to the project. Raises InputError without one."""
        macros = [f"-D{name}={value}" for name, value in macro_values(facts, spec).items()]
        sources = [_relative(source) for source in facts.sources]
        include = ["-I", _relative(HOST_API)]
        return [*find_compiler().command, *FLAGS, *include, *macros, *sources, "-o", _relative(elf)]

    def run_command(self, case: str, elf: Path, threads: int) -> list[str]:
        """The argument list of the device process (see `host_device`)."""
        return ["python", "-m", DEVICE_MODULE, _relative(elf), case, "--threads", str(threads)]

    def run_environment(self, threads: int) -> dict[str, str]:
        """Threads of numpy's BLAS, and a PATH on which `python` is the one that runs this."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        return {"PATH": path, **dict.fromkeys(_THREAD_VARIABLES, str(threads))}


def macro_values(facts: KernelFacts, spec: CaseSpec) -> dict[str, str]:
    """The -D macros of `spec` by name: the kernel's own, then those of its method.

    A macro's formula may use dims, knobs, method flags, and facts of the inputs such as eps.
    """
    method = next((method for method in facts.methods if method.name == spec.method), None)
    formulas = {**facts.macros, **(method.macros if method else {})}
    variables = {**facts.inputs, **spec_variables(spec)}
    return {name: _literal(formula(variables)) for name, formula in formulas.items()}


def _literal(value: float) -> str:
    """The value as C++ writes it; a whole number without a point, so that it can be an array's extent."""
    return str(int(value)) if value == int(value) else repr(float(value))


def _relative(path: Path) -> str:
    return os.path.relpath(path, PROJECT_ROOT)
