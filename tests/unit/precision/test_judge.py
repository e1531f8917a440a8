"""Judging: PASS needs everything at once, and whatever is missing has a name."""

from collections.abc import Callable

import pytest

from scripts.cases.case import parse_case
from scripts.precision.judge import judge
from scripts.precision.verdict import Status, Verdict
from tests.unit.judged import (
    GEMM,
    STARTED,
    build_of,
    failing_text,
    failing_verdict,
    passing_text,
    passing_verdict,
    precision_line,
    run_log,
)


def verdict_on(text: str, exit_status: int = 0, state: str = "ok", case: str = GEMM, **build) -> Verdict:
    return judge(parse_case(case), build_of(case, **build), run_log(case, text, exit_status, state))


def test_a_pass_carries_the_logs_figures_and_the_builds_tile() -> None:
    verdict = passing_verdict(GEMM, "9.279e-03", ("llama-3.2-1b prefill Q/O proj",))
    build = build_of(GEMM)
    assert verdict.passed and verdict.precision.mean_rel_L1 == 9.279e-3
    assert verdict.reason == "all 262144 elements within tolerance; mean_rel_L1 9.279e-03 in tier 1.0e-02"
    assert (verdict.method, verdict.tile, verdict.herd) == (build.method, build.tile, build.herd)
    assert (verdict.tiles_used, verdict.tiles_target, verdict.note) == (32, 32, None)
    assert verdict.used_by == ("llama-3.2-1b prefill Q/O proj",)
    evidence = verdict.evidence
    assert (evidence.kind, evidence.target, evidence.source) == ("simulated", "host", "harness")
    assert (evidence.started, evidence.seconds, evidence.attempts) == (STARTED, 2.5, 1)
    assert evidence.elf_sha256 == build.elf_sha256


def test_evidence_from_the_npu_is_hardware() -> None:
    assert passing_verdict(GEMM, target="npu2").evidence.kind == "hardware"


def test_a_mean_above_the_tier_does_not_overrule_the_harness() -> None:
    verdict = passing_verdict(GEMM, "2.000e-02")
    assert verdict.passed and "is 2 times the tier" in verdict.reason


def test_repeated_precision_lines_that_agree_are_fine() -> None:
    assert verdict_on(f"{precision_line(GEMM)}\n{passing_text(GEMM)}").passed


