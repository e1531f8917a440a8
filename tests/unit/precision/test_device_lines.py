"""What a run on the device adds to a log, and which of its runs decides."""

from scripts.precision.harness_log import parse_attempts

START = "[run] case=gelu_1024 target=npu2 attempt=1 started=2026-01-01T00:00:00Z"
HEAD = (START, "[run] command: make run", "[device] name=NPU Strix | xrt=2.20.0 | firmware=1.0 | driver=2")
LINE = (
    "[precision] Output 0 (1024 elements): mean_rel_L1={} | rel_err max=1.000e+00 | abs_err max=1.000e-03 | "
)
LINE += "rtol=1.6e-02 atol=5.0e-02"
GOOD, OTHER = LINE.format("1.000e-03"), LINE.format("2.000e-03")
WRONG = (
    "ERROR: Output 0 does not meet expected output.",
    "Mismatches: 1 / 1024 elements (0.10%)",
    "First 1 mismatched locations:",
    "  Index (0,): expected=1.0, actual=2.0, diff=1.0",
    "failed.",
)
END = "[run] exit_status={} seconds=1.000 state=ok"


def repeat(number: int, status: int) -> str:
    return f"[repeat] {number} of 2: exit_status={status} seconds=1.000 state=ok"


def parsed(*lines: str):
    return parse_attempts("\n".join([*HEAD, *lines]))[0]


def test_a_log_of_the_host_is_one_run() -> None:
    log = parse_attempts("\n".join([START, "[run] command: python", GOOD, "PASS!", END.format(0)]))[0]
    assert (log.repeats, log.not_run, log.wedged, log.timing_status, log.device) == ((), None, None, None, {})


def test_the_last_of_good_runs_is_judged() -> None:
    log = parsed(GOOD, "PASS!", repeat(1, 0), GOOD, "PASS!", repeat(2, 0), "[lock] held=2.5 s", END.format(0))
    assert log.passed and len(log.precision) == 1 and log.repeats == (GOOD, GOOD)
    assert log.device["name"] == "NPU Strix" and log.device["firmware"] == "1.0"
    assert (log.device["repeats"], log.device["lock_held_seconds"]) == (2, 2.5)
    assert log.device["commands"] == ["make run"]


def test_the_first_run_that_failed_is_judged() -> None:
    """Its list of mismatches stands alone, though the other run printed one too."""
    log = parsed(GOOD, *WRONG, repeat(1, 255), GOOD, *WRONG, repeat(2, 255), END.format(255))
    assert log.failed and log.listed == len(log.first_mismatches) == 1
    mixed = parsed(GOOD, "PASS!", repeat(1, 0), OTHER, *WRONG, repeat(2, 255), END.format(255))
    assert mixed.failed and not mixed.passed and mixed.repeats == (GOOD, OTHER)


def test_a_timing_run_gives_the_latency_and_nothing_else() -> None:
    timing = ("Latency (us): 12.5", OTHER, *WRONG, "[timing] exit_status=255 seconds=1.000 state=ok")
    log = parsed(GOOD, "PASS!", repeat(1, 0), GOOD, "PASS!", repeat(2, 0), *timing, END.format(0))
    assert log.passed and not log.failed and log.latency_us == 12.5 and log.timing_status == 255
    assert [line.mean_rel_L1 for line in log.precision] == [1e-3]


def test_why_nothing_ran_and_what_the_canary_found() -> None:
    blocked = parsed(
        "[device] not run: the lock is held by pid 1", "[run] exit_status=1 seconds=0.0 state=not_run"
    )
    assert blocked.not_run == "the lock is held by pid 1"
    wedged = parsed(
        "boom", repeat(1, 1), "[canary] failed after this case: gelu_16: RUNTIME: x", END.format(1)
    )
    assert wedged.wedged == "failed after this case: gelu_16: RUNTIME: x"
    fine = parsed("boom", repeat(1, 1), "[canary] passed after this case: gelu_16", END.format(1))
    assert fine.wedged is None
