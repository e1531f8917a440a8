"""results/<model>.diagnosis.json: what was compared, how close each layer is, and what ran in it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.diagnosis.cliff import Cliff, Thresholds, find_cliffs
from scripts.diagnosis.records import PROBE, LayerRecord
from scripts.errors import InputError


@dataclass(frozen=True)
class Diagnosis:
    """The outcome for one model."""

    model: str
    kind: str  # of evidence: "simulated" or "hardware"
    target: str  # "host" or "npu2"
    status: str  # "OK": every layer was compared; "NOT_RUN", "RUNTIME" or "TIMEOUT" with a reason
    reason: str | None
    reference: str | None  # what the layers are compared with
    command: str | None
    device: str | None
    started: str | None  # UTC, ISO 8601 with Z
    seconds: float | None
    thresholds: Thresholds
    records: tuple[LayerRecord, ...] = ()
    exercised: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # phase -> cases that ran in a layer

    def cliffs(self) -> Mapping[str, Cliff | None]:
        """The break of each phase that was compared."""
        return find_cliffs(self.records, self.thresholds)

    def as_json(self) -> str:
        """The record as JSON text."""
        thresholds = {"min_cosine": self.thresholds.min_cosine, "max_step": self.thresholds.max_step}
        scalars = {name: getattr(self, name) for name in _SCALARS}
        cliffs = {phase: cliff.text() if cliff else None for phase, cliff in self.cliffs().items()}
        record = {
            **scalars,
            "thresholds": thresholds,
            "cliffs": cliffs,
            "exercised": {phase: list(cases) for phase, cases in self.exercised.items()},
            "per_layer": [each.as_json() for each in self.records],
        }
        return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


_SCALARS = (
    "model",
    "kind",
    "target",
    "status",
    "reason",
    "reference",
    "command",
    "device",
    "started",
    "seconds",
)


def read_diagnosis(path: Path) -> Diagnosis:
    """Read and check a diagnosis file. Raises InputError naming the file and the field."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return Diagnosis(
            **{name: record[name] for name in _SCALARS},
            thresholds=Thresholds(**record["thresholds"]),
            records=layer_records(record["per_layer"]),
            exercised={phase: tuple(cases) for phase, cases in record["exercised"].items()},
        )
    except FileNotFoundError:
        raise InputError(f"{path}: not found; a diagnosis is needed") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path}: not a readable JSON file: {error}") from None
    except KeyError as error:
        raise InputError(f"{path}: field {error.args[0]} is missing from the diagnosis") from None
    except (TypeError, AttributeError) as error:
        raise InputError(f"{path}: not a diagnosis: {error}") from None


def layer_records(per_layer: Sequence[Mapping[str, Any]]) -> tuple[LayerRecord, ...]:
    """The records of a JSON list. Raises KeyError or TypeError when it holds something else."""
    return tuple(_record(each) for each in per_layer)


def _record(record: Mapping[str, Any]) -> LayerRecord:
    if record["name"] != PROBE:
        raise TypeError(f"per_layer holds {record['name']!r}; {PROBE!r} is allowed")
    return LayerRecord(
        phase=record["phase"],
        layer=int(record["layer"]),
        whole_cosine=float(record["whole_cosine"]),
        cosine=dict(record["cosine"]),
        errors=dict(record["errors"]),
    )
