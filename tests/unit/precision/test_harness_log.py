"""Reading logs: attempts, lines, and what is not a line."""

import pytest

from scripts.precision.harness_log import parse_attempt, parse_attempts
from tests.unit.judged import GEMM, STARTED, failing_text, passing_text, run_log


def test_a_log_is_split_into_its_attempts() -> None:
    first = run_log(GEMM, "hangs", exit_status=-9, state="timeout", seconds=600)
    log = first + run_log(GEMM, passing_text(GEMM), attempt=2)
    before, last = parse_attempts(log)
    assert (before.state, before.exit_status, before.seconds, before.passed) == ("timeout", -9, 600.0, False)
    assert (last.state, last.exit_status, last.seconds, last.passed) == ("ok", 0, 2.5, True)
    assert (last.case, last.target, last.started) == (GEMM, "host", STARTED)
    assert last.command == f"python -m scripts.targets.host_device kernel.elf {GEMM}"


def test_a_bare_harness_log_takes_its_exit_status_from_outside() -> None:
    (log,) = parse_attempts(passing_text(GEMM), exit_status=3)
    assert (log.case, log.target, log.state, log.exit_status) == (None, None, None, 3)


def test_the_runs_own_exit_status_counts() -> None:
    (log,) = parse_attempts(run_log(GEMM, "x", exit_status=139, state="signal"), exit_status=0)
    assert log.exit_status == 139


def test_of_several_lines_the_last_counts() -> None:
    lines = ["Latency (us): 500.0", "Latency (us): 437.2"]
    lines += [f"[run] exit_status={status} seconds=1.000 state=ok" for status in (0, 1)]
    log = parse_attempt(lines)
    assert (log.latency_us, log.exit_status) == (437.2, 1)


def test_an_empty_log_is_one_attempt_without_anything() -> None:
    (log,) = parse_attempts("")
    assert log.exit_status is None and not log.passed and log.precision == ()


def test_line_ends_of_another_system_do_not_matter() -> None:
    (log,) = parse_attempts(run_log(GEMM, passing_text(GEMM)).replace("\n", "\r\n"))
    assert log.passed and len(log.precision) == 1 and log.exit_status == 0


@pytest.mark.parametrize("line", ["XPASS!", "PASS! (not really)", "result: PASS!"])
def test_only_the_whole_line_is_a_pass(line: str) -> None:
    assert not parse_attempt([line]).passed


@pytest.mark.parametrize(
    "damage", [lambda text: text[:60], lambda text: text.replace("mean_rel_L1=1", "mean_rel_L1=1.0.0")]
)
def test_a_damaged_precision_line_is_not_read_but_kept(damage) -> None:
    line = damage(passing_text(GEMM).splitlines()[0])
    log = parse_attempt([line])
    assert log.precision == () and log.malformed == (line,)


def test_indices_as_newer_numpy_prints_them() -> None:
    text = failing_text(GEMM).replace("(3, 5)", "(np.int64(3), np.int64(5))")
    assert parse_attempt(text.splitlines()).first_mismatches[0].index == (3, 5)


def test_what_the_host_device_adds() -> None:
    log = parse_attempt(["[host] unwritten elements: 512 of 1024", "[compile] wall: L1: 2 must be <= 1"])
    assert (log.unwritten, log.compile_wall) == (512, "L1: 2 must be <= 1")


def test_error_lines_are_kept_in_order() -> None:
    lines = [
        "warning: Bank-aware allocation failed, trying basic sequential allocation.",
        "error: first",
        "  what():  second",
        "air.backend.abc.AirBackendError: third",
        "no error here",
    ]
    assert parse_attempt(lines).errors == (lines[1], lines[2].strip(), lines[3])
