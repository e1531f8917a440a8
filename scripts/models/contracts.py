"""Which precision contract a GEMM shape can keep, as far as it was measured."""

from collections.abc import Iterable, Mapping
from typing import Any


def gemm_tiers(high: Iterable[Mapping[str, Any]], low: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Shape -> "high" or "low", of the registry rows of both contracts: low where only low was measured."""
    return {str(row["shape"]): "low" for row in low} | {str(row["shape"]): "high" for row in high}
