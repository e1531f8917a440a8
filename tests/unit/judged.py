"""Logs, build records and verdicts as the steps make them, for tests of what comes after."""

from typing import Any

from scripts.cases.case import parse_case
from scripts.cases.kernel_facts import load_kernel
from scripts.cases.tile_choice import choose_spec
from scripts.precision.build_record import BuildRecord, build_record
from scripts.precision.judge import judge
from scripts.precision.verdict import Verdict

GEMM = "gemm_512x512x512"
STARTED = "2026-11-30T10:00:01Z"


def build_json(case: str, **fields: Any) -> dict[str, Any]:
    """The build record of `case` with its default tile; keyword arguments replace fields."""
    spec = choose_spec(parse_case(case), [])
    record = {
        "case": case,
        "target": "host",
        "status": "OK",
        "reason": None,
        "method": spec.method,
        "knobs": dict(spec.knobs),
        "tile": dict(spec.tile),
        "herd": list(spec.herd),
        "tiles_used": spec.tiles_used,
        "tiles_target": spec.tiles_target,
        "note": spec.note,
        "elf_sha256": f"{len(case):064x}",
        "toolchain": "g++ 12.2.0",
        "device": "host model of AIE2P",
        "started": "2026-11-30T09:59:00Z",
        "seconds": 3.5,
    }
    return {**record, **fields}


def build_of(case: str, **fields: Any) -> BuildRecord:
    """The same, as the verdict reads it."""
    return build_record(build_json(case, **fields))


def precision_line(case: str, mean: str = "1.000e-03", **replaced: str) -> str:
    """A [precision] line that fits the case; keyword arguments replace its parts."""
    facts = load_kernel(parse_case(case).kernel)
    parts = {
        "elements": str(parse_case(case).output_elements),
        "relative": "7.812e-03",
        "absolute": "3.125e-02",
        "rtol": f"{facts.rtol:.1e}",
        "atol": f"{facts.atol:.1e}",
        **replaced,
    }
    return (
        f"[precision] Output 0 ({parts['elements']} elements): mean_rel_L1={mean} | "
        f"rel_err max={parts['relative']} | abs_err max={parts['absolute']} | "
        f"rtol={parts['rtol']} atol={parts['atol']}"
    )


def passing_text(case: str, mean: str = "1.000e-03") -> str:
    """A harness's lines for a pass."""
    return f"{precision_line(case, mean)}\nPASS!"


def failing_text(case: str, mean: str = "1.000e-03", mismatches: int = 1) -> str:
    """A harness's lines for a failure that lists one element."""
    output = parse_case(case)
    counts = f"{mismatches} / {output.output_elements} elements (0.00%)"
    return (
        f"{precision_line(case, mean)}\nERROR: Output 0 does not meet expected output.\n"
        f"Shape: {output.output_shape}\nMismatches: {counts}\n"
        "First 1 mismatched locations:\n  Index (3, 5): expected=1.5, actual=2.0, diff=0.5\nfailed."
    )


def run_log(
    case: str,
    text: str,
    exit_status: int = 0,
    state: str = "ok",
    attempt: int = 1,
    target: str = "host",
    seconds: float = 2.5,
) -> str:
    """A harness's lines between the run step's own."""
    return (
        f"[run] case={case} target={target} attempt={attempt} started={STARTED}\n"
        f"[run] command: python -m scripts.targets.host_device kernel.elf {case}\n"
        f"{text}\n"
        f"[run] exit_status={exit_status} seconds={seconds:.3f} state={state}\n"
    )


def passing_verdict(
    case: str, mean: str = "1.000e-03", used_by: tuple[str, ...] = (), **build: Any
) -> Verdict:
    """The verdict on a run that passed."""
    record = build_of(case, **build)
    log = run_log(case, passing_text(case, mean), target=record.target)
    return judge(parse_case(case), record, log, used_by)


def failing_verdict(case: str, mean: str = "1.000e-03", used_by: tuple[str, ...] = ()) -> Verdict:
    """The verdict on a run with one wrong element."""
    return judge(parse_case(case), build_of(case), run_log(case, failing_text(case, mean), 255), used_by)
