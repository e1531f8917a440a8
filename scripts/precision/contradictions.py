"""Whether a log can be believed: complete, about this output, and not at odds with itself."""

from collections.abc import Callable
from math import isfinite

from scripts.cases.case import Case
from scripts.cases.kernel_facts import KernelFacts
from scripts.precision.harness_log import HarnessLog
from scripts.precision.known_failures import recognise


def contradiction(log: HarnessLog, case: Case, facts: KernelFacts) -> str | None:
    """The first thing that makes a log with a result unbelievable, for a person; None if there is none."""
    checks: tuple[Callable[[], str | None], ...] = (
        lambda: _incomplete(log),
        lambda: _both_ways(log),
        lambda: _wrong_precision(log, case, facts),
        lambda: _unbelievable_pass(log) if log.passed else _unbelievable_failure(log),
    )
    return next(filter(None, (check() for check in checks)), None)


def _incomplete(log: HarnessLog) -> str | None:
    if log.exit_status is None:
        return "the log ends without an exit status (truncated?)"
    if log.malformed:
        return f"unreadable line: {log.malformed[0]}"
    return None


def _both_ways(log: HarnessLog) -> str | None:
    if log.passed and log.failed:
        return "both PASS! and failed. in one log"
    if log.passed and log.exit_status != 0:
        return f"PASS! with exit status {log.exit_status}"
    if log.failed and log.exit_status == 0:
        return "failed. with exit status 0"
    return None


def _wrong_precision(log: HarnessLog, case: Case, facts: KernelFacts) -> str | None:
    """Exactly one [precision] line (repeats of it are fine), for this output and these tolerances."""
    if not (log.passed or log.failed):
        return None
    if not log.precision:
        return f"{'PASS!' if log.passed else 'failed.'} without a [precision] line"
    # Compared as text: NaN is not equal to itself.
    if len(set(map(repr, log.precision))) > 1:
        return f"{len(log.precision)} [precision] lines that disagree"
    line, elements = log.precision[0], case.output_elements
    if line.elements != elements:
        return f"the [precision] line counts {line.elements} elements; the output has {elements}"
    expected = (f"{facts.rtol:.1e}", f"{facts.atol:.1e}")
    if (float(line.rtol), float(line.atol)) != tuple(map(float, expected)):
        needed = "rtol={} atol={}".format(*expected)
        return f"judged with rtol={line.rtol} atol={line.atol}; the kernel's are {needed}"
    return None


def _unbelievable_pass(log: HarnessLog) -> str | None:
    line = log.precision[0] if log.precision else None
    if line and not all(map(isfinite, (line.mean_rel_L1, line.rel_err_max, line.abs_err_max))):
        return "PASS! with figures that are not finite"
    if log.mismatches is not None:
        return f"PASS! with {log.mismatches} mismatches"
    sighting = recognise(log.text)
    # A compiler may hit a wall, take another way and succeed; a device that failed has no result.
    if sighting and sighting.failure.status != "COMPILE_WALL":
        return f"PASS! after a device failure ({sighting.failure.name})"
    return None


def _unbelievable_failure(log: HarnessLog) -> str | None:
    if not log.failed:
        return None
    if log.mismatches is None or log.listed is None:
        return "failed. without the list of mismatches"
    if log.mismatch_total != log.precision[0].elements or not 0 < log.mismatches <= log.mismatch_total:
        counted = f"{log.mismatches} mismatches of {log.mismatch_total}"
        return f"{counted} do not fit {log.precision[0].elements} elements"
    if log.listed != len(log.first_mismatches):
        return f"{log.listed} mismatches announced, {len(log.first_mismatches)} listed"
    return None
