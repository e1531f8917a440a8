"""From the run step's command line to the device: its options, with upstream's defaults, and the commands."""

import argparse
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.cases.case import Case
from scripts.cases.tile_choice import choose_spec
from scripts.errors import InputError
from scripts.registry.roots import SHARED_REGISTRY
from scripts.registry.store import load_rows
from scripts.targets.npu2.built_case import BuiltCase
from scripts.targets.npu2.checkout import ROOT_VARIABLE, open_checkout, unseen_checkout
from scripts.targets.npu2.commands import PERF_ITERS, HarnessCase, under_lock
from scripts.targets.npu2.device_lock import DEFAULT_LOCK, WAIT_SECONDS, checked_lock
from scripts.targets.npu2.device_session import DeviceOptions, DeviceRunner, device_session
from scripts.targets.process import PROJECT_ROOT

_BUILDS = PROJECT_ROOT / "results" / "build"


@contextmanager
def device_runner(record: Path, options: argparse.Namespace) -> Iterator[DeviceRunner]:
    """The runner of the case that `record` is the build of, with the device's lock held if it can be had.

    Raises InputError when the checkout, the canary's build, an artifact or the lock's folder is missing.
    """
    checkout = open_checkout(options.mlir_air)
    if options.canary is None or options.device_state is None:
        raise InputError("--canary, --device-state: missing; a run on npu2 needs both")
    if options.repeats < 1:
        raise InputError(f"--repeats: found {options.repeats}; a positive number is needed")
    subject = BuiltCase.read(record, checkout)
    canary = BuiltCase.read(options.canary, checkout)
    canary.check_artifacts()
    device = DeviceOptions(
        lock=_lock(options),
        lock_wait=_lock_wait(options),
        repeats=options.repeats,
        time_limit=options.time_limit,
        canary=canary,
        state=options.device_state,
    )
    # As an exception, so that whatever runs on the device ends with this process.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    with device_session(subject, device) as runner:
        yield runner


def printed_commands(case: Case, options: argparse.Namespace) -> list[str]:
    """What a person types for `case`, one shell line each: the compile, then the runs under the lock.

    The tile is the one that the registry gives. Without a checkout, its place is written $MLIR_AIR_ROOT.
    Raises InputError without a legal tile, or for a checkout that is none.
    """
    named = options.mlir_air or os.environ.get(ROOT_VARIABLE)
    checkout = open_checkout(named) if named else unseen_checkout()
    spec = choose_spec(case, load_rows(SHARED_REGISTRY, case.kernel))
    harness = HarnessCase(spec, checkout, _BUILDS / case.name, PERF_ITERS)
    timing = harness.timing_command()
    runs = [harness.run_command()] * options.repeats + ([timing] if timing else [])
    locked = [under_lock(command, _lock(options), _lock_wait(options)) for command in runs]
    lines = [shlex.join(command) for command in (*harness.compile_commands(), *locked)]
    if checkout.seen:
        return lines
    note = f"# {ROOT_VARIABLE} is the mlir-air checkout: export it first, or name it with --mlir-air"
    return [note, *(line.replace(str(checkout.root), f"${ROOT_VARIABLE}") for line in lines)]


def _lock(options: argparse.Namespace) -> Path:
    return checked_lock(options.lock or DEFAULT_LOCK)


def _lock_wait(options: argparse.Namespace) -> float:
    return WAIT_SECONDS if options.lock_wait is None else options.lock_wait
