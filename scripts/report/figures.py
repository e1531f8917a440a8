"""How the report prints figures: ours and the published ones in one style."""

from collections.abc import Sequence

from scripts.registry.figures import scientific
from scripts.registry.rows import PUBLISHED, Row

ABSENT = "-"


def measured_scientific(value: float | None) -> str:
    """A figure with the four digits that logs print, e.g. 0.009279 as `9.279e-3`; exact zero as `0`.

    Fewer digits would round a second time, and a figure such as 1.0245e-2 would come out wrong.
    """
    return ABSENT if value is None else scientific(f"{value:.3e}")


def published_mean(rows: Sequence[Row], shape: str, method: str | None) -> tuple[str, str | None]:
    """The published mean_rel_L1 of a shape, and the method it is of when that is another one.

    A row of the same method comes first, then any row of the shape; `-` when nobody published one.
    """
    published = [
        row
        for row in rows
        if row["evidence"]["kind"] == PUBLISHED and row["shape"] == shape and "mean_rel_L1" in row["printed"]
    ]
    row = next((row for row in published if row["method"] == method), published[0] if published else None)
    if row is None:
        return ABSENT, None
    other = row["method"] if row["method"] != method else None
    return scientific(row["printed"]["mean_rel_L1"]), other
