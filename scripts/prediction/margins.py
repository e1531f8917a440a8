"""How far an output is from failing, or from passing."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from math import inf, isfinite
from typing import Any

import numpy as np

from scripts.precision.comparison import chunks, compare

_DIGITS = 4  # of the smallest atol


@dataclass(frozen=True)
class Prediction:
    """An output against its reference. A figure that is not finite is None."""

    rtol: float
    atol: float
    elements: int
    mean_rel_L1: float | None  # mean|a-e| / mean|e|
    abs_err_max: float | None  # max |a-e|
    mismatches: int  # elements with |a-e| > atol + rtol*|e|
    margin: float | None  # max |a-e| / (atol + rtol*|e|): at most 1 passes
    margin_index: tuple[int, ...]  # the element it is taken at
    smallest_atol: float | None  # passes at this rtol, rounded up to four digits; None when none does

    @property
    def passes(self) -> bool:
        """Whether every element is within the tolerances."""
        return self.mismatches == 0

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Prediction":
        """A prediction as `dataclasses.asdict` and JSON left it."""
        return cls(**{**record, "margin_index": tuple(record["margin_index"])})


def predict(actual: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> Prediction:
    """Compare `actual` with `expected` as the harness does, and find the margin.

    Raises ValueError if the sizes differ or there is nothing to compare.
    """
    result = compare(actual, expected, rtol, atol, listed=0)
    margin, position, excess = _worst(actual, expected, rtol, atol)
    return Prediction(
        rtol=rtol,
        atol=atol,
        elements=result.elements,
        mean_rel_L1=_finite(result.mean_rel_L1),
        abs_err_max=_finite(result.abs_err_max),
        mismatches=result.mismatches,
        margin=_finite(margin),
        margin_index=tuple(int(i) for i in np.unravel_index(position, expected.shape)),
        smallest_atol=_smallest_atol(actual, expected, rtol, excess) if isfinite(excess) else None,
    )


def _worst(actual: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> tuple[float, int, float]:
    """The largest |a-e| / (atol + rtol*|e|), where it is, and the largest |a-e| - rtol*|e|."""
    margin, position, excess = 0.0, 0, 0.0
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        for start, a, e in chunks(actual, expected):
            error, allowed = np.abs(a - e), rtol * np.abs(e)
            error[~np.isfinite(error)] = inf
            error[a == e] = 0
            ratios = np.where(error == 0, 0, error / (atol + allowed))
            ratios[~np.isfinite(ratios)] = inf
            here = int(ratios.argmax())
            if ratios[here] > margin:
                margin, position = float(ratios[here]), start + here
            excess = max(excess, float((error - np.where(error == 0, 0, allowed)).max()))
    return margin, position, excess


def _smallest_atol(actual: np.ndarray, expected: np.ndarray, rtol: float, excess: float) -> float:
    """`excess` rounded up, and up again should the comparison's own arithmetic ask for it."""
    atol = _rounded_up(excess)
    while compare(actual, expected, rtol, atol, listed=0).mismatches:
        atol = _rounded_up(float(np.nextafter(atol, inf)))
    return atol


def _rounded_up(value: float) -> float:
    if value == 0:
        return 0.0
    exact = Decimal(value)
    step = Decimal(1).scaleb(exact.adjusted() - _DIGITS + 1)
    return float(exact.quantize(step, rounding=ROUND_CEILING))


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
