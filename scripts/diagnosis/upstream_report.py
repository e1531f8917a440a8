"""What `make diagnosis` of a mlir-air checkout writes: found, checked, and read as layer records.

Upstream's diagnosis compares the prefill alone, and gives cosines of positions, not of the whole tensor:
their mean stands for it.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.diagnosis.records import PROBE, LayerRecord
from scripts.errors import InputError
from scripts.models.plan import PREFILL

MODELS = "programming_examples/llms"
REPORTS = f"{MODELS}/verify/reports"
_MODE = "diagnosis"


def model_folder(root: Path, model: str) -> Path:
    """The checkout's folder for the model, e.g. llama32_1b for llama-3.2-1b: the same letters and digits.

    Raises InputError naming the models there are.
    """
    folders = sorted(path.parent for path in (root / MODELS).glob("*/Makefile"))
    for folder in folders:
        if _letters(folder.name) == _letters(model):
            return folder
    known = ", ".join(folder.name for folder in folders) or "none"
    raise InputError(f"{model}: the checkout has no folder for it in {MODELS}; there are: {known}")


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def diagnosis_command(folder: Path) -> list[str]:
    """The argument list that writes a new report."""
    return ["make", "-C", str(folder), "diagnosis"]


def newest_report(root: Path) -> Path:
    """The newest report of the checkout. Raises InputError when there is none."""
    # diagnosis_YYYYMMDD-HHMMSS.json: the names sort by time.
    reports = sorted((root / REPORTS).glob("diagnosis_*.json"))
    if not reports:
        raise InputError(f"{REPORTS}: holds no diagnosis_*.json; make diagnosis writes one")
    return reports[-1]


def read_report(path: Path, folder: Path, not_before: float) -> tuple[LayerRecord, ...]:
    """The records of `path`.

    Raises InputError when it is older than `not_before` (seconds since the epoch), of another model than
    `folder`'s, or not such a report.
    """
    # The name has whole seconds, and the file is written after it is named.
    if path.stat().st_mtime < not_before:
        raise InputError(f"{path.name}: is older than the build; make diagnosis has written no newer one")
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        config, per_layer = report["config"], report["per_layer"]
        _check_config(path, config, folder.name)
        records = tuple(_record(each) for each in per_layer if each["name"] == PROBE)
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path.name}: not a readable JSON file: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path.name}: not a report of make diagnosis: {error}") from None
    if not records:
        raise InputError(f"{path.name}: holds no {PROBE} of any layer")
    return records


def _check_config(path: Path, config: Mapping[str, Any], folder: str) -> None:
    if config["mode"] != _MODE:
        raise InputError(f"{path.name}: config.mode is {config['mode']!r}; allowed: {_MODE!r}")
    if str(config["runner"]).split(".")[0] != folder:
        raise InputError(f"{path.name}: config.runner is {config['runner']!r}; allowed: one of {folder}")


def _record(record: Mapping[str, Any]) -> LayerRecord:
    cosine = {name: float(record["cosine"][name]) for name in ("min", "p5", "median", "mean")}
    errors = {name: float(record["errors"][name]) for name in ("max_abs", "mean_abs")}
    return LayerRecord(PREFILL, int(record["layer"]), cosine["mean"], cosine, errors)
