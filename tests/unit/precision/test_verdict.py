"""The record: its fields in order, and metrics tied to the status."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.errors import InputError
from scripts.precision.verdict import Perf, Status, read_verdict
from tests.unit.judged import GEMM, failing_verdict, passing_verdict

FIELDS = [
    "case",
    "kernel",
    "shape",
    "verdict",
    "status",
    "reason",
    "precision",
    "perf",
    "method",
    "tile",
    "herd",
    "tiles_used",
    "tiles_target",
    "note",
    "used_by",
    "evidence",
]
PRECISION = ["mean_rel_L1", "rel_err_max", "abs_err_max", "rtol", "atol", "mismatches", "elements"]
EVIDENCE = [
    "kind",
    "target",
    "source",
    "command",
    "elf_sha256",
    "toolchain",
    "device",
    "started",
    "seconds",
    "attempts",
]


def test_the_fields_are_the_documented_ones_in_order() -> None:
    record = json.loads(passing_verdict(GEMM).as_json())
    assert list(record) == FIELDS
    assert list(record["precision"]) == PRECISION
    assert list(record["evidence"]) == EVIDENCE
    assert (record["verdict"], record["status"], record["herd"]) == ("PASS", "PASS", [8, 4])
    assert json.loads(failing_verdict(GEMM).as_json())["verdict"] == "FAIL"


@pytest.mark.parametrize("verdict", [passing_verdict(GEMM), failing_verdict(GEMM, "nan")])
def test_what_is_written_is_what_is_read(verdict, tmp_path: Path) -> None:
    path = tmp_path / "x.verdict"
    path.write_text(verdict.as_json())
    assert read_verdict(path) == verdict
    assert "NaN" not in verdict.as_json()


@pytest.mark.parametrize(
    "status", [status for status in Status if status not in ("PASS", "NUMERIC", "CORRUPT")]
)
def test_no_figures_without_a_measurement(status: Status) -> None:
    with pytest.raises(ValueError, match="carries no precision figures"):
        replace(passing_verdict(GEMM), status=status)
    with pytest.raises(ValueError, match="carries no timing"):
        replace(passing_verdict(GEMM), status=status, precision=None, perf=Perf(1.0, None, None))


@pytest.mark.parametrize("status", [Status.PASS, Status.NUMERIC, Status.CORRUPT])
def test_no_measurement_without_figures(status: Status) -> None:
    with pytest.raises(ValueError, match="needs precision figures"):
        replace(passing_verdict(GEMM), status=status, precision=None)


@pytest.mark.parametrize("change", [{"mean_rel_L1": None}, {"mismatches": 1}, {"elements": 0}])
def test_a_pass_is_proven_or_refused(change: dict) -> None:
    verdict = passing_verdict(GEMM)
    with pytest.raises(ValueError, match="PASS needs finite figures"):
        replace(verdict, precision=replace(verdict.precision, **change))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda text: text[:100], "not a readable JSON file"),
        (lambda text: text.replace('"status": "PASS"', '"status": "OK"'), "'OK' is not a valid Status"),
        (lambda text: text.replace('"verdict": "PASS"', '"verdict": "FAIL"'), "contradicts status"),
        (lambda text: text.replace('"herd"', '"hard"'), "field herd is missing"),
        (lambda text: text.replace('"elements"', '"element"'), "not a verdict"),
        (lambda text: "[]", "not a verdict"),
    ],
)
def test_a_damaged_file_is_refused_by_name(damage, words: str, tmp_path: Path) -> None:
    path = tmp_path / "x.verdict"
    path.write_text(damage(passing_verdict(GEMM).as_json()))
    with pytest.raises(InputError, match=words) as refusal:
        read_verdict(path)
    assert str(path) in str(refusal.value)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none.verdict: not found"):
        read_verdict(tmp_path / "none.verdict")
