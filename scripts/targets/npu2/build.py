"""Compiling a harness without the device: no lock, no load step, and a wall is recognised by its text."""

import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.cases.kernel_facts import KernelFacts
from scripts.precision.known_failures import recognise
from scripts.targets.build_folder import file_sha256
from scripts.targets.build_steps import Build, first_error
from scripts.targets.npu2.adapter import ARTIFACTS
from scripts.targets.npu2.commands import WRAPPER, HarnessCase, labelled, without_places
from scripts.targets.process import Finished, run_limited

UNKNOWN_BACKEND = "[split] unknown backend:"
_WALL = "COMPILE_WALL"
_LONGEST_LINE = 400


def compile_harness(case: HarnessCase, facts: KernelFacts, time_limit: float) -> Build:
    """Compile `case` as far as its load step, in at most `time_limit` seconds.

    Prints what the tools printed to stderr. Where the split is not possible the harness is not started, and
    the build says why: its run then compiles too, all but the kernel's object.
    """
    for folder in (case.build_dir, case.store):
        shutil.rmtree(folder, ignore_errors=True)
    commands = case.compile_commands()
    shown = tuple(shlex.split(" && ".join(labelled(command, case.checkout) for command in commands)))
    reason = _unsplittable(case)
    seconds = 0.0
    for command in commands if reason is None else commands[:-1]:
        finished = run_limited(command, time_limit - seconds)
        seconds += finished.seconds
        sys.stderr.write(finished.output)
        if finished.state == "timeout":
            says = f"the compiler took more than {time_limit:g} s"
            return Build("TIMEOUT", says, shown, seconds, details=_details(True, None, {}))
        if finished.exit_status != 0:
            reason = _unknown_backend(finished.output)
            if reason is None:
                return _failed(without_places(finished.output, case.checkout), finished, shown, seconds)
            break
    if reason is not None:
        plain = tuple(shlex.split(labelled(case.plain_command(), case.checkout)))
        return Build("OK", None, plain, seconds, details=_details(False, reason, {}))
    return _stored(case, shown, seconds)


def _unsplittable(case: HarnessCase) -> str | None:
    """Why the harness cannot be split, as far as make tells without running anything."""
    if not WRAPPER.is_file():
        return f"{WRAPPER.name} is missing"
    dry_run = case.dry_run_command()
    if dry_run is None:
        return None
    answer = subprocess.run(dry_run, capture_output=True, text=True, check=False)
    if answer.returncode == 0 and WRAPPER.name not in answer.stdout:
        return "its Makefile does not start the harness by the variable PYTHON"
    return None


def _unknown_backend(output: str) -> str | None:
    """What the wrapper says when it does not know this checkout's backend."""
    lines = [line for line in output.splitlines() if line.startswith(UNKNOWN_BACKEND)]
    return lines[-1].removeprefix(UNKNOWN_BACKEND).strip() or "no reason given" if lines else None


def _failed(output: str, finished: Finished, shown: tuple[str, ...], seconds: float) -> Build:
    """A wall if the text is one that people have met before, else whatever the tools complained of first."""
    details = _details(True, None, {})
    sighting = recognise(output)
    if sighting and sighting.failure.status == _WALL:
        line = next(line for line in output.splitlines() if sighting.failure.pattern.search(line))
        return Build(_WALL, line.strip()[:_LONGEST_LINE], shown, seconds, details=details)
    reason = first_error(output, finished.exit_status)
    return Build("COMPILE_ERROR", reason, shown, seconds, details=details)


def _stored(case: HarnessCase, shown: tuple[str, ...], seconds: float) -> Build:
    """The build of a harness whose artifact is in the store."""
    files = {
        path.relative_to(case.folder).as_posix(): file_sha256(path)
        for path in sorted(case.store.rglob("*"))
        if path.is_file()
    }
    binary = main_artifact(files)
    if binary is None:
        reason = f"the harness ended well, but stored none of {', '.join(ARTIFACTS)}"
        return Build("COMPILE_ERROR", reason, shown, seconds, details=_details(True, None, {}))
    return Build("OK", None, shown, seconds, files[binary], binary, _details(True, None, files))


def main_artifact(files: Mapping[str, str]) -> str | None:
    """The one of `files` that the device loads."""
    named = {Path(file).name: file for file in files}
    return next((named[name] for name in ARTIFACTS if name in named), None)


def _details(split: bool, reason: str | None, artifacts: Mapping[str, str]) -> dict[str, Any]:
    return {"split": split, "split_reason": reason, "artifacts": dict(artifacts)}
