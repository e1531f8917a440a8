"""One layer's output beside the reference's: the figures that upstream's diagnosis reports of it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

PROBE = "ffn_out"


@dataclass(frozen=True)
class LayerRecord:
    """How close `ffn_out` of one layer is, in one phase."""

    phase: str  # "prefill" or "decode"
    layer: int  # from 0
    whole_cosine: float  # of the tensor as one vector
    cosine: Mapping[str, float]  # over tokens: min, p5, median, mean
    errors: Mapping[str, float]  # max_abs and mean_abs

    def as_json(self) -> dict[str, Any]:
        """As upstream's report has it, with the phase and the whole tensor's cosine besides."""
        return {"name": PROBE, **asdict(self)}


def layer_record(phase: str, layer: int, actual: np.ndarray, expected: np.ndarray) -> LayerRecord:
    """Compare [T, hidden] arrays. A row that is not finite, or is zero on one side alone, has cosine 0."""
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    rows = np.array([_cosine(*pair) for pair in zip(a, e, strict=True)])
    difference = np.abs(a - e)
    return LayerRecord(
        phase=phase,
        layer=layer,
        whole_cosine=_cosine(a.ravel(), e.ravel()),
        cosine={
            "min": float(rows.min()),
            "p5": float(np.percentile(rows, 5)),
            "median": float(np.median(rows)),
            "mean": float(rows.mean()),
        },
        errors={"max_abs": _finite(difference.max()), "mean_abs": _finite(difference.mean())},
    )


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    norms = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    value = float(a @ b) / norms if norms > 0 else float(not a.any() and not b.any())
    return value if np.isfinite(value) else 0.0


def _finite(value: float) -> float:
    """JSON has no NaN: an error that is no number is as large as can be."""
    return float(value) if np.isfinite(value) else float(np.finfo(np.float64).max)
