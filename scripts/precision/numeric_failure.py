"""Wrong numbers, in words: how many elements, how far the mean is off, and what that points to."""

from collections.abc import Sequence
from math import isfinite, isnan

from scripts.cases.kernel_facts import KernelFacts
from scripts.precision.harness_log import HarnessLog, ListedMismatch
from scripts.precision.outcome import Outcome, logged_precision
from scripts.precision.verdict import Precision, Status

# A mean this many times the kernel's tier is no rounding matter: the output as a whole is wrong.
CORRUPT_FACTOR = 10


def numeric_outcome(log: HarnessLog, facts: KernelFacts) -> Outcome:
    """CORRUPT or NUMERIC for a believable log that says `failed.`.

    CORRUPT: mean_rel_L1 is CORRUPT_FACTOR times the kernel's tier or more (1 when nothing was written), or
    every element fails and those listed are not finite. NUMERIC: anything else, so also single NaNs, which
    leave no mean to compare with the tier.
    """
    precision = logged_precision(log, facts)
    status = Status.CORRUPT if _is_corrupt(log, precision, facts.tier) else Status.NUMERIC
    findings = [_written_text(log, precision), _special_text(log), *_count_texts(log, precision, facts)]
    return Outcome(status, "; ".join(filter(None, findings)), precision)


def tier_text(mean: float, tier: float) -> str:
    """The mean against the tier, e.g. `mean_rel_L1 9.433e-03 in tier 1.0e-02`."""
    if in_tier(mean, tier):
        return f"mean_rel_L1 {mean:.3e} in tier {tier:.1e}"
    return f"mean_rel_L1 {mean:.3e} is {mean / tier:.3g} times the tier {tier:.1e}"


def in_tier(mean: float, tier: float) -> bool:
    """Whether a mean rounds to the tier or less; tiers are published to two digits."""
    return float(f"{mean:.1e}") <= tier


def _is_corrupt(log: HarnessLog, precision: Precision, tier: float) -> bool:
    if precision.mean_rel_L1 is not None:
        return precision.mean_rel_L1 >= CORRUPT_FACTOR * tier
    all_fail = log.mismatches == precision.elements
    return all_fail and all(not isfinite(each.actual) for each in log.first_mismatches)


def _written_text(log: HarnessLog, precision: Precision) -> str | None:
    """What was never written: the host counts it; otherwise each error equals its reference."""
    if log.unwritten:
        return f"{log.unwritten} of {precision.elements} elements were never written by any tile"
    if precision.mean_rel_L1 == precision.rel_err_max == 1.0:
        figures = "mean_rel_L1 = rel_err max = 1"
        return f"the output was never written ({figures}); check the device the binary was built for"
    return None


def _special_text(log: HarnessLog) -> str | None:
    """NaN and infinity among the listed elements: how many, and where the first is."""
    kinds = ((isnan, "NaN"), (lambda value: not isnan(value) and not isfinite(value), "infinite"))
    texts = []
    for belongs, name in kinds:
        found = [each for each in log.first_mismatches if belongs(each.actual)]
        if found:
            texts.append(_where_text(found, name, log))
    return "; ".join(texts) or None


def _where_text(found: Sequence[ListedMismatch], name: str, log: HarnessLog) -> str:
    at = _index_text(found[0])
    if log.listed != log.mismatches:
        return f"{name} in {len(found)} of the {log.listed} failing elements listed, the first at {at}"
    if len(found) == 1:
        return f"1 element is {name} at {at}"
    return f"{len(found)} elements are {name}, the first at {at}"


def _index_text(mismatch: ListedMismatch) -> str:
    """The index as a Python tuple of plain ints, e.g. `(77,)`."""
    return str(mismatch.index)


def _count_texts(log: HarnessLog, precision: Precision, facts: KernelFacts) -> list[str]:
    """How many fail, the mean, and whether the reference is near zero where they do."""
    outside = f"{log.mismatches} of {precision.elements} elements outside the tolerance"
    if log.first_mismatches and all(isfinite(each.actual) for each in log.first_mismatches):
        outside += f", the first at {_index_text(log.first_mismatches[0])}"
    if precision.mean_rel_L1 is None:
        return [outside, "mean_rel_L1 is not a number"]
    texts = [outside, tier_text(precision.mean_rel_L1, facts.tier)]
    largest = max(abs(each.expected) for each in log.first_mismatches)
    if in_tier(precision.mean_rel_L1, facts.tier) and largest < facts.atol:
        texts.append(f"near-zero reference (|ref| {largest:.3e} below atol {facts.atol:.1e})")
    return texts
