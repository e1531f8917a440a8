"""What a verdict of the device says besides the figures."""

import shlex
from typing import Any

from scripts.precision.build_record import BuildRecord
from scripts.precision.harness_log import HarnessLog


def hardware_evidence(log: HarnessLog, build: BuildRecord) -> dict[str, Any] | None:
    """What evidence of the device names besides; None for the host target."""
    if build.split is None:
        return None
    how = {
        "split": build.split,
        "split_reason": build.split_reason,
        "compile_command": shlex.join(build.command).replace("'&&'", "&&"),
        "artifacts": dict(build.artifacts),
    }
    return {**build.versions, **how, **log.device}


def afterwards(log: HarnessLog | None) -> tuple[str, ...]:
    """What went wrong on the device besides the case's own figures."""
    if log is None:
        return ()
    timing = f"no timing: its run ended with exit status {log.timing_status}" if log.timing_status else ""
    return timing, f"the canary {log.wedged}: the device is wedged" if log.wedged else ""
