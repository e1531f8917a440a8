"""Recognising failures that people have met before, from known_failures.yaml."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from scripts.cases.formula import Formula
from scripts.cases.kernel_facts import KernelFacts
from scripts.cases.walls import broken_constraints

FAILURES_FILE = Path(__file__).with_name("known_failures.yaml")


@dataclass(frozen=True)
class Shrink:
    """How to get below a limit: a smaller value of one knob."""

    knob: str  # name of the knob
    product: Formula  # what the limit bounds, over dims and knobs


@dataclass(frozen=True)
class KnownFailure:
    """A failure people have met before."""

    name: str  # what people call it
    status: str  # the verdict's status
    pattern: re.Pattern[str]  # searched in each line
    meaning: str  # what happened; may use the pattern's named groups
    remedy: str  # what to do next
    shrink: Shrink | None  # computes the remedy where a knob's next value does it


@dataclass(frozen=True)
class Sighting:
    """A known failure seen in a text."""

    failure: KnownFailure  # which one
    groups: Mapping[str, str]  # what the pattern's named groups matched


@cache
def known_failures() -> tuple[KnownFailure, ...]:
    """The table of known_failures.yaml, in its order."""
    entries = yaml.safe_load(FAILURES_FILE.read_text(encoding="utf-8"))["failures"]
    return tuple(_known_failure(entry) for entry in entries)


def _known_failure(entry: Mapping) -> KnownFailure:
    shrink = entry.get("shrink")
    return KnownFailure(
        name=entry["name"],
        status=entry["status"],
        pattern=re.compile(entry["pattern"]),
        meaning=" ".join(entry["meaning"].split()),
        remedy=" ".join(entry["remedy"].split()),
        shrink=Shrink(shrink["knob"], Formula(shrink["product"])) if shrink else None,
    )


def recognise(text: str) -> Sighting | None:
    """The first known failure, in the table's order, that some line of `text` shows."""
    for failure in known_failures():
        match = failure.pattern.search(text)
        if match:
            return Sighting(failure, match.groupdict())
    return None


def explain(sighting: Sighting, facts: KernelFacts, variables: Mapping[str, float]) -> str:
    """One line for a person: name, what happened with both sides' values, and what to do next.

    `variables` are the case's dims, knobs and method flags.
    """
    failure = sighting.failure
    meaning, remedy = failure.meaning.format_map(sighting.groups), failure.remedy
    if failure.shrink and failure.shrink.product.names <= set(variables):
        limit, product = int(sighting.groups["limit"]), failure.shrink.product
        if product(variables) == int(sighting.groups["found"]):
            meaning = f"{_substituted(product, variables)} exceeds the limit {limit}"
            remedy = _next_value(failure.shrink, limit, facts, variables)
    return f"{failure.name}: {meaning}; {remedy}"


def _substituted(formula: Formula, variables: Mapping[str, float]) -> str:
    """The formula, its values and its result, e.g. `tile_k_l2 * N = 256 * 9728 = 2490368`."""
    values = re.sub(r"[A-Za-z_]\w*", lambda name: str(variables[name[0]]), formula.text)
    return f"{formula.text} = {values} = {formula(variables)}"


def _next_value(shrink: Shrink, limit: int, facts: KernelFacts, variables: Mapping[str, float]) -> str:
    """The largest smaller value of the knob that keeps the product within `limit` and the tile legal."""
    for value in range(int(variables[shrink.knob]) - 1, 0, -1):
        changed = {**variables, shrink.knob: value}
        if shrink.product(changed) <= limit and not broken_constraints(facts, changed):
            return f"next legal {shrink.knob}: {value}"
    return f"no smaller {shrink.knob} is legal"
