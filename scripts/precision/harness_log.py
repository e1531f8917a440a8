"""Reading a run's log: the harness's own lines, between the [run] lines that the run step adds."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scripts.precision.device_lines import device_lines

PASS_LINE = "PASS!"
FAIL_LINE = "failed."

_NUMBER = r"([-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|nan|inf))"
_RUN_START = re.compile(r"\[run\] case=(\S+) target=(\S+) attempt=(\d+) started=(\S+)$")
_RUN_COMMAND = re.compile(r"\[run\] command: (.*)")
_RUN_END = re.compile(rf"\[run\] exit_status=(-?\d+) seconds={_NUMBER} state=(\w+)$")
_COMPILE_WALL = re.compile(r"\[compile\] wall: (.*)")
_UNWRITTEN = re.compile(r"\[host\] unwritten elements: (\d+) of (\d+)$")
_PRECISION = re.compile(
    rf"\[precision\] Output (\d+) \((\d+) elements\): mean_rel_L1={_NUMBER} \| rel_err max={_NUMBER} \| "
    rf"abs_err max={_NUMBER} \| rtol={_NUMBER} atol={_NUMBER}$"
)
_MISMATCHES = re.compile(r"Mismatches: (\d+) / (\d+) elements")
_LISTED = re.compile(r"First (\d+) mismatched locations:$")
_INDEX = re.compile(rf" *Index \((.*)\): expected={_NUMBER}, actual={_NUMBER}, diff={_NUMBER}$")
# Older numpy prints the plain numbers, newer numpy `np.int64(1033)` when a tuple of them is printed.
_INDEX_NUMBER = re.compile(r"(?:np\.int64\()?(\d+)")
_LATENCY = re.compile(rf"Latency \(us\): {_NUMBER}(?: \| Throughput: {_NUMBER} GFLOP/s)?$")
_ERROR = re.compile(
    r"(?:\w+: )*(?:(?:error|fatal)\b|what\(\):|terminate called|[\w.]+Error\b)", re.IGNORECASE
)


@dataclass(frozen=True)
class PrecisionLine:
    """One `[precision]` line."""

    output: int  # output number
    elements: int  # elements compared
    mean_rel_L1: float  # mean|a-e| / mean|e|; may be NaN
    rel_err_max: float  # max |a-e| / |e|; may be NaN
    abs_err_max: float  # max |a-e|; may be NaN
    rtol: str  # as printed, so that it compares with the kernel's without rounding
    atol: str  # as printed


@dataclass(frozen=True)
class ListedMismatch:
    """One failing element the harness listed."""

    index: tuple[int, ...]  # position in the output
    expected: float  # reference value
    actual: float  # value read back; may be NaN


@dataclass(frozen=True)
class HarnessLog:
    """What one attempt left in the log. A field is None when its line is absent."""

    text: str  # the attempt's lines as they are
    case: str | None  # case the run step named
    target: str | None  # "host" or "npu2"
    started: str | None  # UTC, ISO 8601 with Z
    command: str | None  # shell-quoted command
    exit_status: int | None  # None: the log ends before the run did
    seconds: float | None  # wall time of the run
    state: str | None  # "ok", "timeout", "signal" or "not_run"
    passed: bool  # `PASS!` was printed
    failed: bool  # `failed.` was printed
    precision: tuple[PrecisionLine, ...]  # every [precision] line, in order
    malformed: tuple[str, ...]  # [precision] lines that cannot be read
    mismatches: int | None  # failing elements
    mismatch_total: int | None  # elements they are counted among
    listed: int | None  # failing elements the harness said it lists
    first_mismatches: tuple[ListedMismatch, ...]  # those it did list
    latency_us: float | None  # microseconds per call
    gflops: float | None  # GFLOP/s
    unwritten: int | None  # elements no tile wrote (host target)
    compile_wall: str | None  # text of the compile wall that kept the case from running
    errors: tuple[str, ...]  # lines that look like errors, in order
    repeats: tuple[str, ...]  # [precision] lines of each run on the device; empty on the host target
    not_run: str | None  # why the device was not asked
    wedged: str | None  # what the canary found after the runs, when it failed
    timing_status: int | None  # exit status of a run that was made for its timing alone
    device: Mapping[str, Any]  # the device, the lock, commands and artifacts; empty on the host target


def parse_attempts(text: str, exit_status: int | None = None) -> tuple[HarnessLog, ...]:
    """Split a log into its attempts, oldest first; at least one, however empty.

    A bare harness log has no [run] lines: it is one attempt, and its `exit_status` is given.
    """
    blocks: list[list[str]] = [[]]
    for line in map(str.rstrip, text.splitlines()):
        if _RUN_START.match(line) and blocks[-1]:
            blocks.append([])
        blocks[-1].append(line)
    return tuple(parse_attempt(block, exit_status) for block in blocks)


def parse_attempt(lines: list[str], exit_status: int | None = None) -> HarnessLog:
    """Read the lines of one attempt; `exit_status` counts only where no [run] line gives it.

    Of several runs on the device, the first that failed counts, else the last.
    """
    added = device_lines(lines)
    lines = list(added.judged)
    start, end = _first(_RUN_START, lines), _last(_RUN_END, lines)
    counts, listed = _last(_MISMATCHES, lines), _last(_LISTED, lines)
    latency = _last(_LATENCY, lines if added.timing is None else added.timing)
    unwritten = _last(_UNWRITTEN, lines)
    return HarnessLog(
        text="\n".join(lines),
        case=start[1] if start else None,
        target=start[2] if start else None,
        started=start[4] if start else None,
        command=_group(_first(_RUN_COMMAND, lines)),
        exit_status=int(end[1]) if end else exit_status,
        seconds=float(end[2]) if end else None,
        state=end[3] if end else None,
        passed=PASS_LINE in lines,
        failed=FAIL_LINE in lines,
        **_precision_fields(lines),
        mismatches=int(counts[1]) if counts else None,
        mismatch_total=int(counts[2]) if counts else None,
        listed=int(listed[1]) if listed else None,
        first_mismatches=tuple(_mismatches(lines)),
        latency_us=float(latency[1]) if latency else None,
        gflops=float(latency[2]) if latency and latency[2] else None,
        unwritten=int(unwritten[1]) if unwritten else None,
        compile_wall=_group(_last(_COMPILE_WALL, lines)),
        errors=tuple(line.strip() for line in lines if _ERROR.match(line.strip())),
        repeats=added.repeats,
        not_run=added.not_run,
        wedged=added.wedged,
        timing_status=added.timing_status,
        device=added.facts,
    )


def _precision_fields(lines: list[str]) -> dict[str, tuple]:
    """The [precision] lines that can be read, and those that cannot."""
    lines = [line for line in lines if line.startswith("[precision]")]
    matches = [(line, _PRECISION.match(line)) for line in lines]
    return {
        "precision": tuple(_precision_line(match) for _, match in matches if match),
        "malformed": tuple(line for line, match in matches if not match),
    }


def _precision_line(match: re.Match[str]) -> PrecisionLine:
    output, elements, mean, relative, absolute, rtol, atol = match.groups()
    return PrecisionLine(
        int(output), int(elements), float(mean), float(relative), float(absolute), rtol, atol
    )


def _mismatches(lines: list[str]) -> Iterator[ListedMismatch]:
    for match in filter(None, map(_INDEX.match, lines)):
        index = tuple(int(number) for number in _INDEX_NUMBER.findall(match[1]))
        yield ListedMismatch(index, float(match[2]), float(match[3]))


def _first(pattern: re.Pattern[str], lines: Sequence[str]) -> re.Match[str] | None:
    return next(filter(None, map(pattern.match, lines)), None)


def _last(pattern: re.Pattern[str], lines: Sequence[str]) -> re.Match[str] | None:
    return _first(pattern, lines[::-1])


def _group(match: re.Match[str] | None) -> str | None:
    return match[1] if match else None
