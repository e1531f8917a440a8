"""Files that are not as expected: one line that names file and line, exit status 2, files untouched."""

import subprocess
import sys

import pytest

from tests.unit.judged import passing_verdict
from tests.unit.registry.upstream.cases import device_verdict

INDEX = "supported_kernels.md"
PAGE = "details/GEMM_bf16_in_bf16_out.md"
JSON = "details/GEMM_bf16_in_bf16_out.json"
CASE = "gemm_2048x2048x4096"


@pytest.fixture
def step(tmp_path):
    """The append step of a device's verdict on a registry."""

    def run(registry, verdict, *options):
        (tmp_path / "case.verdict").write_text(verdict.as_json(), encoding="utf-8")
        paths = ["--verdict", str(tmp_path / "case.verdict"), "--receipt", str(tmp_path / "case.row")]
        command = [sys.executable, "-m", "scripts.append_registry", *paths]
        return subprocess.run(
            [*command, "--registry-root", str(registry), *options],
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def _header(text):
    """Index of the header's line of the first table that the case belongs to."""
    lines = text.splitlines()
    mark = "high-prec fused-cast" if "high-prec fused-cast" in text else "incl. cast"
    return next(i for i, line in enumerate(lines) if line.startswith("|") and mark in line)


def _cut_in_a_row(text):
    lines = text.splitlines(keepends=True)
    row = _header(text) + 2
    return "".join(lines[:row]) + lines[row][:20], row + 1


def _cut_after_the_header(text):
    header = _header(text)
    return "".join(text.splitlines(keepends=True)[: header + 1]), header + 1


def _row_lost_a_cell(text):
    lines = text.splitlines(keepends=True)
    row = _header(text) + 2
    lines[row] = "|".join(lines[row].split("|")[:-2]) + "|\n"
    return "".join(lines), row + 1


def _header_lost_a_column(column):
    def lose(text):
        """The table without the column, in its rows too."""
        lines = text.splitlines(keepends=True)
        start = _header(text)
        index = next(i for i, cell in enumerate(lines[start].split("|")) if column in cell)
        end = next(i for i in range(start, len(lines)) if not lines[i].startswith("|"))
        for i in range(start, end):
            cells = lines[i].split("|")
            lines[i] = "|".join(cells[:index] + cells[index + 1 :])
        return "".join(lines), start + 1

    return lose


def _header_alone_lost_a_column(text):
    lines = text.splitlines(keepends=True)
    start = _header(text)
    cells = lines[start].split("|")
    lines[start] = "|".join(cells[:2] + cells[3:])
    return "".join(lines), start + 2


def _crlf(text):
    return text.replace("\n", "\r\n"), 1


def _one_crlf(text):
    lines = text.splitlines(keepends=True)
    lines[4] = lines[4].rstrip("\n") + "\r\n"
    return "".join(lines), 5


def _not_json(text):
    lines = text.splitlines(keepends=True)
    line = next(i for i, line in enumerate(lines) if '"K":' in line)
    lines[line] = lines[line].replace(":", " ")
    return "".join(lines), line + 1


def _json_cut_short(text):
    return text[: len(text) // 2], text[: len(text) // 2].count("\n") + 1


def _json_array(text):
    return f"[\n{text}]\n", 1


BROKEN = [
    (INDEX, _cut_in_a_row),
    (INDEX, _cut_after_the_header),
    (INDEX, _row_lost_a_cell),
    (INDEX, _header_alone_lost_a_column),
    (INDEX, _header_lost_a_column("(M×K×N)")),
    (INDEX, _header_lost_a_column("mean_rel_L1")),
    (INDEX, _header_lost_a_column("Status")),
    (INDEX, _crlf),
    (INDEX, _one_crlf),
    (PAGE, _cut_in_a_row),
    (PAGE, _row_lost_a_cell),
    (PAGE, _header_lost_a_column("GFLOPS")),
    (PAGE, _header_lost_a_column("Status")),
    (PAGE, _crlf),
    (JSON, _not_json),
    (JSON, _json_cut_short),
    (JSON, _json_array),
    (JSON, _crlf),
]


@pytest.mark.parametrize("name, damage", BROKEN)
def test_a_file_that_is_not_as_expected_is_named_with_its_line(stand_in, step, contents, name, damage):
    path = stand_in / name
    damaged, line = damage(path.read_text(encoding="utf-8"))
    path.write_bytes(damaged.encode("utf-8"))
    before = contents(stand_in)
    done = step(stand_in, device_verdict(CASE))
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"error: {path} line {line}: ") and done.stderr.count("\n") == 1
    assert contents(stand_in) == before
    assert not (path.parents[1] / "case.row").exists()


def test_an_entry_without_methods_is_named(stand_in, step, contents):
    path = stand_in / JSON
    text = path.read_text(encoding="utf-8")
    line = text[: text.index('"M":')].count("\n")  # of the brace before it
    path.write_text(text.replace('"methods"', '"method"', 1), encoding="utf-8")
    before = contents(stand_in)
    done = step(stand_in, device_verdict(CASE))
    assert done.returncode == 2 and f"{JSON} line {line}: field methods is missing" in done.stderr
    assert contents(stand_in) == before


@pytest.mark.parametrize("name", [INDEX, PAGE, JSON])
def test_a_missing_file_is_named(stand_in, step, contents, name):
    (stand_in / name).unlink()
    before = contents(stand_in)
    done = step(stand_in, device_verdict(CASE))
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"error: {stand_in / name} line 1: no such file")
    assert contents(stand_in) == before


def test_a_folder_that_is_no_registry_is_named(tmp_path, step):
    (tmp_path / "empty").mkdir()
    done = step(tmp_path / "empty", device_verdict(CASE))
    assert done.returncode == 2 and "empty: no registry; allowed: kernel_registry/" in done.stderr
    done = step(tmp_path / "nowhere", device_verdict(CASE))
    assert done.returncode == 2 and done.stderr.startswith("error: ") and "nowhere" in done.stderr


def test_a_journal_that_is_not_ours_is_named(stand_in, step, contents):
    (stand_in / ".pending").mkdir()
    (stand_in / ".pending" / "journal.json").write_text("[]")
    before = contents(stand_in)
    done = step(stand_in, device_verdict(CASE))
    assert done.returncode == 2 and "not a journal of ours" in done.stderr
    assert contents(stand_in) == before


def test_simulated_evidence_is_refused(stand_in, step, contents):
    before = contents(stand_in)
    done = step(stand_in, passing_verdict(CASE, used_by=("tiny-1b prefill Q proj",)))
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert f"{stand_in}: found simulated evidence; allowed: hardware" in done.stderr
    assert contents(stand_in) == before


def test_the_command_line_appends_and_says_what_disagrees(stand_in, step):
    verdict = device_verdict("gemm_f32_2048x2048x2048", mean=0.0093)
    done = step(stand_in, verdict)
    assert (done.returncode, done.stderr) == (0, "")
    assert "regression of gflops" in done.stdout and "--accept replaces it" in done.stdout
    done = step(stand_in, verdict, "--accept")
    assert "replaced, as --accept asks" in done.stdout
    assert step(stand_in, verdict, "--accept").stdout == ""
