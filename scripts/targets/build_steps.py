"""Running the commands of a build, so that no file of it is ever half-written."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.targets.build_folder import file_sha256
from scripts.targets.objects import BuildStep
from scripts.targets.process import Finished, run_limited

_LONGEST_REASON = 400
# What compilers say of a name that the host AIE API does not have.
_NOT_IN_THE_API = ("is not a member of 'aie", "in namespace 'aie", "in 'aie::", "is not a member of ‘aie")
_API_HINT = "; the host AIE API lacks it: add it to its header in kernels/aie_host/include/aie_api"


@dataclass(frozen=True)
class Build:
    """How one build ended."""

    status: str  # "OK", "COMPILE_WALL", "COMPILE_ERROR" or "TIMEOUT"
    reason: str | None  # one line for a person; None when it is OK
    command: tuple[str, ...] = ()  # the builder's argument list; several are joined by &&
    seconds: float = 0.0  # wall time of the builder
    sha256: str | None = None  # of the ELF
    elf: str | None = None  # the ELF, from the build's folder on
    details: Mapping[str, Any] = field(default_factory=dict)  # what the record says of this target's builds


def run_steps(steps: Sequence[BuildStep], elf: Path, time_limit: float) -> Build:
    """Run what is not there yet, at most `time_limit` seconds in all, and say how it ended.

    The last step writes `elf`. Prints what the builder printed to stderr.
    """
    shown = tuple(word for step in steps for word in ("&&", *step.shown))[1:]
    seconds = 0.0
    for step in steps:
        if step.reusable and step.output.is_file():
            continue
        finished = _run_step(step, time_limit - seconds)
        seconds += finished.seconds
        sys.stderr.write(finished.output)
        if finished.state == "timeout":
            return Build("TIMEOUT", f"the compiler took more than {time_limit:g} s", shown, seconds)
        if finished.exit_status != 0:
            return Build(
                "COMPILE_ERROR",
                first_error(step.labelled(finished.output), finished.exit_status),
                shown,
                seconds,
            )
    return Build("OK", None, shown, seconds, file_sha256(elf), elf.name)


def _run_step(step: BuildStep, time_limit: float) -> Finished:
    """Run one command under another name for its output, which then takes its place as a whole.

    Two builds that make the same object at once write the same bytes, each under a name of its own.
    """
    output = step.output
    output.parent.mkdir(parents=True, exist_ok=True)
    unfinished = output.with_name(f".{os.getpid()}.{output.name}")
    try:
        finished = run_limited(step.writing_to(unfinished), time_limit)
        if finished.exit_status == 0 and finished.state == "ok":
            os.replace(unfinished, output)
        return finished
    finally:
        unfinished.unlink(missing_ok=True)


def first_error(output: str, status: int) -> str:
    """The compiler's first complaint on one line, and where to add what the host AIE API lacks."""
    lines = [line.strip() for line in output.splitlines() if "error" in line.lower()]
    if not lines:
        return f"the compiler ended with status {status} and no error line"
    hint = _API_HINT if any(words in lines[0] for words in _NOT_IN_THE_API) else ""
    return lines[0][:_LONGEST_REASON] + hint
