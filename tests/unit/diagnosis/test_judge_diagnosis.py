"""The verdict on a case without a harness."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.cases.case import parse_case
from scripts.diagnosis.cliff import Thresholds
from scripts.diagnosis.document import Diagnosis, read_diagnosis
from scripts.diagnosis.records import LayerRecord
from scripts.errors import InputError
from scripts.judge_diagnosis import checked_case, judge
from scripts.precision.build_record import build_record
from scripts.precision.verdict import Status

CASE = parse_case("gemv_add_2048x2048")
BUILD = {
    "case": CASE.name,
    "target": "host",
    "status": "OK",
    "tile": {"tile_m": 8, "tile_k": 512},
    "herd": [8, 2],
    "tiles_used": 16,
    "tiles_target": 16,
}
FIGURES = {"min": 1.0, "p5": 1.0, "median": 1.0, "mean": 1.0}


def layer(phase: str, number: int, cosine: float) -> LayerRecord:
    return LayerRecord(phase, number, cosine, FIGURES, {"max_abs": 0.1, "mean_abs": 0.01})


SOUND = Diagnosis(
    model="toy",
    kind="simulated",
    target="host",
    status="OK",
    reason=None,
    reference="numpy",
    command="python -m scripts.diagnosis.host_layers",
    device="host model of AIE2P",
    started="2026-12-01T00:00:00Z",
    seconds=1.0,
    thresholds=Thresholds(0.99, 0.002),
    records=(layer("prefill", 0, 0.5), layer("decode", 0, 0.9999), layer("decode", 1, 0.9991)),
    exercised={"prefill": ("gemm_64x64x64",), "decode": (CASE.name, "gemv_64x64")},
)


def verdict_on(*diagnoses: Diagnosis):
    return judge(CASE, build_record(BUILD), diagnoses, ["toy decode O proj"])


def test_a_case_is_judged_by_the_phase_it_runs_in() -> None:
    """The prefill's cliff says nothing of a decode kernel."""
    verdict = verdict_on(SOUND)
    assert (verdict.status, verdict.evidence.source, verdict.precision) == (Status.PASS, "diagnosis", None)
    assert "no cliff over 2 layers; lowest ffn_out cosine 0.999100 (decode layer 1)" in verdict.reason
    assert (verdict.tiles_used, verdict.herd, verdict.used_by) == (16, (8, 2), ("toy decode O proj",))


def test_a_cliff_names_the_layer_and_the_kernels_there() -> None:
    broken = replace(SOUND, records=(layer("decode", 0, 0.9999), layer("decode", 1, 0.9)))
    verdict = verdict_on(broken)
    assert verdict.status is Status.NUMERIC
    assert "cliff at decode layer 1: ffn_out cosine 0.900000 after 0.999900" in verdict.reason
    assert verdict.reason.endswith("kernels there: gemv_add_2048x2048, gemv_64x64")


def test_the_worst_of_several_models_decides() -> None:
    not_run = replace(SOUND, model="other", status="NOT_RUN", reason="not built: x", records=(), exercised={})
    assert verdict_on(SOUND, not_run).status is Status.NOT_RUN
    crashed = replace(not_run, status="RUNTIME", reason="signal 11")
    assert "other: diagnosis: signal 11" in verdict_on(crashed, SOUND).reason


def test_a_case_that_no_layer_ran_has_no_signal() -> None:
    verdict = verdict_on(replace(SOUND, exercised={"decode": ("gemv_64x64",)}))
    assert verdict.status is Status.NOT_RUN and "ran no gemv_add_2048x2048" in verdict.reason


def test_cosine_judges_no_kernel_that_has_a_harness() -> None:
    with pytest.raises(InputError, match="gemv has a harness, which alone judges it"):
        checked_case("gemv_2048x2048")


def test_the_file_holds_everything(tmp_path: Path) -> None:
    path = tmp_path / "toy.diagnosis.json"
    path.write_text(SOUND.as_json())
    assert read_diagnosis(path) == SOUND
    assert json.loads(path.read_text())["per_layer"][0]["name"] == "ffn_out"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "not a readable JSON file"),
        ("{}", "field model is missing"),
        (SOUND.as_json().replace("ffn_out", "k_cache"), "per_layer holds 'k_cache'"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(tmp_path: Path, text: str, complaint: str) -> None:
    diagnosis, build = tmp_path / "toy.diagnosis.json", tmp_path / "build.json"
    diagnosis.write_text(text)
    build.write_text(json.dumps(BUILD))
    files = ("--build", str(build), "--diagnoses", str(diagnosis), "--output", str(tmp_path / "verdict"))
    command = [sys.executable, "-m", "scripts.judge_diagnosis", CASE.name, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ") and complaint in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "verdict").exists()
