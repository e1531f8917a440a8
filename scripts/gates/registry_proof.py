"""Gate 4's proof: the registry file itself holds the case's row, whatever the receipt says."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.cases.case import parse_case
from scripts.errors import InputError
from scripts.precision.verdict import Verdict
from scripts.registry.rows import SIMULATED, Row, is_measured, model_of
from scripts.registry.store import load_rows
from scripts.registry.upstream.measured import is_upstream_root
from scripts.registry.upstream.proof import missing_upstream_row

_RECEIPT_FIELDS: Mapping[str, tuple[type, ...]] = {
    "case": (str,),
    "kernel": (str,),
    "shape": (str,),
    "row": (dict, type(None)),
    "registry": (str,),
    "reason": (str, type(None)),
}


def read_receipt(path: Path) -> dict[str, Any]:
    """Read a receipt, results/<case>.row. Raises InputError naming the file and the field."""
    try:
        receipt = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path}: not a readable JSON file: {error}") from None
    if not isinstance(receipt, dict):
        raise InputError(f"{path}: found {type(receipt).__name__}; a receipt is a JSON object")
    for field, kinds in _RECEIPT_FIELDS.items():
        if field not in receipt or not isinstance(receipt[field], kinds):
            raise InputError(
                f"{path}: field {field} is {receipt.get(field)!r}; it is not as a receipt has it"
            )
    return receipt


def missing_row(receipt: Mapping[str, Any] | None, verdict: Verdict, model: str) -> str | None:
    """Why the registry proves nothing for this case and model, or None when its row is there.

    Re-reads the registry file that the receipt names. Raises InputError when that file is malformed.
    """
    if receipt is None:
        return "no receipt"
    if receipt["row"] is None:
        return receipt["reason"] or "no row was appended"
    path = Path(receipt["registry"])
    if not path.is_file():
        return f"{path} is not there, although the receipt names it"
    if is_upstream_root(path.parent):
        return _missing_upstream(path.parent, verdict, model)
    rows = [row for row in load_rows(path.parent, verdict.kernel) if _records(row, verdict)]
    if not rows:
        return (
            f"{path} holds no {verdict.evidence.kind} row for {verdict.shape}, although the receipt says so"
        )
    if not any(model in map(model_of, row["used_by"]) for row in rows):
        return f"the row in {path} does not name {model} in its used_by"
    return None


def _missing_upstream(root: Path, verdict: Verdict, model: str) -> str | None:
    """The same for the registry of a mlir-air checkout, which holds hardware evidence only."""
    if verdict.evidence.kind == SIMULATED:
        return f"{root} takes hardware evidence only; the verdict is {SIMULATED}"
    return missing_upstream_row(root, parse_case(verdict.case), verdict.method, model)


def _records(row: Row, verdict: Verdict) -> bool:
    """Whether the row stands for the verdict: its shape, method and evidence.

    A simulated row is the run's own. Hardware evidence may have joined the row of an earlier measurement.
    """
    if (row["shape"], row["method"]) != (verdict.shape, verdict.method):
        return False
    if verdict.evidence.kind != SIMULATED:
        return is_measured(row)
    return (
        row["evidence"]["kind"] == SIMULATED
        and row["evidence"].get("elf_sha256") == verdict.evidence.elf_sha256
    )
