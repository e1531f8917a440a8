"""The device's comparison: `make diagnosis` in the model's folder of a mlir-air checkout, under the lock."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.diagnosis.cliff import Thresholds
from scripts.diagnosis.document import Diagnosis
from scripts.diagnosis.upstream_report import diagnosis_command, model_folder, newest_report, read_report
from scripts.errors import InputError
from scripts.models.plan import PREFILL, PlannedCase
from scripts.targets.npu2.checkout import Checkout
from scripts.targets.npu2.commands import labelled
from scripts.targets.npu2.device_lock import LockBusy, device_lock
from scripts.targets.process import Finished, run_limited, utc_now

REFERENCE = "Hugging Face bf16, upstream's make diagnosis (mean cosine of positions)"


@dataclass(frozen=True)
class DeviceAccess:
    """How the device is had."""

    checkout: Checkout
    device: str  # what runs, with its versions
    lock: Path  # file of the device's lock
    lock_wait: float  # seconds to wait for it
    time_limit: float  # seconds of the diagnosis


def diagnose_on_device(
    model: str, plan: Sequence[PlannedCase], access: DeviceAccess, thresholds: Thresholds
) -> Diagnosis:
    """The diagnosis by upstream's own command. What keeps it from running is recorded, not raised."""
    started = utc_now()
    try:
        command, finished, records = _compared(model, access)
    except (InputError, LockBusy) as error:
        outcome = {"status": "NOT_RUN", "reason": str(error), "started": started}
        return _diagnosis(model, access, thresholds, outcome)
    outcome = {"status": "OK", "reason": None, "started": finished.started, "seconds": finished.seconds}
    if finished.state == "timeout":
        outcome |= {"status": "TIMEOUT", "reason": "make diagnosis did not end in time"}
    elif finished.exit_status != 0 or isinstance(records, str):
        outcome |= {"status": "RUNTIME", "reason": _failure(finished, records)}
    else:
        prefill = tuple(row.case for row in plan if PREFILL in row.phase.split("+"))
        outcome |= {"records": records, "reference": REFERENCE, "exercised": {PREFILL: prefill}}
    shown = labelled(command, access.checkout)
    return _diagnosis(model, access, thresholds, {**outcome, "command": shown})


def _compared(model: str, access: DeviceAccess) -> tuple[list[str], Finished, tuple | str]:
    """The command, how it ended, and the new report's records or what is wrong with it."""
    root = access.checkout.root
    folder = model_folder(root, model)
    command = diagnosis_command(folder)
    with device_lock(access.lock, access.lock_wait):
        begin = time.time()
        finished = run_limited(command, access.time_limit)
    try:
        return command, finished, read_report(newest_report(root), folder, int(begin))
    except InputError as error:
        return command, finished, str(error)


def _failure(finished: Finished, records: tuple | str) -> str:
    lines = [line.strip() for line in finished.output.splitlines() if line.strip()]
    if finished.exit_status == 0:
        return str(records)
    return f"make diagnosis ended with status {finished.exit_status}: {(lines or ['no output'])[-1]}"


def _diagnosis(model: str, access: DeviceAccess, thresholds: Thresholds, outcome: dict) -> Diagnosis:
    absent = {"reference": None, "command": None, "seconds": None}
    return Diagnosis(
        model=model,
        kind="hardware",
        target="npu2",
        device=access.device,
        thresholds=thresholds,
        **{**absent, **outcome},
    )
