"""Reading and checking a kernel.yaml. Every mistake is one InputError naming the file and the field."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from scripts.cases.formula import Formula
from scripts.cases.kernel_facts import (
    FACTS_FILE,
    KERNELS_ROOT,
    Constraint,
    Dim,
    HerdFacts,
    KernelFacts,
    Knob,
    KnownBadTile,
    Method,
    UpstreamFacts,
)
from scripts.errors import InputError

RELATIONS = ("==", "!=", "<=", ">=", "<", ">")
# libyaml's safe loader where it is built in: the same safety as safe_load, about ten times as fast.
_SAFE_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Fields:
    """A mapping read from a file, which names the file and the field in every complaint."""

    def __init__(self, where: str, values: Any) -> None:
        if not isinstance(values, Mapping):
            raise InputError(f"{where}: found {type(values).__name__}; a mapping is needed")
        self.where, self.values = where, values

    def get(self, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        """The value of `key`, of type `kind`; `default`, if there is one, when it is absent or null."""
        value = self.values.get(key)
        if value is None:
            if default is ...:
                raise InputError(f"{self.where}: field {key!r} is missing")
            return default
        if not isinstance(value, kind) or isinstance(value, bool):
            raise InputError(f"{self.where}: field {key!r} is {value!r}; {_kind_text(kind)} is needed")
        return value

    def number(self, key: str) -> float:
        """The number at `key`. YAML 1.1 takes `5e-2`, which has no point, for text: it is a number here."""
        value = _number(self.get(key, (int, float, str)))
        if isinstance(value, str):
            raise InputError(f"{self.where}: field {key!r} is {value!r}; a number is needed")
        return float(value)

    def section(self, key: str, required: bool = True) -> "_Fields":
        """The mapping below `key`; an empty one when it is absent and not required."""
        return _Fields(f"{self.where}: {key}", self.get(key, Mapping, ... if required else {}))

    def formula(self, key: str, names: Iterable[str]) -> Formula:
        """The formula at `key`, which may use `names` only."""
        formula = Formula(str(self.get(key, (str, int, float))))
        unknown = formula.names - set(names)
        if unknown:
            raise InputError(f"{self.where}: {key} uses unknown {', '.join(sorted(unknown))}: {formula.text}")
        return formula

    def formulas(self, names: Iterable[str]) -> dict[str, Formula]:
        """Every value of this mapping as a formula over `names`."""
        return {key: self.formula(key, names) for key in self.values}


def _kind_text(kind: type | tuple[type, ...]) -> str:
    kinds = kind if isinstance(kind, tuple) else (kind,)
    words = {str: "text", int: "an integer", float: "a number", list: "a list", Mapping: "a mapping"}
    return " or ".join(words.get(each, each.__name__) for each in kinds)


def _number(value: Any) -> Any:
    """`value`, or the number that it is the text of."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def read_facts(folder: Path) -> KernelFacts:
    """The facts in `folder`/kernel.yaml. Raises InputError when the file is malformed."""
    where = f"kernels/{folder.name}/{FACTS_FILE}"
    fields = _Fields(where, _parsed(folder / FACTS_FILE, where))
    if fields.get("kernel", str) != folder.name:
        raise InputError(
            f"{where}: field 'kernel' is {fields.values['kernel']!r}; the folder's name is needed"
        )
    signal = fields.get("signal", str)
    if signal not in ("harness", "diagnosis"):
        raise InputError(f"{where}: field 'signal' is {signal!r}; 'harness' or 'diagnosis' is needed")
    shape = fields.section("shape")
    dims = _dims(shape.section("dims"))
    identity = {
        "name": folder.name,
        "title": fields.get("title", str),
        "contract": fields.get("contract", str),
        "signal": signal,
        "grammar": shape.get("grammar", str),
        "dims": dims,
        "launch_limits": fields.get("launch_limits", Mapping, {}),
        "folder": folder,
    }
    judged = _harness_facts(fields, dims) if signal == "harness" else _no_harness()
    return KernelFacts(**identity, **_build_facts(fields, dims), **judged)


def _parsed(path: Path, where: str) -> Any:
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_SAFE_LOADER)  # noqa: S506 (it is a safe one)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{where}: cannot be read: {error}") from None


def _build_facts(fields: _Fields, dims: Mapping[str, Dim]) -> dict[str, Any]:
    """What is needed to choose a tile, to build, and to keep a row."""
    knobs = tuple(
        _knob(fields.section("knobs").section(name), name, dims) for name in fields.get("knobs", Mapping)
    )
    methods = tuple(
        _method(name, fields.section("methods"), dims) for name in fields.get("methods", Mapping, {})
    )
    flags = fields.get("method_flags", Mapping, {})
    variables = {*dims, *(knob.name for knob in knobs)}
    inputs = {key: _number(value) for key, value in fields.get("inputs", Mapping, {}).items()}
    output = fields.section("output")
    return {
        "output_shape": tuple(Formula(str(extent)) for extent in output.get("shape", list)),
        "output_dtype": output.get("dtype", str),
        "inputs": inputs,
        "herd": _herd(fields.section("herd"), {knob.name for knob in knobs}),
        "methods": methods,
        "method_flags": flags,
        "knobs": knobs,
        "constraints": _constraints(fields, variables | set(flags)),
        "known_bad_tiles": _known_bad_tiles(fields, set(dims), {knob.name for knob in knobs}),
        "tile_text": fields.get("tile_text", str),
        "tile_columns": tuple(fields.get("tile_columns", list)),
        "arithmetic_knobs": tuple(fields.get("arithmetic_knobs", list, [])),
        "sources": _sources(fields),
        "macros": fields.section("macros").formulas(variables | set(inputs)),
        "registry": fields.get("registry", Mapping),
    }


