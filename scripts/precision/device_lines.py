"""The lines that a run on the device adds to a log: repeats, timing, canary, lock, and what the device is.

[device] name=NPU Strix | xrt=2.20.0 | firmware=1.0.0.166 | driver=2.20.0
[lock] waited=0.013 s
[canary] passed before the first case: rmsnorm_256x960
... lines of the harness
[repeat] 1 of 2: exit_status=0 seconds=2.310 state=ok
... lines of the harness
[timing] exit_status=0 seconds=2.010 state=ok
[lock] held=4.512 s
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_REPEAT = re.compile(r"\[repeat\] (\d+) of (\d+): exit_status=(-?\d+) seconds=([\d.]+) state=(\w+)$")
_TIMING = re.compile(r"\[timing\] exit_status=(-?\d+) seconds=([\d.]+) state=(\w+)$")
_DEVICE = re.compile(r"\[device\] (.*)")
_NOT_RUN = re.compile(r"\[device\] not run: (.*)")
_CANARY = re.compile(r"\[canary\] (failed after .*)")
_HELD = re.compile(r"\[lock\] held=([\d.]+) s$")
_COMMAND = re.compile(r"\[(?:run|timing|canary)\] command: (.*)")
_ARTIFACT = re.compile(r"\[artifact\] (\S+) sha256=([\da-f]{64})$")
_PRECISION_START = "[precision]"


@dataclass(frozen=True)
class DeviceLines:
    """What the added lines of one attempt say. The host target adds none: one run, and nothing else."""

    judged: tuple[str, ...]  # the lines that decide: of the first run that failed, else of the last one
    timing: tuple[str, ...] | None  # the harness's lines of a run that was made for its timing alone
    timing_status: int | None  # its exit status
    repeats: tuple[str, ...]  # the [precision] lines of each run that printed some
    not_run: str | None  # why nothing was started
    wedged: str | None  # what the canary found after the runs
    facts: Mapping[str, Any]  # of the device, the lock, commands and artifacts, for the evidence


def device_lines(lines: Sequence[str]) -> DeviceLines:
    """Take the added lines out of an attempt's lines."""
    ends = [index for index, line in enumerate(lines) if _REPEAT.match(line)]
    timing_end = next((index for index, line in enumerate(lines) if _TIMING.match(line)), None)
    if not ends:
        return DeviceLines(tuple(lines), None, None, (), *_found(lines), _facts(lines))
    head, first = _head(lines, ends[0])
    runs = [lines[begin + 1 : end] for begin, end in zip([first - 1, *ends], ends, strict=False)]
    statuses = [int(_REPEAT.match(lines[end])[3]) for end in ends]
    deciding = next((run for run, status in zip(runs, statuses, strict=True) if status), runs[-1])
    timing = None if timing_end is None else lines[ends[-1] + 1 : timing_end]
    tail = lines[(ends[-1] if timing_end is None else timing_end) + 1 :]
    return DeviceLines(
        (*head, *deciding, *tail),
        None if timing is None else tuple(timing),
        None if timing_end is None else int(_TIMING.match(lines[timing_end])[1]),
        tuple(filter(None, map(_precision, runs))),
        *_found(lines),
        _facts(lines),
    )


def _head(lines: Sequence[str], end: int) -> tuple[Sequence[str], int]:
    """The lines before the harness's own, which are all of ours, and how many they are."""
    ours = ("[run]", "[device]", "[lock]", "[canary]", "[split]")
    first = next((index for index, line in enumerate(lines[:end]) if not line.startswith(ours)), end)
    return lines[:first], first


def _precision(run: Sequence[str]) -> str:
    return " ; ".join(line for line in run if line.startswith(_PRECISION_START))


def _found(lines: Sequence[str]) -> tuple[str | None, str | None]:
    """Why nothing was started, and what the canary found afterwards."""
    return tuple(
        next((match[1] for match in map(pattern.match, lines) if match), None)
        for pattern in (_NOT_RUN, _CANARY)
    )


def _facts(lines: Sequence[str]) -> dict[str, Any]:
    """What evidence holds besides the harness's figures; empty for a log without such lines."""
    facts: dict[str, Any] = {}
    for line in lines:
        if _NOT_RUN.match(line):
            continue
        if match := _DEVICE.match(line):
            facts.update(pair.split("=", 1) for pair in match[1].split(" | ") if "=" in pair)
        elif match := _HELD.match(line):
            facts["lock_held_seconds"] = float(match[1])
        elif match := _ARTIFACT.match(line):
            facts.setdefault("artifacts", {})[match[1]] = match[2]
        elif match := _COMMAND.match(line):
            facts.setdefault("commands", []).append(match[1])
        elif match := _REPEAT.match(line):
            facts["repeats"] = int(match[1])
    # The host target has a command too, which evidence holds by itself.
    return facts if set(facts) - {"commands"} else {}
