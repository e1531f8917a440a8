"""The report's section on whole layers: how close each one's output is to the reference's."""

from collections.abc import Mapping, Sequence

from tabulate import tabulate

from scripts.diagnosis.document import Diagnosis
from scripts.diagnosis.records import LayerRecord


def layers_section(diagnosis: Diagnosis | None) -> str:
    """What was compared and how it ended, then a row a layer; nothing for a model without a diagnosis."""
    if diagnosis is None:
        return ""
    if diagnosis.status != "OK":
        return f"## Layers\n\n{diagnosis.status}: {diagnosis.reason}"
    return "\n\n".join(("## Layers", _head(diagnosis), _table(diagnosis.records), _outcome(diagnosis)))


def _head(diagnosis: Diagnosis) -> str:
    return (
        f"`ffn_out` of each layer, built from this model's own {diagnosis.kind} kernels, against"
        f" {diagnosis.reference}: cosine of the whole tensor, and of the worst token."
    )


def _table(records: Sequence[LayerRecord]) -> str:
    phases = tuple(dict.fromkeys(record.phase for record in records))
    by_layer: dict[int, dict[str, LayerRecord]] = {}
    for record in records:
        by_layer.setdefault(record.layer, {})[record.phase] = record
    rows = [{"layer": str(layer), **_cells(phases, found)} for layer, found in sorted(by_layer.items())]
    return tabulate(rows, headers="keys", tablefmt="pipe", disable_numparse=True, stralign="left")


def _cells(phases: Sequence[str], found: Mapping[str, LayerRecord]) -> dict[str, str]:
    cells = {}
    for phase in phases:
        record = found[phase]
        cells[phase] = f"{record.whole_cosine:.6f}"
        cells[f"{phase}, worst token"] = f"{record.cosine['min']:.6f}"
        cells[f"{phase}, abs_err max"] = f"{record.errors['max_abs']:.3g}"
    return cells


def _outcome(diagnosis: Diagnosis) -> str:
    allowed = diagnosis.thresholds
    rule = f"A layer needs {allowed.min_cosine:g} and may be {allowed.max_step:g} below the one before."
    cliffs = [cliff.text() for cliff in diagnosis.cliffs().values() if cliff]
    return f"{rule} {'Cliff at ' + '; '.join(cliffs) if cliffs else 'There is no cliff'}."
