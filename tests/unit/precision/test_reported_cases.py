"""The cases that people of this trade reported: what happened, and what is said about it."""

from pathlib import Path

import pytest

from scripts.cases.case import parse_case
from scripts.precision.judge import judge
from scripts.precision.verdict import Status, Verdict
from tests.unit.judged import build_of, run_log

ROOT = Path(__file__).resolve().parents[3]
LOGS = ROOT / "tests" / "fixtures" / "logs"
REPORTED = ROOT.parent / "shared" / "cases" / "logs"

CASES = {
    "pass_abs_err_above_atol": ("gemv_1536x8960", 0),
    "one_nan": ("eltwise_add_245760", 255),
    "never_written": ("eltwise_add_245760", 255),
    "one_element_in_tier": ("gemm_2048x1024x3072", 255),
    "stride_wall": ("gemm_2048x2560x9728", 1),
    "bd_wall": ("gemv_8192x2048", 1),
    "shim_wall": ("eltwise_add_4194304", 1),
    "bank_warning_then_pass": ("eltwise_add_4194304", 0),
    "ioctl_error": ("eltwise_add_4194304", -6),
    "timeout_state": ("flash_attention_2048x2048_d128x128_h16x8_causal", 255),
}
EXPECTED = {
    "pass_abs_err_above_atol": (Status.PASS, ["all 1536 elements within tolerance"]),
    "one_nan": (Status.NUMERIC, ["1 element is NaN at (77,)", "1 of 245760 elements"]),
    "never_written": (
        Status.CORRUPT,
        ["never written (mean_rel_L1 = rel_err max = 1)", "check the device the binary was built for"],
    ),
    "one_element_in_tier": (
        Status.NUMERIC,
        ["1 of 6291456 elements", "(1033, 2051)", "in tier", "near-zero reference"],
    ),
    "stride_wall": (
        Status.COMPILE_WALL,
        ["tile_k_l2 * N = 256 * 9728 = 2490368 exceeds the limit 1048576", "next legal tile_k_l2: 64"],
    ),
    "bd_wall": (Status.COMPILE_WALL, ["buffer descriptors", "try each legal tile", "no bisection"]),
    "shim_wall": (Status.COMPILE_WALL, ["shim DMA", "herd_y = 1"]),
    "bank_warning_then_pass": (Status.PASS, ["all 4194304 elements within tolerance"]),
    "ioctl_error": (Status.RUNTIME, ["device is gone", "run the canary", "NOT_RUN"]),
    "timeout_state": (Status.TIMEOUT, ["ERT_CMD_STATE_TIMEOUT", "one retry"]),
}


def build(case: str):
    knobs = {"tile_m": 64, "tile_k_l2": 256, "tile_k_l1": 32, "tile_n": 64, "herd_m": 8, "herd_n": 4}
    return build_of(case, target="npu2", **({"knobs": knobs} if case.startswith("gemm_") else {}))


def wrapped_verdict(name: str) -> Verdict:
    case, exit_status = CASES[name]
    log = run_log(case, (LOGS / f"{name}.log").read_text(), exit_status, target="npu2")
    return judge(parse_case(case), build(case), log)


@pytest.mark.parametrize("name", CASES)
def test_the_status_and_the_words(name: str) -> None:
    status, words = EXPECTED[name]
    verdict = wrapped_verdict(name)
    assert verdict.status is status, verdict.reason
    assert [word for word in words if word not in verdict.reason] == []
    assert "0.00" not in verdict.reason


@pytest.mark.parametrize("name", CASES)
def test_a_bare_upstream_log_gives_the_same(name: str) -> None:
    case, exit_status = CASES[name]
    text = (LOGS / f"{name}.log").read_text()
    bare = judge(parse_case(case), build(case), text, exit_status=exit_status)
    wrapped = wrapped_verdict(name)
    assert (bare.status, bare.reason, bare.precision) == (wrapped.status, wrapped.reason, wrapped.precision)


def test_figures_are_those_of_the_log() -> None:
    precision = wrapped_verdict("one_element_in_tier").precision
    assert (precision.mean_rel_L1, precision.rel_err_max, precision.abs_err_max) == (
        9.433e-3,
        5.074e26,
        1.709e-3,
    )
    assert (precision.rtol, precision.atol, precision.mismatches, precision.elements) == (
        1.6e-2,
        1.5e-3,
        1,
        6291456,
    )


def test_figures_that_are_no_numbers_are_left_out() -> None:
    precision = wrapped_verdict("one_nan").precision
    assert (precision.mean_rel_L1, precision.rel_err_max, precision.abs_err_max) == (None, None, None)
    assert precision.mismatches == 1


def test_timing_is_that_of_the_log() -> None:
    perf = wrapped_verdict("bank_warning_then_pass").perf
    assert perf.latency_us == 437.2
    assert perf.gflops is None
    assert perf.gbps == pytest.approx(6 * 4194304 / 437.2e-6 / 1e9, rel=1e-3)


def test_a_pass_after_a_time_out_is_flagged() -> None:
    case = "eltwise_add_4194304"
    hang = run_log(case, (LOGS / "timeout_state.log").read_text(), 255, target="npu2")
    passing = run_log(case, (LOGS / "bank_warning_then_pass.log").read_text(), 0, attempt=2, target="npu2")
    verdict = judge(parse_case(case), build(case), hang + passing)
    assert verdict.passed and verdict.evidence.attempts == 2
    assert verdict.reason.startswith("passed on attempt 2; attempt 1: TIMEOUT: ")


def test_the_fixtures_are_the_reported_logs() -> None:
    if not REPORTED.is_dir():
        pytest.skip("the reported cases are not beside this checkout")
    reported = {path.name: path.read_text() for path in REPORTED.glob("*.log")}
    assert reported == {path.name: path.read_text() for path in LOGS.glob("*.log")}
    assert {Path(name).stem for name in reported} == set(CASES)