def _no_harness() -> dict[str, Any]:
    """A kernel that only the diagnosis judges has no tolerances and no timing of its own."""
    return {**dict.fromkeys(("rtol", "atol", "tier", "upstream", "flops", "bytes")), "npu2": {}}


def _harness_facts(fields: _Fields, dims: Mapping[str, Dim]) -> dict[str, Any]:
    """What a kernel's harness compares with, and how it is timed."""
    variables = {*dims, *fields.get("knobs", Mapping)}
    tolerance, perf = fields.section("tolerance"), fields.section("perf")
    return {
        "rtol": tolerance.number("rtol"),
        "atol": tolerance.number("atol"),
        "tier": fields.section("tier").number("mean_rel_L1"),
        "upstream": _upstream(fields, variables) if fields.get("upstream", Mapping, {}) else None,
        "flops": perf.formula("flops", variables) if perf.get("flops", (str, int), None) else None,
        "bytes": perf.formula("bytes", variables) if perf.get("bytes", (str, int), None) else None,
        "npu2": fields.get("npu2", Mapping, {}),
    }


def _dims(section: _Fields) -> dict[str, Dim]:
    dims = {}
    for name, facts in section.values.items():
        values = facts.get("values") if isinstance(facts, Mapping) else None
        says = " or ".join(values) if values else str(facts)
        dims[name] = Dim(name=name, says=says, values=values)
    return dims


def _knob(section: _Fields, name: str, dims: Mapping[str, Dim]) -> Knob:
    candidates, limits = section.get("candidates", list, None), section.get("range", list, None)
    divides, multiple = section.get("divides", str, None), section.get("multiple_of", (int, str), 1)
    if divides is not None and divides not in dims:
        raise InputError(
            f"{section.where}: field 'divides' is {divides!r}; a dim is needed: {', '.join(dims)}"
        )
    if (candidates is None) + (limits is None) + (divides is None) != 2:
        raise InputError(f"{section.where}: exactly one of candidates, range, divides is needed")
    return Knob(
        name=name,
        default=section.get("default", int),
        candidates=tuple(candidates) if candidates else None,
        range=(limits[0], limits[1]) if limits else None,
        divides=divides,
        multiple_of=multiple if isinstance(multiple, int) else 1,
        unit=section.get("unit", str),
    )


def _method(name: str, methods: _Fields, dims: Mapping[str, Dim]) -> Method:
    section = methods.section(name)
    macros = section.section("macros", required=False).formulas(())
    return Method(name=name, when=section.formula("when", dims), macros=macros)


def _herd(section: _Fields, knobs: set[str]) -> HerdFacts:
    extent = tuple(Formula(str(text)) for text in section.get("extent", list))
    target = tuple(section.get("target", list))
    if len(extent) != 2 or len(target) != 2 or any(formula.names - knobs for formula in extent):
        raise InputError(f"{section.where}: extent and target must be [columns, rows], extent over the knobs")
    return HerdFacts(extent=extent, target=target, below_target=section.get("below_target", str, None))


def _constraints(fields: _Fields, variables: set[str]) -> tuple[Constraint, ...]:
    return tuple(
        _constraint(_Fields(f"{fields.where}: constraints[{index}]", raw), variables)
        for index, raw in enumerate(fields.get("constraints", list))
    )


def _constraint(section: _Fields, variables: set[str]) -> Constraint:
    relation, severity = section.get("relation", str), section.get("severity", str, "wall")
    if relation not in RELATIONS or severity not in ("wall", "hint"):
        allowed = f"relation is one of {' '.join(RELATIONS)}, severity 'wall' or 'hint'"
        raise InputError(f"{section.where}: relation {relation!r}, severity {severity!r}; {allowed}")
    left, right = section.formula("left", variables), section.formula("right", variables)
    name, says = section.get("name", str), section.get("says", str)
    return Constraint(name=name, severity=severity, left=left, relation=relation, right=right, says=says)


def _known_bad_tiles(fields: _Fields, dims: set[str], knobs: set[str]) -> tuple[KnownBadTile, ...]:
    return tuple(
        _known_bad_tile(_Fields(f"{fields.where}: known_bad_tiles[{index}]", raw), dims, knobs)
        for index, raw in enumerate(fields.get("known_bad_tiles", list, []))
    )


def _known_bad_tile(section: _Fields, dims: set[str], knobs: set[str]) -> KnownBadTile:
    mean, right = section.number("mean_rel_L1"), section.get("right", str)
    says = f"silently wrong on a device (mean_rel_L1 {mean:g}); right: {right}"
    tile = section.formula("tile", knobs)
    avoid = Constraint("known bad tile", "known bad tile", tile, "==", Formula("0"), says)
    return KnownBadTile(shape=section.formula("shape", dims), avoid=avoid)


def _upstream(fields: _Fields, variables: set[str]) -> UpstreamFacts:
    section = fields.section("upstream")
    return UpstreamFacts(
        source=section.get("source", str),
        launch=_source(fields, section.get("launch", str)),
        macros=section.section("macros", required=False).formulas(variables),
    )


def _sources(fields: _Fields) -> tuple[Path, ...]:
    return tuple(_source(fields, text) for text in fields.get("sources", list))


def _source(fields: _Fields, text: str) -> Path:
    """A C++ file that is named from the kernel's folder on."""
    source = (KERNELS_ROOT / fields.get("kernel", str) / text).resolve()
    if KERNELS_ROOT not in source.parents:
        raise InputError(f"{fields.where}: source {source.name!r} lies outside of kernels/")
    return source
