"""The JSON beside a GEMM's detail page, which builders read: shapes, each with its methods."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.errors import InputError
from scripts.registry.disagreement import PERF_FIGURES, Disagreement, change_of
from scripts.registry.upstream.call_sites import use_style
from scripts.registry.upstream.json_text import (
    Node,
    insertion_place,
    parse,
    replaced,
    with_item,
    with_member,
)
from scripts.registry.upstream.measured import Measured

_COMPARED = ("gflops", "mean_rel_L1")
_MEAN_DIGITS = 5
"""Digits after the point of mean_rel_L1 in these files, e.g. 0.00926."""


@dataclass(frozen=True)
class JsonEdit:
    """The file's text with the case in it."""

    text: str
    appended: bool  # the (shape, method) is new
    disagreements: tuple[Disagreement, ...]


class GemmJson:
    """The text of such a file, and the entries in it."""

    def __init__(self, path: Path, text: str) -> None:
        """Raises InputError naming file and line when the text is not such a file's."""
        self.path, self.text = path, text
        self.node, self.data = parse(text), json.loads(text)
        shapes = self.data.get("shapes")
        if not isinstance(shapes, list):
            raise InputError(f"{path} line 1: field shapes is missing; allowed: a list of shapes")
        for node, entry in zip(self.node.members["shapes"].items, shapes, strict=True):
            _check_entry(self, node, entry)

    def line_of(self, node: Node) -> int:
        """The line, from 1, in which a node starts."""
        return self.text.count("\n", 0, node.start) + 1

    @property
    def shapes(self) -> list[tuple[Node, dict[str, Any]]]:
        """The entries, with their place in the text."""
        return list(zip(self.node.members["shapes"].items, self.data["shapes"], strict=True))

    def entry(self, dims: Mapping[str, int]) -> tuple[Node, dict[str, Any]] | None:
        """The first entry of a shape."""
        wanted = tuple(dims[name] for name in "MKN")
        return next((pair for pair in self.shapes if tuple(pair[1][name] for name in "MKN") == wanted), None)

    def used_by_cells(self) -> list[str]:
        """What the entries say of who uses them."""
        return [entry["used_by"] for _, entry in self.shapes if isinstance(entry.get("used_by"), str)]


def _check_entry(file: GemmJson, node: Node, entry: Any) -> None:
    where = f"{file.path} line {file.line_of(node)}"
    if not isinstance(entry, dict):
        raise InputError(f"{where}: found {type(entry).__name__}; allowed: an object for each shape")
    for field in ("M", "K", "N"):
        if type(entry.get(field)) is not int:
            raise InputError(f"{where}: field {field} is {entry.get(field)!r}; allowed: a positive integer")
    methods = entry.get("methods")
    if not isinstance(methods, dict) or not all(isinstance(each, dict) for each in methods.values()):
        raise InputError(f"{where}: field methods is missing or no object; allowed: method -> its figures")
    for name, method in methods.items():
        missing = [field for field in ("tile", "gflops", "mean_rel_L1") if field not in method]
        if missing:
            raise InputError(
                f"{where}: methods.{name} has no {missing[0]}; allowed: tile, gflops, mean_rel_L1"
            )


def edit_json(file: GemmJson, measured: Measured, spellings: Mapping[str, str], accept: bool) -> JsonEdit:
    """The file's text with the case in it; the rules are those of `table_edit.edit_table`."""
    labels = measured.row["used_by"]
    style = use_style(file.used_by_cells(), False, spellings)
    method, tier = measured.row["method"], measured.tier
    found = file.entry(measured.case.dims)
    if found is None:
        entry = {name: measured.case.dims[name] for name in "MKN"}
        entry |= {"used_by": style.new_cell("", labels), "methods": {method: _method(file, measured)}}
        best = {"best": {tier: method}} if measured.row["gflops"] else {}
        return JsonEdit(with_item(file.text, file.node.members["shapes"], {**entry, **best}), True, ())
    node, entry = found
    changes: list[tuple[Node, str | None, Any]] = []
    disagreements: list[Disagreement] = []
    if method in entry["methods"]:
        disagreements = _disagreements(file, node, entry, measured, accept)
        for each in disagreements if accept else ():
            changes += _replacements(file, node, measured, each.figure)
    else:
        changes.append((node.members["methods"], method, _method(file, measured)))
    used_by = style.joined(entry.get("used_by", ""), labels).removeprefix(" + ")
    if "used_by" in entry and used_by != entry["used_by"]:
        changes.append((node.members["used_by"], None, used_by))
    changes += _best(node, entry, measured, replaced_speed=accept and _has_speed(disagreements))
    return JsonEdit(_changed(file.text, changes), method not in entry["methods"], tuple(disagreements))


