"""The Markdown pages."""

import pandas as pd
import pytest

from scripts.cases.kernel_facts import harness_kernels, load_kernel
from scripts.errors import InputError
from scripts.registry.markdown import markdown_table
from scripts.registry.roots import SHARED_REGISTRY
from scripts.registry.rows import TABLE_COLUMNS
from scripts.registry.store import append, load_document, load_rows, new_document, replace_document
from scripts.registry.tables import kernel_page, render, rendered_pages


def _table(page):
    """The table of a page, as lists of cells."""
    lines = [line for line in page.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def _page(*rows):
    return kernel_page({**new_document("gemm"), "rows": list(rows)})


def test_columns_are_those_of_the_kernel_in_its_order():
    heading = _table(kernel_page(load_document(SHARED_REGISTRY, "eltwise_add")))[0]
    assert heading == [
        "Shape", "Tile", "Herd", "Latency", "Bandwidth", "mean_rel_L1", "rel_err max", "abs_err max",
        "Used by", "Status", "Evidence",
    ]  # fmt: skip


def test_a_published_row_reads_as_it_was_published():
    rows = _table(kernel_page(load_document(SHARED_REGISTRY, "eltwise_add")))
    row = next(row for row in rows if row[0] == "4194304")
    assert row == [
        "4194304",
        "2048",
        "8x1",
        "437 µs",
        "57.7 GB/s",
        "1.9e-3",
        "-",
        "3.1e-2",
        "-",
        "✅",
        "published",
    ]


def test_simulated_evidence_is_set_apart(make_row):
    evidence = {"kind": "simulated", "source": "harness", "started": "2026-12-01T10:00:00Z"}
    assert _table(_page(make_row(evidence=evidence)))[-1][-1] == "*simulated* 2026-12-01"


def test_the_fastest_of_several_is_bold_and_a_lone_row_is_not(make_row):
    source = {"kind": "published", "source": "x"}
    fast = make_row(gflops=1703, best=True, evidence=source)
    slow = make_row(gflops=482, method="fused-cast", evidence=source)
    lone = make_row(gflops=25, best=True, shape="8x8x8", evidence=source)
    cells = [row[4] for row in _table(_page(fast, slow, lone))[2:]]
    assert cells == ["**1703**", "482", "25"]


def test_notes_stand_below_the_table(make_row):
    page = _page(make_row(note="N padded 720 to 768"))
    assert page.endswith("## Notes\n\n- `512x512x512` drain: N padded 720 to 768\n")
    assert "## Notes" not in _page(make_row())


def test_a_pipe_in_a_cell_does_not_end_it():
    assert r"a\|b" in markdown_table(pd.DataFrame({"Shape": ["a|b"]}))


def test_a_kernel_without_rows_has_a_page():
    assert "No rows yet." in _page()


@pytest.mark.parametrize("kernel", harness_kernels())
def test_every_kernel_has_columns_that_a_row_has(kernel):
    assert set(load_kernel(kernel).registry["columns"]) <= set(TABLE_COLUMNS)
    assert kernel_page(new_document(kernel))


def test_the_shared_pages_are_what_the_json_renders_to():
    for path, text in rendered_pages(SHARED_REGISTRY).items():
        assert path.read_text(encoding="utf-8") == text, path


def test_the_index_links_every_page_and_computes_its_figures():
    text = (SHARED_REGISTRY / "README.md").read_text(encoding="utf-8")
    fastest = max(row["gflops"] or 0 for row in load_rows(SHARED_REGISTRY, "gemm"))
    row = next(line for line in text.splitlines() if line.startswith("| [gemm](gemm.md)"))
    assert f"{fastest} GFLOP/s at 2048x18944x3584 fused-cast" in row
    assert all(f"[{kernel}]({kernel}.md)" in text for kernel in harness_kernels())


def test_rendering_writes_nothing_when_a_file_is_malformed(working_copy, make_row):
    append(working_copy, "gemm", make_row())
    (working_copy / "rope.json").write_text("{")
    with pytest.raises(InputError, match=r"rope\.json line 1"):
        render(working_copy)
    assert not list(working_copy.glob("*.md"))


def test_rendering_twice_leaves_the_files_alone(working_copy, make_row):
    replace_document(working_copy, {**new_document("gemm"), "rows": [make_row()]})
    times = [path.stat().st_mtime_ns for path in render(working_copy)]
    assert [path.stat().st_mtime_ns for path in render(working_copy)] == times