BAD_LOGS: dict[str, tuple[Callable[[], Verdict], str]] = {
    "pass with a non-zero exit": (lambda: verdict_on(passing_text(GEMM), 1), "PASS! with exit status 1"),
    "pass and killed": (lambda: verdict_on(passing_text(GEMM), -9, "timeout"), "PASS! with exit status -9"),
    "failed with exit 0": (lambda: verdict_on(failing_text(GEMM), 0), "failed. with exit status 0"),
    "both": (lambda: verdict_on(f"{failing_text(GEMM)}\nPASS!", 1), "both PASS! and failed."),
    "no precision line": (lambda: verdict_on("PASS!"), "PASS! without a [precision] line"),
    "two that disagree": (
        lambda: verdict_on(f"{precision_line(GEMM, '1.1e-03')}\n{passing_text(GEMM)}"),
        "2 [precision] lines that disagree",
    ),
    "a truncated one": (
        lambda: verdict_on(f"{precision_line(GEMM)[:70]}\n{passing_text(GEMM)}"),
        "unreadable line: [precision] Output 0",
    ),
    "NaN and PASS": (lambda: verdict_on(passing_text(GEMM, "nan")), "not finite"),
    "infinite and PASS": (
        lambda: verdict_on(f"{precision_line(GEMM, absolute='inf')}\nPASS!"),
        "not finite",
    ),
    "another output": (
        lambda: verdict_on(f"{precision_line(GEMM, elements='4')}\nPASS!"),
        "counts 4 elements; the output has 262144",
    ),
    "looser rtol": (
        lambda: verdict_on(f"{precision_line(GEMM, rtol='1.6e-01')}\nPASS!"),
        "judged with rtol=1.6e-01 atol=1.5e-03; the kernel's are rtol=1.6e-02 atol=1.5e-03",
    ),
    "looser atol": (lambda: verdict_on(f"{precision_line(GEMM, atol='4.0e-03')}\nPASS!"), "atol=4.0e-03"),
    "mismatches and PASS": (
        lambda: verdict_on(failing_text(GEMM, mismatches=7).replace("failed.", "PASS!")),
        "PASS! with 7 mismatches",
    ),
    "a device failure and PASS": (
        lambda: verdict_on(f"ert_cmd_state.ERT_CMD_STATE_TIMEOUT\n{passing_text(GEMM)}"),
        "PASS! after a device failure",
    ),
    "no mismatch count": (lambda: verdict_on(f"{precision_line(GEMM)}\nfailed.", 255), "without the list"),
    "counts that do not fit": (
        lambda: verdict_on(failing_text(GEMM, mismatches=300000), 255),
        "300000 mismatches of 262144 do not fit",
    ),
    "a cut list": (
        lambda: verdict_on(failing_text(GEMM).replace("First 1 mis", "First 20 mis"), 255),
        "20 mismatches announced, 1 listed",
    ),
    "neither pass nor failed": (lambda: verdict_on(precision_line(GEMM)), "neither PASS! nor failed."),
    "empty": (lambda: judge(parse_case(GEMM), build_of(GEMM), ""), "the log is empty"),
    "cut before the end": (
        lambda: judge(
            parse_case(GEMM), build_of(GEMM), run_log(GEMM, passing_text(GEMM)).rsplit("[run]", 1)[0]
        ),
        "ends without an exit status",
    ),
    "a bare log of unknown exit status": (
        lambda: judge(parse_case(GEMM), build_of(GEMM), passing_text(GEMM)),
        "ends without an exit status",
    ),
    "another case": (
        lambda: judge(parse_case(GEMM), build_of(GEMM), run_log("gemm_1x1x1", passing_text(GEMM))),
        "the log is of case gemm_1x1x1, not gemm_512x512x512",
    ),
    "another target": (
        lambda: judge(parse_case(GEMM), build_of(GEMM), run_log(GEMM, passing_text(GEMM), target="npu2")),
        "the log is of target npu2, the build of target host",
    ),
}


@pytest.mark.parametrize("name", BAD_LOGS)
def test_a_log_that_cannot_be_believed_is_bad(name: str) -> None:
    judged, words = BAD_LOGS[name]
    verdict = judged()
    assert verdict.status is Status.BAD_LOG and not verdict.passed
    assert words in verdict.reason
    assert verdict.precision is None and verdict.perf is None


@pytest.mark.parametrize(
    ("mean", "status"), [("1.040e-02", "NUMERIC"), ("9.990e-02", "NUMERIC"), ("1.000e-01", "CORRUPT")]
)
def test_corrupt_starts_at_ten_times_the_tier(mean: str, status: str) -> None:
    verdict = failing_verdict(GEMM, mean)
    assert verdict.status == status
    assert "1 of 262144 elements outside the tolerance, the first at (3, 5)" in verdict.reason


def test_a_mean_that_rounds_to_the_tier_is_in_it() -> None:
    assert "1.040e-02 in tier 1.0e-02" in failing_verdict(GEMM, "1.040e-02").reason
    assert "1.060e-02 is 1.06 times the tier" in failing_verdict(GEMM, "1.060e-02").reason


def test_a_failure_away_from_zero_is_not_excused_as_near_zero() -> None:
    assert "near-zero" not in failing_verdict(GEMM, "9.400e-03").reason


def test_an_output_of_nothing_but_nan_is_corrupt() -> None:
    text = failing_text(GEMM, "nan", mismatches=262144).replace(
        "actual=2.0, diff=0.5", "actual=nan, diff=nan"
    )
    verdict = verdict_on(text, 255)
    assert verdict.status is Status.CORRUPT
    assert "NaN in 1 of the 1 failing elements listed, the first at (3, 5)" in verdict.reason