def _has_speed(disagreements: Sequence[Disagreement]) -> bool:
    return any(each.figure in PERF_FIGURES for each in disagreements)


def _changed(text: str, changes: Sequence[tuple[Node, str | None, Any]]) -> str:
    """The text with every change in it, the last place first, so that the other places stay right."""

    def place(change: tuple[Node, str | None, Any]) -> int:
        node, key, _ = change
        return node.start if key is None else insertion_place(node)

    for node, key, value in sorted(changes, key=place, reverse=True):
        text = replaced(text, node, value) if key is None else with_member(text, node, key, value)
    return text


def _method(file: GemmJson, measured: Measured) -> dict[str, Any]:
    """The measured method's own object; the herd only where it is not the file's."""
    row = measured.row
    herd = {} if row["herd"] == file.data.get("herd") else {"herd": row["herd"]}
    figures = {"gflops": _gflops(row["gflops"]), "mean_rel_L1": _mean(row["mean_rel_L1"])}
    return {"tile": row["tile"], **figures, "tier": measured.tier, **herd}


def _gflops(value: float | None) -> int | float | None:
    """As these files have it: whole GFLOP/s."""
    return value if value is None or value < 10 else round(value)


def _mean(value: float | None) -> float | None:
    return None if value is None else round(value, _MEAN_DIGITS)


def _disagreements(
    file: GemmJson, node: Node, entry: Mapping[str, Any], measured: Measured, accept: bool
) -> list[Disagreement]:
    method = measured.row["method"]
    members = node.members["methods"].members[method].members
    found = []
    for figure in _COMPARED:
        on_file = file.text[members[figure].start : members[figure].end]
        change = change_of(figure, on_file, measured.row[figure])
        if change:
            where = f"{file.path} line {file.line_of(members[figure])}"
            new = _method(file, measured)[figure]
            found.append(Disagreement(where, figure, on_file, str(new), change, accept))
    return found


def _replacements(
    file: GemmJson, node: Node, measured: Measured, figure: str
) -> list[tuple[Node, str | None, Any]]:
    """The figure, and with the speed the tile it was reached with."""
    own = node.members["methods"].members[measured.row["method"]]
    new = _method(file, measured)
    fields = [figure] if figure == "mean_rel_L1" else ["gflops", "tile", *(["herd"] if "herd" in new else [])]
    return [
        (own.members[field], None, new[field]) if field in own.members else (own, field, new[field])
        for field in fields
    ]


def _best(
    node: Node, entry: Mapping[str, Any], measured: Measured, replaced_speed: bool
) -> list[tuple[Node, str | None, Any]]:
    """The change in `best`, when the measured method is new or its speed was replaced."""
    method, tier = measured.row["method"], measured.tier
    if measured.row["gflops"] is None or (method in entry["methods"] and not replaced_speed):
        return []
    speeds = {
        name: each["gflops"]
        for name, each in entry["methods"].items()
        if each.get("tier") == tier and each["gflops"] is not None
    }
    speeds[method] = _gflops(measured.row["gflops"])
    current = entry.get("best", {}).get(tier)
    # The one on file stays when another is only as fast.
    best = max(speeds, key=lambda name: (speeds[name], name == current))
    if best == current:
        return []
    if "best" not in node.members:
        return [(node, "best", {tier: best})]
    members = node.members["best"].members
    return [(members[tier], None, best)] if tier in members else [(node.members["best"], tier, best)]
