"""The host target: the kernel's C++ source against the host AIE API, as an ELF that a process loads."""

import os
import sys
from pathlib import Path

from scripts.cases.kernel_facts import KERNELS_ROOT, KernelFacts
from scripts.cases.tile_choice import CaseSpec, spec_variables
from scripts.targets.build_folder import ELF_NAME
from scripts.targets.build_steps import Build, run_steps
from scripts.targets.compiler import find_compiler
from scripts.targets.kernel_source import KernelSource
from scripts.targets.objects import BuildStep, TranslationUnit, macros_named
from scripts.targets.process import project_path
from scripts.targets.toolchain import COMPILE_FLAGS, FLAGS, LINK_FLAGS, host_fingerprint

DEVICE_MODULE = "scripts.targets.host_device"
HOST_API = KERNELS_ROOT / "aie_host" / "include"
# Every library that numpy's BLAS may have been built with reads one of these.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


class HostTarget:
    """Builds with the machine's own compiler and runs in a process of its own."""

    name = "host"
    device = "host model of AIE2P"
    build_modules = (__name__,)
    run_modules = (__name__, DEVICE_MODULE)

    def fingerprint(self) -> str:
        """Compiler, flags and instruction set. Raises InputError when there is no compiler."""
        return host_fingerprint()

    def run_fingerprint(self) -> None:
        """Nothing: a run depends on its ELF alone."""

    def check_lock(self, lock: Path) -> None:
        """Any will do: a run takes none."""

    def build(
        self,
        facts: KernelFacts,
        spec: CaseSpec,
        folder: Path,
        time_limit: float,
        objects: Path | None = None,
        source: KernelSource | None = None,
    ) -> Build:
        """Build `folder`/kernel.elf, by way of the object files that `objects` keeps if it is given.

        A kernel `source` from outside of the project needs `objects`. Raises InputError without a compiler.
        """
        elf = folder / ELF_NAME
        if objects is None:
            command = tuple(self.build_command(facts, spec, elf))
            steps = [BuildStep(command, command, elf, reusable=False)]
        else:
            steps = self.build_steps(facts, spec, elf, objects, source)
        return run_steps(steps, elf, time_limit)

    def build_command(self, facts: KernelFacts, spec: CaseSpec, elf: Path) -> list[str]:
        """One command from the project's own sources to the ELF, its paths relative to the project.

        Raises InputError without a compiler.
        """
        macros = [f"-D{name}={value}" for name, value in macro_values(facts, spec).items()]
        sources = [project_path(source) for source in facts.sources]
        include = ["-I", project_path(HOST_API)]
        return [*find_compiler().command, *FLAGS, *include, *macros, *sources, "-o", project_path(elf)]

    def build_steps(
        self, facts: KernelFacts, spec: CaseSpec, elf: Path, objects: Path, source: KernelSource | None
    ) -> list[BuildStep]:
        """The commands from sources to the ELF by way of `objects`. Raises InputError without a compiler.

        With `source` that one is built, with the launch loop that drives it, instead of the project's own.
        """
        units = _own_units(facts, spec) if source is None else _given_units(facts, spec, source)
        compiled = [_compile_step(unit, objects) for unit in units]
        files = tuple(project_path(step.output) for step in compiled)
        command = (*find_compiler().command, *LINK_FLAGS, *files, "-o", project_path(elf))
        return [*compiled, BuildStep(command, command, elf, reusable=False)]

    def run_command(self, case: str, elf: Path, threads: int) -> list[str]:
        """The argument list of the device process (see `host_device`)."""
        return ["python", "-m", DEVICE_MODULE, project_path(elf), case, "--threads", str(threads)]

    def run_environment(self, threads: int) -> dict[str, str]:
        """Threads of numpy's BLAS, and a PATH on which `python` is the one that runs this."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        return {"PATH": path, **dict.fromkeys(_THREAD_VARIABLES, str(threads))}


def configured(mlir_air: object) -> HostTarget:
    """The host target, which needs no checkout."""
    return HostTarget()


def _own_units(facts: KernelFacts, spec: CaseSpec) -> list[TranslationUnit]:
    macros = macro_values(facts, spec)
    return [
        TranslationUnit(source, project_path(source), macros_named(macros, source, [HOST_API]))
        for source in facts.sources
    ]


def _given_units(facts: KernelFacts, spec: CaseSpec, source: KernelSource) -> list[TranslationUnit]:
    """The source with upstream's own macros, and the launch loop with the kernel's."""
    launch, variables = facts.upstream.launch, spec_variables(spec)
    macros = {name: _literal(formula(variables)) for name, formula in facts.upstream.macros.items()}
    return [
        TranslationUnit(source.file, source.label, macros),
        TranslationUnit(
            launch, project_path(launch), macros_named(macro_values(facts, spec), launch, [HOST_API])
        ),
    ]


def _compile_step(unit: TranslationUnit, objects: Path) -> BuildStep:
    output = objects / f"{unit.digest(host_fingerprint(), [HOST_API])}.o"
    options = (
        *find_compiler().command,
        *COMPILE_FLAGS,
        "-I",
        project_path(HOST_API),
        *unit.macro_options(),
        "-c",
    )
    return BuildStep(
        command=(*options, project_path(unit.source), "-o", project_path(output)),
        shown=(*options, unit.label, "-o", project_path(output)),
        output=output,
        reusable=True,
    )


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
