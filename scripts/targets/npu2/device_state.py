"""What a run has learnt about the device: whether the canary passed, and whether the device is wedged.

Kept beside the results and written under the device's lock. A session is one run of the workflow; what an
earlier one found is asked again by a canary, because somebody may have reset the device since.
"""

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from scripts.atomic import write_text

SESSION_VARIABLE = "KERNEL_VALIDATION_SESSION"


@dataclass(frozen=True)
class DeviceState:
    """What is known of the device."""

    session: str  # the run of the workflow that knows it
    healthy: bool  # the canary passed, and nothing went wrong on the device since
    wedged: str | None  # why nothing may run any more; None while something may
    last_case: str | None  # what ran last, for the blame


def this_session() -> str:
    """The session that the Snakefile started; a step that is called by hand is one of its own."""
    return os.environ.get(SESSION_VARIABLE) or f"process {os.getpid()}"


def read_state(path: Path) -> DeviceState:
    """The state in `path`; for another session's, or none that can be read, nothing but who ran last."""
    nothing = DeviceState(this_session(), False, None, None)
    try:
        state = DeviceState(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return nothing
    return state if state.session == nothing.session else replace(nothing, last_case=state.last_case)


def write_state(path: Path, state: DeviceState) -> None:
    """Keep `state`; call it with the lock held."""
    write_text(path, json.dumps(asdict(state), indent=2) + "\n")
