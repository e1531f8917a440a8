"""The page and the plot of the published figures, from results that are made up."""

import importlib.util
import sys
from pathlib import Path

import pytest
import yaml

from benchmarks.figures_page import OPEN_FIGURES, Measurement, likely_reason, page, score_line
from benchmarks.figures_plot import INSTALL, draw
from benchmarks.published_figures import published_rows
from benchmarks.row_results import PublishedFigure, PublishedRow, RowResult, csv_text

MEASUREMENT = Measurement("2026-12-01", 660.0, 700_000_000, 2, "g++ 12; numpy 2 on openblas 0.3")
ROWS = {(r.case.name, r.method): r for group in published_rows().values() for r in group}


def result(name: str, method: str | None, host: dict[str, str], mismatches: int = 0) -> RowResult:
    """What the host target is made to say of a published row."""
    row = ROWS[name, method]
    figures = [PublishedFigure(figure, row.row["printed"][figure], text) for figure, text in host.items()]
    return RowResult(row, "tile", mismatches == 0, mismatches, figures)


MET = result("gemm_512x512x512", "drain", {"mean_rel_L1": "9.278e-03"}, mismatches=14)
FAILED = result("gemm_2048x1024x3072", "fused-cast", {"mean_rel_L1": "9.862e-03"}, mismatches=1)
OTHER_SCRIPT = result("gemm_256x64x256", "drain", {"mean_rel_L1": "9.373e-03"}, mismatches=9)
GEMV = result("gemv_256x1536", None, {"mean_rel_L1": "8.009e-06", "rel_err_max": "5.051e-03"})


@pytest.mark.parametrize(
    ("row", "verdict", "mismatches"),
    [
        (MET.published, None, None),
        (FAILED.published, "FAIL", 1),
        (ROWS["gemm_64x32x720", "drain"], "FAIL", None),
        (ROWS["rmsnorm_256x960", None], "PASS", None),
    ],
)
def test_the_device_s_verdict_is_read_from_the_row(
    row: PublishedRow, verdict: str | None, mismatches: int | None
) -> None:
    assert (row.expected_verdict, row.expected_mismatches) == (verdict, mismatches)


def test_a_verdict_agrees_only_with_as_many_failing_elements() -> None:
    assert (MET.agrees, FAILED.agrees, GEMV.agrees) == (None, True, True)
    figures = {"mean_rel_L1": "9.862e-03"}
    assert result("gemm_2048x1024x3072", "fused-cast", figures, mismatches=2).agrees is False
    assert result("gemm_2048x1024x3072", "fused-cast", figures).agrees is False
    assert result("rmsnorm_256x960", None, {"mean_rel_L1": "4.205e-03"}, mismatches=1).agrees is False


def test_rows_of_another_script_are_shown_but_not_counted() -> None:
    line = score_line([MET, FAILED, OTHER_SCRIPT, GEMV])
    assert line.startswith("1 of 3 rows match in every published figure; 2 of 2 published verdicts")
    assert "1 rows measured by another script are not counted" in line
    text = page([MET, OTHER_SCRIPT], MEASUREMENT, None)
    assert text.index("## Not counted") < text.index("gemm_256x64x256")
    assert "## Figures that do not match\n\nNone." in text


def test_the_page_names_both_figures_and_the_reason() -> None:
    text = page([MET, FAILED, GEMV], MEASUREMENT, "plot.svg")
    lines = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| gemm_2048x1024x3072")]
    assert [cell.strip() for cell in lines[0]] == [
        *("gemm_2048x1024x3072", "fused-cast", "mean_rel_L1", "9.4e-3", "9.862e-3", "1")
    ]
    assert f"1. {likely_reason(FAILED, 'mean_rel_L1')}" in text and "drain epilogue" in text
    assert text.count(likely_reason(GEMV, "mean_rel_L1")) == 1
    assert "![published and host mean_rel_L1](plot.svg)" in text
    assert "2026-12-01: 3 rows in 11 minutes on 2 threads; the largest process took 0.7 GB" in text


def test_a_row_without_a_known_reason_says_so() -> None:
    row = result("rmsnorm_256x960", None, {"mean_rel_L1": "5.000e-03"})
    assert likely_reason(row, "mean_rel_L1") is None
    assert "| not known" in page([row], MEASUREMENT, None)


def test_every_reason_is_of_a_published_figure() -> None:
    for entry in yaml.safe_load(OPEN_FIGURES.read_text(encoding="utf-8")):
        rows = [row for row in ROWS.values() if row.case.kernel == entry["kernel"]]
        named = set(entry.get("shapes", [row.case.shape for row in rows]))
        held = [row for row in rows if row.case.shape in named]
        assert {row.case.shape for row in held} == named
        assert all(set(entry["figures"]) <= set(row.row["printed"]) for row in held)


def test_the_csv_has_a_line_for_each_figure() -> None:
    header, first, *others = csv_text([FAILED, GEMV]).splitlines()
    assert header == "case,method,tile,figure,published,host,match,expected,verdict,agrees,mismatches"
    assert first == (
        "gemm_2048x1024x3072,fused-cast,tile,mean_rel_L1,9.4e-3,9.862e-3,NO,FAIL (1),FAIL (1),yes,1"
    )
    assert len(others) == 2


def test_without_matplotlib_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert draw([MET], tmp_path / "figures.csv", ("png",)) == []
    assert capsys.readouterr().err == f"{INSTALL}\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="the extra `plots` is not installed"
)
def test_the_plot_is_the_same_file_for_the_same_figures(tmp_path: Path) -> None:
    results = [MET, FAILED, OTHER_SCRIPT, GEMV]
    first, again = (draw(results, tmp_path / name, ("svg",))[0].read_bytes() for name in ("one", "two"))
    assert first == again
    assert b"gemm: 1 of 2" in first and b"gemv: 0 of 1" in first
