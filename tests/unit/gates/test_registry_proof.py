"""Gate 4 believes the registry file, not the receipt."""

import json
from pathlib import Path

import pytest

from scripts.errors import InputError
from scripts.gates.registry_proof import missing_row, read_receipt
from scripts.precision.verdict import read_verdict
from tests.unit.gates.conftest import GEMM, MODEL, Run
from tests.unit.judged import failing_verdict


@pytest.fixture
def appended(run: Run):
    """A receipt and its verdict; the row is in the registry."""
    receipt = run.add(GEMM)
    return receipt, read_verdict(run.verdicts[0])


def change_rows(receipt: dict, change) -> None:
    path = Path(receipt["registry"])
    document = json.loads(path.read_text())
    document["rows"] = [row for row in document["rows"] if change(row) is not False]
    path.write_text(json.dumps(document))


def own(row: dict) -> bool:
    return row["evidence"]["kind"] == "simulated"


def test_a_row_that_is_there(appended) -> None:
    assert missing_row(*appended, MODEL) is None


def test_a_row_that_went_missing_after_the_receipt(appended) -> None:
    change_rows(appended[0], lambda row: not own(row))
    assert "holds no simulated row for 512x512x512, although" in missing_row(*appended, MODEL)


def test_a_row_of_another_build_proves_nothing(appended) -> None:
    change_rows(appended[0], lambda row: row["evidence"].update(elf_sha256="0" * 64) if own(row) else None)
    assert "holds no simulated row" in missing_row(*appended, MODEL)


def test_a_published_row_does_not_stand_for_a_simulated_run(appended) -> None:
    """512x512x512 drain is published too."""
    rows = json.loads(Path(appended[0]["registry"]).read_text())["rows"]
    methods = {row["method"] for row in rows if row["shape"] == "512x512x512" and not own(row)}
    assert appended[1].method in methods
    change_rows(appended[0], lambda row: row["used_by"].append(f"{MODEL} x") if not own(row) else False)
    assert "holds no simulated row" in missing_row(*appended, MODEL)


@pytest.mark.parametrize("model", [f"{MODEL}-instruct", "toy-1", "prefill"])
def test_the_row_has_to_name_the_model_and_not_one_like_it(appended, model: str) -> None:
    assert f"does not name {model} in its used_by" in missing_row(*appended, model)


def test_no_file_no_row(appended) -> None:
    Path(appended[0]["registry"]).unlink()
    assert "is not there, although the receipt names it" in missing_row(*appended, MODEL)


def test_no_receipt(appended) -> None:
    assert missing_row(None, appended[1], MODEL) == "no receipt"


def test_a_failed_case_has_no_row_and_says_why(run: Run) -> None:
    receipt = run.add(GEMM, failing_verdict(GEMM))
    assert "NUMERIC" in missing_row(receipt, read_verdict(run.verdicts[0]), MODEL)


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "not a readable JSON file"), ("[]", "found list"), ('{"case": 3}', "field case is 3")],
)
def test_a_malformed_receipt_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "x.row"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read_receipt(path)
