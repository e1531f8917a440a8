"""The answer to a question about a tile, as a record for machines and as lines for people."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

from tabulate import tabulate

from scripts.cases.case import Case
from scripts.cases.kernel_facts import Constraint, KernelFacts, load_kernel
from scripts.cases.legal_tiles import herd_extent, method_flags
from scripts.cases.walls import hints, number_text, wall_text
from scripts.prediction.legality import AskedTile
from scripts.prediction.margins import Prediction
from scripts.prediction.sweep import LegalTile, Neighbour

OWN_ROUNDING = "as the kernel sets it"
_SOURCES = {"override": "as asked", "registry": "measured for this shape"}


@dataclass(frozen=True)
class Answer:
    """What is known of one tile without a device."""

    case: Case
    asked: AskedTile
    neighbour: Neighbour | None  # the nearest shape measured with this tile
    predictions: Mapping[str, Prediction]  # by rounding, OWN_ROUNDING first; empty behind a wall
    tiles: Sequence[LegalTile] | None  # the ranking, where it was asked for
    top: int  # tiles of the ranking that are shown


def record(answer: Answer) -> dict[str, Any]:
    """The answer as JSON can hold it."""
    facts, asked = load_kernel(answer.case.kernel), answer.asked
    herd = herd_extent(facts, asked.knobs)
    return {
        "case": answer.case.name,
        "evidence": "simulated",
        "legal": asked.wall is None,
        "wall": asdict(asked.wall) if asked.wall else None,
        "hints": [_hint_text(hint, _variables(answer)) for hint in _hints(answer)],
        "method": asked.method,
        "tile": facts.tile_text.format_map(asked.knobs),
        "knobs": dict(asked.knobs),
        "tile_source": asked.source,
        "herd": list(herd),
        "tiles_used": prod(herd),
        "tiles_target": prod(facts.herd.target),
        "measured": asdict(answer.neighbour) if answer.neighbour else None,
        "tier": facts.tier,
        "predictions": {
            mode: {**asdict(result), "verdict": _verdict(result)}
            for mode, result in answer.predictions.items()
        },
        "ranking": None if answer.tiles is None else [_tile_record(t) for t in answer.tiles[: answer.top]],
        "legal_tiles": None if answer.tiles is None else len(answer.tiles),
    }


def text(answer: Answer) -> str:
    """The answer as lines for a person."""
    facts, asked = load_kernel(answer.case.kernel), answer.asked
    columns, rows = herd = herd_extent(facts, asked.knobs)
    method = f", method {asked.method}" if asked.method else ""
    source = _SOURCES.get(asked.source, asked.source)
    lines = [
        f"{answer.case.name}: predicted by the host model, nothing is recorded",
        f"  tile       {facts.tile_text.format_map(asked.knobs)} herd {columns}x{rows}{method} ({source})",
        f"  tiles used {prod(herd)} of {prod(facts.herd.target)}",
        f"  legal      {f'no: {wall_text(asked.wall)}' if asked.wall else 'yes'}",
        *(f"  hint       {_hint_text(hint, _variables(answer))}" for hint in _hints(answer)),
    ]
    if asked.wall is None:
        lines.append(f"  measured   {_measured_text(answer)}")
    for mode, result in answer.predictions.items():
        lines += _prediction_lines(f"rounding {mode}", result, facts)
    if answer.tiles is not None:
        lines += _ranking_lines(answer, facts)
    return "\n".join(lines)


def _variables(answer: Answer) -> dict[str, int]:
    facts = load_kernel(answer.case.kernel)
    return {**answer.case.dims, **method_flags(facts, answer.asked.method), **answer.asked.knobs}


def _hints(answer: Answer) -> list[Constraint]:
    return hints(load_kernel(answer.case.kernel), _variables(answer))


def _hint_text(hint: Constraint, variables: Mapping[str, float]) -> str:
    left, right = number_text(hint.left(variables)), number_text(hint.right(variables))
    return f"{hint.name}: {hint.left.text} = {left} should be {hint.relation} {right} ({hint.says})"


def _measured_text(answer: Answer) -> str:
    neighbour = answer.neighbour
    if neighbour is None:
        return "no shape of the registry with this tile and herd"
    where = "this very shape" if neighbour.distance == 0 else f"{neighbour.shape}, the nearest with this tile"
    return f"{neighbour.figure} ({where})"


def _verdict(result: Prediction) -> str:
    return "PASS" if result.passes else "FAIL"


def _prediction_lines(title: str, result: Prediction, facts: KernelFacts) -> list[str]:
    mean, largest, margin = (_number(v) for v in (result.mean_rel_L1, result.abs_err_max, result.margin))
    smallest = "no atol passes" if result.smallest_atol is None else f"{result.smallest_atol:g}"
    verdict = f"{_verdict(result)} at rtol {result.rtol:g} atol {result.atol:g}"
    failing = f"{result.mismatches} of {result.elements} elements fail"
    return [
        f"  {title}",
        f"    mean_rel_L1 {mean} (published for this contract: up to {facts.tier:g}), abs_err max {largest}",
        f"    {verdict}: {failing}, largest |err|/(atol + rtol*|ref|) {margin} at {result.margin_index}",
        f"    smallest atol that passes at rtol {result.rtol:g}: {smallest}",
    ]


def _number(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.4g}"


def _tile_record(tile: LegalTile) -> dict[str, Any]:
    fields = asdict(tile)
    del fields["tile_distance"]
    return {**fields, "herd": list(tile.herd), "hints": list(tile.hints)}


def _ranking_lines(answer: Answer, facts: KernelFacts) -> list[str]:
    """The first tiles of the ranking, and on what the figures above depend."""
    rows = [
        (
            place,
            tile.tile_text,
            f"{tile.herd[0]}x{tile.herd[1]}",
            f"{tile.tiles_used} of {tile.tiles_target}",
            ", ".join(tile.hints) or "-",
            f"{tile.neighbour.figure} ({tile.neighbour.shape})" if tile.neighbour else "-",
        )
        for place, tile in enumerate(answer.tiles[: answer.top], start=1)
    ]
    headers = ("", "tile", "herd", "tiles", "hints", "measured with this tile")
    table = tabulate(rows, headers=headers, tablefmt="simple", disable_numparse=True)
    return ["", f"{len(answer.tiles)} legal tiles, the first {len(rows)}:", table, "", arithmetic_text(facts)]


def arithmetic_text(facts: KernelFacts) -> str:
    """Which knobs the figures depend on."""
    if not facts.arithmetic_knobs:
        return "The figures hold for each of them: no tile and no herd changes a bit of this kernel's result."
    knobs = " and ".join(facts.arithmetic_knobs)
    return f"The figures are those of the tile above: {knobs} is part of the arithmetic, no other knob is."