def test_an_infinite_element_is_named() -> None:
    text = failing_text(GEMM, "inf").replace("actual=2.0, diff=0.5", "actual=inf, diff=inf")
    verdict = verdict_on(text, 255)
    assert verdict.status is Status.NUMERIC and "1 element is infinite at (3, 5)" in verdict.reason
    assert verdict.precision.mean_rel_L1 is None


def test_elements_that_no_tile_wrote_are_named() -> None:
    text = f"[host] unwritten elements: 4096 of 262144\n{failing_text(GEMM, mismatches=4000)}"
    verdict = verdict_on(text, 255)
    assert verdict.status is Status.NUMERIC
    assert "4096 of 262144 elements were never written by any tile" in verdict.reason


def test_unwritten_elements_that_look_close_are_no_pass() -> None:
    verdict = verdict_on(f"[host] unwritten elements: 8 of 262144\n{passing_text(GEMM)}")
    assert verdict.status is Status.NUMERIC and "8 of 262144 elements were never written" in verdict.reason


@pytest.mark.parametrize(
    ("text", "exit_status", "state", "status", "words"),
    [
        ("no word", 139, "signal", Status.RUNTIME, "killed by SIGSEGV before a result"),
        ("no word", -11, "signal", Status.RUNTIME, "killed by SIGSEGV before a result"),
        ("error: libfoo.so not found", 1, "ok", Status.RUNTIME, "exit status 1: error: libfoo.so not found"),
        ("", -9, "timeout", Status.TIMEOUT, "no result within 2 s"),
        ("[run] x", 1, "not_run", Status.NOT_RUN, "did not start"),
        ("qds_device::wait() unexpected command state", 1, "ok", Status.RUNTIME, "herd_n = 4"),
    ],
)
def test_a_run_without_a_result(text: str, exit_status: int, state: str, status: Status, words: str) -> None:
    verdict = verdict_on(text, exit_status, state)
    assert verdict.status is status and words in verdict.reason
    assert verdict.precision is None


@pytest.mark.parametrize(
    ("build_status", "reason", "status", "words"),
    [
        ("COMPILE_WALL", "L1: 81920 must be <= 65536", Status.COMPILE_WALL, "L1: 81920 must be <= 65536"),
        (
            "COMPILE_WALL",
            "'x' op Repeat count exceeds [0:255]",
            Status.COMPILE_WALL,
            "repeats more than 255 times",
        ),
        ("COMPILE_ERROR", "gemm.cc:3: error: x", Status.COMPILE_WALL, "compile error: gemm.cc:3: error: x"),
        ("TIMEOUT", "over 600 s", Status.TIMEOUT, "compile: over 600 s; not retried"),
    ],
)
def test_a_build_that_failed_never_ran(build_status: str, reason: str, status: Status, words: str) -> None:
    build = build_of(GEMM, status=build_status, reason=reason, elf_sha256=None)
    log = run_log(GEMM, f"[compile] wall: {reason}", 1, "not_run")
    # A time-out of the compiler leaves no wall in the log.
    verdict = judge(parse_case(GEMM), build, log if build_status != "TIMEOUT" else "")
    assert verdict.status is status and words in verdict.reason
    assert (verdict.evidence.attempts, verdict.evidence.started) == (0, build.started)


def test_the_last_attempt_decides() -> None:
    passing = run_log(GEMM, passing_text(GEMM))
    failing = run_log(GEMM, failing_text(GEMM), 255, attempt=2)
    verdict = judge(parse_case(GEMM), build_of(GEMM), passing + failing)
    assert verdict.status is Status.NUMERIC and verdict.evidence.attempts == 2


def test_compile_walls_on_the_way_to_a_pass_are_no_failure() -> None:
    assert verdict_on(f"L2 capacity exceeded\n{passing_text(GEMM)}").passed
