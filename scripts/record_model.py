"""Keep a model's Phase 1 record: the full results, one line in its progress, and what is still to do.

Writes <folder>/phase1_kernels.md, appends one dated line to progress.md, and brings the Phase 1 part of
TODO.md up to date; whatever else these two hold stays as it is.
"""

import argparse
import json
import sys
from collections.abc import Container, Sequence
from datetime import UTC, datetime
from pathlib import Path

from scripts.atomic import write_text
from scripts.errors import InputError, exit_status
from scripts.gates.model_outcome import HARDWARE, ModelOutcome, read_outcome
from scripts.models.config import load_config
from scripts.models.phase2 import phase2_prerequisites

RESULTS, PROGRESS, TODO = "phase1_kernels.md", "progress.md", "TODO.md"
_TICKED = "- [x] "
_BEGIN, _END = "<!-- phase 1: begin -->", "<!-- phase 1: end -->"


def progress_line(outcome: ModelOutcome, day: str) -> str:
    """`day` (YYYY-MM-DD) and the outcome, as one item of a list."""
    return f"- {day}: {outcome.first_line}\n"


def with_progress(text: str | None, model: str, line: str) -> str:
    """The file with one more line at its end, unless that is the last one; a new file starts with a title."""
    text = text if text else f"# Progress of {model}\n\n"
    text = text if text.endswith("\n") else text + "\n"
    return text if text.endswith(f"\n{line}") else text + line


def todo_section(outcome: ModelOutcome, prerequisites: Sequence[str], ticked: Container[str] = ()) -> str:
    """Phase status, what Phase 2 has to do besides (what people have `ticked` stays so), and active blockers.

    Phase 1 is done when every gate holds on the device; simulated evidence only predicts it.
    """
    passed = sum(case["status"] == "PASS" for case in outcome.cases)
    done = outcome.evidence == HARDWARE and all(gate.passed for gate in outcome.gates)
    count = f"({passed}/{len(outcome.cases)} kernels PASSED)"
    status = [
        f"- [{_tick(done)}] Phase 1: kernel validation {count}, {outcome.evidence} evidence",
        f"- [ ] Phase 2: block integration{'' if outcome.phase2.unblocked else ', blocked'}",
    ]
    parts = (
        ("## Phases", status),
        ("## Phase 2 prerequisites", [f"- [{_tick(each in ticked)}] {each}" for each in prerequisites]),
        ("## Active blockers", [f"- {each}" for each in _blockers(outcome)]),
    )
    sections = [f"{title}\n" + ("\n".join(lines) or "None.") for title, lines in parts]
    return "\n\n".join(sections)


def ticked_items(text: str | None) -> set[str]:
    """What is ticked in the file."""
    return {line.removeprefix(_TICKED) for line in (text or "").splitlines() if line.startswith(_TICKED)}


def _tick(done: bool) -> str:
    return "x" if done else " "


def _blockers(outcome: ModelOutcome) -> list[str]:
    """Why Phase 2 may not start, then each case that holds a gate up, once, with its reason."""
    reasons: dict[str, str] = {}
    for gate in outcome.gates:
        for failure in gate.failures:
            reasons.setdefault(failure.case, f"`{failure.case}` (gate {gate.gate}): {failure.reason}")
    return [*outcome.phase2.blocked_by, *reasons.values()]


def with_section(text: str | None, model: str, section: str) -> str:
    """The file with its Phase 1 part replaced, or put at its end where it has none.

    Raises ValueError when the part begins and does not end.
    """
    part = f"{_BEGIN}\n{section}\n{_END}\n"
    if not text:
        return f"# TODO of {model}\n\n{part}"
    if _BEGIN not in text:
        return f"{text.rstrip()}\n\n{part}"
    before, rest = text.split(_BEGIN, 1)
    if _END not in rest:
        raise ValueError(f"{_BEGIN} has no {_END}; put it back, or remove both")
    return before + part + rest.split(_END, 1)[1].removeprefix("\n")


def record(options: argparse.Namespace, day: str) -> dict[str, str]:
    """Bring the record up to date and say what it says. Raises InputError when a file can't be read."""
    outcome, report = read_outcome(options.gates), _text(options.report)
    if report is None:
        raise InputError(f"{options.report}: not found; the model's report is needed")
    if outcome.model != options.config.stem:
        raise InputError(
            f"{options.gates}: field model is {outcome.model!r}; allowed: {options.config.stem!r}"
        )
    prerequisites = phase2_prerequisites(load_config(options.config))
    folder, line = options.folder, progress_line(outcome, day)
    try:
        before = _text(folder / TODO)
        section = todo_section(outcome, prerequisites, ticked_items(before))
        todo = with_section(before, outcome.model, section)
    except ValueError as error:
        raise InputError(f"{folder / TODO}: {error}") from None
    progress = with_progress(_text(folder / PROGRESS), outcome.model, line)
    for name, text in ((RESULTS, report), (TODO, todo), (PROGRESS, progress)):
        write_text(folder / name, text)
    return {"model": outcome.model, "folder": str(folder), "progress": line.strip()}


def _text(path: Path) -> str | None:
    """The file's text, None when there is no file."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None


def main() -> None:
    """Command line of the step."""
    parser = argparse.ArgumentParser(prog="python -m scripts.record_model", description=__doc__)
    parser.add_argument("config", type=Path, help="config/models/<model>.json")
    parser.add_argument("--gates", type=Path, required=True, help="results/<model>.gates.json")
    parser.add_argument("--report", type=Path, required=True, help="results/<model>.phase1_kernels.md")
    parser.add_argument("--folder", type=Path, required=True, help="the model's record, e.g. <model>/docs")
    parser.add_argument("--receipt", type=Path, required=True, help="results/<model>.recorded, JSON")
    options = parser.parse_args()
    said = record(options, datetime.now(UTC).strftime("%Y-%m-%d"))
    write_text(options.receipt, json.dumps(said, indent=2, ensure_ascii=False) + "\n")
    print(f"{options.folder}: {said['progress']}")


if __name__ == "__main__":
    sys.exit(exit_status(main))
