"""Reading the report of upstream's `make diagnosis`, and running it."""

import json
import os
import time
from pathlib import Path

import pytest

from scripts.diagnosis.cliff import Thresholds
from scripts.diagnosis.device_layers import DeviceAccess, diagnose_on_device
from scripts.diagnosis.upstream_report import diagnosis_command, model_folder, newest_report, read_report
from scripts.errors import InputError
from scripts.models.plan import PlannedCase
from scripts.targets.npu2.checkout import Checkout

PLAN = [
    PlannedCase("bias_add", "64x64", "bias_add_64x64", "prefill", ("QKV bias (Q)",), "diagnosis"),
    PlannedCase("gemv_add", "512x512", "gemv_add_512x512", "decode", ("O proj",), "diagnosis"),
]
THRESHOLDS = Thresholds(0.99, 0.002)


def layer(number: int, cosine: float, name: str = "ffn_out") -> dict:
    figures = {"max_abs": 0.5, "mean_abs": 0.1, "max_rel": 9.0, "mean_rel": 0.2}
    cosines = dict.fromkeys(("min", "p5", "median"), cosine - 0.001) | {"mean": cosine}
    return {"name": name, "pair": "npu_vs_hf", "layer": number, "cosine": cosines, "errors": figures}


def report_text(folder: str = "toy32_1b", mode: str = "diagnosis", layers: list | None = None) -> str:
    config = {"mode": mode, "runner": f"{folder}.verify_adapter", "model": "instruct"}
    records = [layer(0, 0.9995), layer(1, 0.999)] if layers is None else layers
    return json.dumps({"config": config, "prompts": None, "per_layer": records, "summary": {}})


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of our own with one model, whose `make diagnosis` copies the file `next.json`."""
    models = tmp_path / "mlir-air" / "programming_examples" / "llms"
    (models / "toy32_1b").mkdir(parents=True)
    (models / "verify" / "reports").mkdir(parents=True)
    reports = "../verify/reports"
    (models / "toy32_1b" / "Makefile").write_text(
        f"diagnosis:\n\tcp next.json {reports}/diagnosis_$$(date +%Y%m%d-%H%M%S).json\n"
    )
    return tmp_path / "mlir-air"


def access(checkout: Path, tmp_path: Path) -> DeviceAccess:
    return DeviceAccess(Checkout(checkout, "python3"), "NPU2", tmp_path / "lock", 1.0, 60.0)


def test_a_model_is_found_by_its_letters_and_digits(checkout: Path) -> None:
    folder = model_folder(checkout, "toy-3.2-1b")
    assert folder.name == "toy32_1b"
    assert diagnosis_command(folder) == ["make", "-C", str(folder), "diagnosis"]
    with pytest.raises(InputError, match=r"no folder for it .* there are: toy32_1b"):
        model_folder(checkout, "toy-3.2-3b")


def test_the_newest_report_is_read(checkout: Path) -> None:
    reports = checkout / "programming_examples" / "llms" / "verify" / "reports"
    with pytest.raises(InputError, match="make diagnosis writes one"):
        newest_report(checkout)
    for stamp in ("20261130-235959", "20261201-000000"):
        (reports / f"diagnosis_{stamp}.json").write_text(report_text())
    found = newest_report(checkout)
    assert found.name == "diagnosis_20261201-000000.json"
    records = read_report(found, Path("toy32_1b"), 0)
    assert [(each.phase, each.layer, each.whole_cosine) for each in records] == [
        ("prefill", 0, 0.9995),
        ("prefill", 1, 0.999),
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            report_text(folder="other_1b"),
            "config.runner is 'other_1b.verify_adapter'; allowed: one of toy32_1b",
        ),
        (report_text(mode="verify"), "config.mode is 'verify'"),
        (report_text(layers=[]), "holds no ffn_out of any layer"),
        (report_text(layers=[layer(0, 1.0, name="q")]), "holds no ffn_out of any layer"),
        ('{"per_layer": []}', "not a report of make diagnosis: 'config'"),
        ("{", "not a readable JSON file"),
    ],
)
def test_what_is_no_report_of_the_model_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "diagnosis_20261201-000000.json"
    path.write_text(text)
    with pytest.raises(InputError) as refusal:
        read_report(path, Path("toy32_1b"), 0)
    assert complaint in str(refusal.value)


def test_a_report_older_than_the_build_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "diagnosis_20261201-000000.json"
    path.write_text(report_text())
    os.utime(path, (1000, 1000))
    with pytest.raises(InputError, match="older than the build"):
        read_report(path, Path("toy32_1b"), time.time())


def test_make_diagnosis_runs_under_the_lock_and_covers_the_prefill(checkout: Path, tmp_path: Path) -> None:
    (checkout / "programming_examples/llms/toy32_1b/next.json").write_text(report_text())
    diagnosis = diagnose_on_device("toy-3.2-1b", PLAN, access(checkout, tmp_path), THRESHOLDS)
    assert (diagnosis.status, diagnosis.kind, len(diagnosis.records)) == ("OK", "hardware", 2)
    assert diagnosis.exercised == {"prefill": ("bias_add_64x64",)}
    assert str(checkout) not in (diagnosis.command or "") and "diagnosis" in diagnosis.command


def test_a_diagnosis_that_fails_is_recorded(checkout: Path, tmp_path: Path) -> None:
    device = access(checkout, tmp_path)
    failed = diagnose_on_device("toy-3.2-1b", PLAN, device, THRESHOLDS)
    assert failed.status == "RUNTIME" and "make diagnosis ended with status 2" in failed.reason
    absent = diagnose_on_device("toy-9b", PLAN, device, THRESHOLDS)
    assert absent.status == "NOT_RUN" and "no folder for it" in absent.reason
