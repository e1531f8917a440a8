"""The plan of a model: one row per case, with the calls that need it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from scripts.cases.case import make_case, parse_case
from scripts.cases.kernel_facts import load_kernel
from scripts.errors import InputError
from scripts.models.weights import Weight

PREFILL, DECODE = "prefill", "decode"
_SITE_SEPARATOR = "; "


@dataclass(frozen=True)
class CallSite:
    """A call of a kernel in a model, or several of one shape side by side."""

    kernel: str
    case_name: str
    phase: str  # "prefill" or "decode"
    site: str  # where in the model, e.g. "Gate/Up proj"
    source: str  # "harness" or "diagnosis": what can say that it is right
    weights: tuple[Weight, ...] = ()  # what it reads besides activations, in one layer
    layers: int = 1  # layers that hold this call
    notes: tuple[str, ...] = ()  # what is special about it, e.g. "seq 241 padded to 256"


@dataclass(frozen=True)
class PlannedCase:
    """One row of the plan. The fields are the columns, in their order."""

    kernel: str
    shape: str
    case: str
    phase: str  # "prefill", "decode" or "prefill+decode"
    call_sites: tuple[str, ...]
    source: str  # "harness" or "diagnosis"

    def used_by(self, model: str) -> tuple[str, ...]:
        """What the registry's `Used by` says of this case, e.g. `llama-3.2-1b prefill Gate/Up proj`."""
        return tuple(f"{model} {self.phase} {site}" for site in self.call_sites)


COLUMNS = tuple(field.name for field in fields(PlannedCase))


def call(
    kernel: str,
    phase: str,
    site: str,
    weights: tuple[Weight, ...] = (),
    notes: tuple[str, ...] = (),
    **dims: int | str,
) -> CallSite:
    """A call of `kernel` with a shape of these dims. Raises InputError for dims the kernel does not have."""
    case = make_case(kernel, **dims)
    return CallSite(kernel, case.name, phase, site, load_kernel(kernel).signal, weights, notes=notes)


def in_layers(sites: Iterable[CallSite], layers: int) -> list[CallSite]:
    """The calls of one layer as those of `layers` equal ones."""
    return [replace(site, layers=layers) for site in sites]


def merge(sites: Iterable[CallSite]) -> list[PlannedCase]:
    """One row per case, harness cases before diagnosis ones, else in the order of the first call."""
    by_case: dict[str, list[CallSite]] = {}
    for site in sites:
        by_case.setdefault(site.case_name, []).append(site)
    rows = [_row(calls) for calls in by_case.values()]
    return sorted(rows, key=lambda row: row.source != "harness")


def _row(calls: Sequence[CallSite]) -> PlannedCase:
    """The row of calls that share one case."""
    case = parse_case(calls[0].case_name)
    phases = [phase for phase in (PREFILL, DECODE) if any(each.phase == phase for each in calls)]
    names = tuple(dict.fromkeys(_site_text(site, notes) for site, notes in _joined(calls)))
    return PlannedCase(case.kernel, case.shape, case.name, "+".join(phases), names, calls[0].source)


def _joined(calls: Sequence[CallSite]) -> list[tuple[str, tuple[str, ...]]]:
    """Sites and notes; Q and O projections of one shape are `Q/O proj`, as the published tables have it."""
    sites = list(dict.fromkeys((each.site, each.notes) for each in calls))
    for notes in {notes for _, notes in sites}:
        query, output = ("Q proj", notes), ("O proj", notes)
        if query in sites and output in sites:
            sites[sites.index(query)] = ("Q/O proj", notes)
            sites.remove(output)
    return sites


def _site_text(site: str, notes: tuple[str, ...]) -> str:
    """The site as the plan has it, e.g. `residual (seq 241 padded to 256)`."""
    return f"{site} ({', '.join(notes)})" if notes else site


def plan_text(plan: Sequence[PlannedCase], extra: Sequence[dict[str, str]] = ()) -> str:
    """The plan as TSV with a header; `extra` adds columns, one mapping per row."""
    header = [*COLUMNS, *(extra[0] if extra else ())]
    rows = [_cells(row) for row in plan]
    more = [list(each.values()) for each in extra] or [[] for _ in rows]
    lines = [header, *([*cells, *added] for cells, added in zip(rows, more, strict=True))]
    return "".join("\t".join(line) + "\n" for line in lines)


def _cells(row: PlannedCase) -> list[str]:
    values = {name: getattr(row, name) for name in COLUMNS}
    return list({**values, "call_sites": _SITE_SEPARATOR.join(row.call_sites)}.values())


def read_plan(path: Path) -> list[PlannedCase]:
    """The plan written by `plan_text`. Raises InputError when the file is missing or not such a table."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if not lines or tuple(lines[0].split("\t")[: len(COLUMNS)]) != COLUMNS:
        raise InputError(
            f"{path}: the header is not {' '.join(COLUMNS)}; write it with scripts.derive_shapes"
        )
    return [_read_row(path, number, line) for number, line in enumerate(lines[1:], start=2)]


def _read_row(path: Path, number: int, line: str) -> PlannedCase:
    cells = line.split("\t")[: len(COLUMNS)]
    if len(cells) < len(COLUMNS):
        raise InputError(f"{path}:{number}: {len(cells)} columns; {len(COLUMNS)} are needed")
    values = dict(zip(COLUMNS, cells, strict=True))
    return PlannedCase(**{**values, "call_sites": tuple(values["call_sites"].split(_SITE_SEPARATOR))})
