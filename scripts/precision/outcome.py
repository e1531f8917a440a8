"""What a rule of judging decides: a status, a reason, and figures where the status carries them."""

from dataclasses import dataclass
from math import isfinite

from scripts.cases.kernel_facts import KernelFacts
from scripts.precision.harness_log import HarnessLog
from scripts.precision.verdict import Precision, Status


@dataclass(frozen=True)
class Outcome:
    """The outcome of one attempt."""

    status: Status
    reason: str  # one line for a person
    precision: Precision | None = None  # figures; only for statuses that carry them


def logged_precision(log: HarnessLog, facts: KernelFacts) -> Precision:
    """The figures of a log whose [precision] lines have been found to agree with the case."""
    line = log.precision[-1]
    return Precision(
        mean_rel_L1=_number(line.mean_rel_L1),
        rel_err_max=_number(line.rel_err_max),
        abs_err_max=_number(line.abs_err_max),
        rtol=facts.rtol,
        atol=facts.atol,
        mismatches=log.mismatches or 0,
        elements=line.elements,
    )


def _number(figure: float) -> float | None:
    return figure if isfinite(figure) else None
