"""A published row, what the host target gave for it, and whether the two say the same."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from scripts.cases.case import Case
from scripts.registry.figures import scientific
from scripts.registry.rows import Row

FIGURES = ("mean_rel_L1", "rel_err_max", "abs_err_max")
HEADERS = ("case", "method", "tile", "figure", "published", "host", "match", "expected", "verdict", "agrees")
NOTHING = "-"
# How the notes of the registry say it: "harness FAIL on the device: 1 near-zero reference exceeds atol".
_FAILED = "harness FAIL on the device"
_FAILURES = re.compile(r"\b(\d+) near-zero reference")
_OTHER_SCRIPT = "not from the GEMM harness"


@dataclass(frozen=True)
class PublishedRow:
    """A published row and the case it is of."""

    case: Case
    method: str | None
    row: Row  # as the registry holds it

    @property
    def expected_verdict(self) -> str | None:
        """PASS or FAIL as upstream's own check said it on the device; None where that is not published."""
        if _FAILED in (self.row["note"] or ""):
            return "FAIL"
        return "PASS" if self.row["status"] == "✅" else None

    @property
    def expected_mismatches(self) -> int | None:
        """Failing elements, where the note counts them."""
        stated = _FAILURES.search(self.row["note"] or "")
        return int(stated[1]) if stated and self.expected_verdict == "FAIL" else None

    @property
    def from_harness(self) -> bool:
        """Whether the kernel's harness measured it: another script has inputs that nobody published."""
        return _OTHER_SCRIPT not in (self.row["note"] or "")


@dataclass(frozen=True)
class PublishedFigure:
    """One published figure beside the host target's."""

    name: str  # mean_rel_L1, rel_err_max or abs_err_max
    published: str  # as printed
    host: str  # as the host target's log has it

    @property
    def matches(self) -> bool:
        """Whether ours, rounded to the published digits, is the published one."""
        return rounds_to(self.host, self.published)


@dataclass(frozen=True)
class RowResult:
    """What one row gave."""

    published: PublishedRow
    tile: str
    passed: bool  # every element within the kernel's tolerances
    mismatches: int  # elements that are not
    figures: list[PublishedFigure]

    @property
    def matches(self) -> bool:
        """Whether every published figure of the row is met."""
        return all(figure.matches for figure in self.figures)

    @property
    def verdict(self) -> str:
        """PASS or FAIL on the host target."""
        return "PASS" if self.passed else "FAIL"

    @property
    def agrees(self) -> bool | None:
        """Whether the verdict, and the count of failing elements where it is stated, are the device's."""
        if self.published.expected_verdict is None:
            return None
        counted = self.published.expected_mismatches
        same_count = counted is None or counted == self.mismatches
        return self.verdict == self.published.expected_verdict and same_count


def rounds_to(measured: str, published: str) -> bool:
    """Whether `measured` lies within half a unit of the last published digit; a published zero is exact.

    A mean that was published with one digit left of its trailing zeros (0.01) stands for two (1.0e-2).
    """
    ours, theirs = Decimal(measured), Decimal(published)
    if theirs.is_zero():
        return ours.is_zero()
    last_digit = min(theirs.as_tuple().exponent, theirs.adjusted() - 1)
    return abs(ours - theirs) <= Decimal(5).scaleb(last_digit - 1)


def figure_cells(result: RowResult) -> list[tuple[str, ...]]:
    """One line of the table for each published figure of the row, in the order of `HEADERS`."""
    row = result.published
    agrees = {None: NOTHING, True: "yes", False: "NO"}[result.agrees]
    verdict = result.verdict if result.passed else f"FAIL ({result.mismatches})"
    counted = f" ({row.expected_mismatches})" if row.expected_mismatches is not None else ""
    expected = f"{row.expected_verdict}{counted}" if row.expected_verdict else NOTHING
    return [
        (
            *(row.case.name, row.method or NOTHING, result.tile, figure.name),
            *(scientific(figure.published), scientific(figure.host), "yes" if figure.matches else "NO"),
            *(expected, verdict, agrees),
        )
        for figure in result.figures
    ]


def csv_text(results: Sequence[RowResult]) -> str:
    """Every figure of every row as CSV, with the number of failing elements as its last column."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*HEADERS, "mismatches"))
    for result in results:
        writer.writerows((*cells, result.mismatches) for cells in figure_cells(result))
    return text.getvalue()
