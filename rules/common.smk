# What the rules share: the plan, and the questions that rules ask of it.

import os
import sys
import uuid
from pathlib import Path

from scripts.cases.kernel_facts import diagnosis_kernels, harness_kernels
from scripts.errors import exit_status
from scripts.targets.attempts import failed_attempts, failed_builds
from scripts.targets.interface import target_named
from scripts.workflow.interpreter import use_own_python
from scripts.workflow.plan import known_row_files, make_plan
from scripts.workflow.requested import requested_targets
from scripts.workflow.settings import read_settings
from scripts.workflow.stale_lock import clear_stale_lock
from scripts.workflow.step_files import facts_file, module_files, source_files


def or_exit(make):
    """What `make` returns; bad input ends Snakemake with one line and exit status 2."""
    made = []
    status = exit_status(lambda: made.append(make()))
    if status:
        sys.exit(status)
    return made[0]


def kernel_of(case):
    """Name of the kernel of a case in the plan."""
    return plan.specs[case].case.kernel


def replaced_source(kernel):
    """The file that replaces the kernel's own source, if the config names one."""
    source = or_exit(lambda: settings.source_of(kernel))
    return [source.file.as_posix()] if source else []


def built_from(kernel):
    """C++ files of the project that a build of the kernel may need: none where mlir-air brings its own."""
    return source_files(kernel) if target.name == "host" else []


def checkout_options():
    """The mlir-air checkout that npu2 drives, as the steps take it."""
    return ["--mlir-air", settings.mlir_air] if target.name == "npu2" and settings.mlir_air else []


def run_modules(kernel):
    """Modules of the run step, and of what it starts."""
    reference = [f"kernels.{kernel}.reference"] if target.name == "host" else []
    return module_files("scripts.run_kernel", *target.run_modules, *reference)


def canary_build():
    """The build of the case that tells whether the device is sound."""
    return ancient(f"results/build/{settings.canary}/build.json") if target.name == "npu2" else []


def lock_options():
    """The checkout and the lock of the device, as the steps take them."""
    lock = ["--lock", settings.lock, "--lock-wait", str(settings.lock_wait_seconds)]
    return [*checkout_options(), *lock]


def device_options():
    """How the run step gets at the device."""
    if target.name != "npu2":
        return []
    return [*lock_options(), "--device-state", "results/device.json"]


def diagnosis_options():
    """How the diagnosis gets at the device."""
    if target.name != "npu2":
        return []
    return ["--target", target.name, *lock_options()]


def repeat_options():
    """How often one ELF runs on the device."""
    return ["--repeats", str(settings.repeats)] if target.name == "npu2" else []


def tile_options(case):
    """The method and every knob of the chosen tile, as the compile step takes them."""
    spec = plan.specs[case]
    knobs = ",".join(f"{knob}={value}" for knob, value in spec.knobs.items())
    method = ["--method", spec.method] if spec.method else []
    return [*method, *(["--tile", knobs] if knobs else [])]


def tile_reason(case):
    """Where the tile comes from and why it leaves tiles idle: words for the record."""
    spec = plan.specs[case]
    note = ["--note", spec.note] if spec.note else []
    return ["--tile-source", spec.tile_source, *note]


def facts_of(model):
    """kernel.yaml of each kernel that the model calls."""
    return sorted({facts_file(planned.kernel) for planned in plan.models[model]})


def own_tiles(model):
    """The config's tiles for cases of the model, as the preflight step takes them."""
    cases = plan.cases(model)
    own = {case: knobs for case, knobs in settings.tiles.items() if case in cases}
    return [f"{case}:{','.join(f'{name}={value}' for name, value in own[case].items())}" for case in own]


def used_by_options(case):
    """The case's call sites, as the verdict step takes them."""
    labels = plan.used_by(case)
    return ["--used-by", *labels] if labels else []


def folder_of(files):
    """The folder that holds `files`."""
    return Path(files[0]).parent.as_posix()


def case_files(model, pattern):
    """`pattern` for every case of the model."""
    return expand(pattern, case=plan.cases(model))


def diagnosis_files(models):
    """The diagnosis of each of the models that needs one."""
    return expand("results/{model}.diagnosis.json", model=filter(plan.has_diagnosis, models))


def registry_root_options():
    """The registry that rows of hardware evidence go to, as the append step takes it."""
    return ["--registry-root", settings.registry_root] if settings.registry_root else []


def case_pattern(kernels):
    """The names of all cases of the kernels, as a regular expression. Shapes start with a number."""
    return f"(?:{'|'.join(kernels)})_[0-9][^/]*"


use_own_python()
clear_stale_lock()
settings = or_exit(lambda: read_settings(config))
plan = or_exit(lambda: make_plan(settings, requested_targets(sys.argv[1:])))
target = or_exit(lambda: target_named(settings.target, settings.mlir_air))
toolchain = or_exit(target.fingerprint)
device = or_exit(target.run_fingerprint)
or_exit(lambda: target.check_lock(Path(settings.lock)))
# What one run has learnt about the device counts for its own cases only.
os.environ.setdefault("KERNEL_VALIDATION_SESSION", uuid.uuid4().hex)
registry_files = or_exit(lambda: known_row_files(settings.registry))


wildcard_constraints:
    case=case_pattern([*harness_kernels(), *diagnosis_kernels()]),
    model="|".join(map(re.escape, plan.models)),
