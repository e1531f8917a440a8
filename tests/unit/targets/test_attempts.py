"""The files that make Snakemake run a failed case again."""

import json
from pathlib import Path

from scripts.targets.attempts import FailedAttempt, failed_attempts, failed_builds, log_tail, record_attempt


def attempt(step: str) -> FailedAttempt:
    return FailedAttempt(
        "toy_copy_64", step, "NUMERIC", "3 of 64 elements", "2026-01-01T00:00:00Z", "failed."
    )


def test_no_folder_holds_no_attempt(tmp_path: Path) -> None:
    assert failed_attempts(tmp_path / "none") == 0
    assert failed_builds(tmp_path / "none") == 0


def test_each_attempt_gets_the_next_number(tmp_path: Path) -> None:
    paths = [record_attempt(tmp_path, attempt(step)) for step in ("run", "compile", "run")]
    assert [path.name for path in paths] == ["1.json", "2.json", "3.json"]
    assert (failed_attempts(tmp_path), failed_builds(tmp_path)) == (3, 1)
    assert json.loads(paths[0].read_text())["reason"] == "3 of 64 elements"


def test_a_number_is_never_used_again(tmp_path: Path) -> None:
    for _ in range(2):
        record_attempt(tmp_path, attempt("run"))
    (tmp_path / "1.json").unlink()
    assert record_attempt(tmp_path, attempt("run")).name == "3.json"


def test_other_files_do_not_count(tmp_path: Path) -> None:
    (tmp_path / ".1.json.abc").write_text("")
    (tmp_path / "notes.json").write_text("{}")
    assert failed_attempts(tmp_path) == 0


def test_a_file_that_cannot_be_read_counts_as_a_failed_build(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text("{")
    assert (failed_attempts(tmp_path), failed_builds(tmp_path)) == (1, 1)


def test_only_the_tail_of_a_log_is_kept() -> None:
    text = "".join(f"line {number}\n" for number in range(1000))
    assert log_tail(text).splitlines()[-1] == "line 999"
    assert len(log_tail(text).splitlines()) < 100
