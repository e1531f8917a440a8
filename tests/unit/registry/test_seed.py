"""The registry's published rows: nothing lost, nothing added, every digit kept."""

import csv
from decimal import Decimal

import pytest

from scripts.cases.case import parse_case
from scripts.cases.kernel_facts import load_kernel
from scripts.errors import InputError
from scripts.registry.roots import SHARED_REGISTRY, accepted_kinds, registry_kernels
from scripts.registry.rows import FIGURES
from scripts.registry.seed import PUBLISHED_COLUMNS, seed
from scripts.registry.store import load_rows

GEMV = "gemv,bf16_out,,,,2048x2048,8/8/8,8x1,330,25.5,,1.6e-9,4.4e-3,2.0e-3,llama-3.2-1B Q proj,✅,GEMV.md"
FLASH = (
    "flash_attention,,,,,512x512 d64/64 h12/6 full,lqp256/lkp64/nqt4/hpu2/ncs4,8x4,1220,"
    "1065–1116,,1.0e-2,,3.9e-2,,✅,FA.md"
)


def _csv(tmp_path, *lines):
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([",".join(PUBLISHED_COLUMNS), *lines]) + "\n")
    return path


def _rows(root):
    return [(kernel, row) for kernel in registry_kernels(root) for row in load_rows(root, kernel)]


def test_a_row_becomes_named_knobs_numbers_and_printed_text(tmp_path):
    assert seed(_csv(tmp_path, GEMV), tmp_path / "root") == {"gemv": 1}
    assert load_rows(tmp_path / "root", "gemv") == [
        {
            "shape": "2048x2048",
            "method": None,
            "best": True,
            "tile": {"tile_m": 8, "m_input": 8},
            "herd": [8, 1],
            "latency_us": 330,
            "gflops": 25.5,
            "gbps": None,
            "mean_rel_L1": 1.6e-9,
            "rel_err_max": 4.4e-3,
            "abs_err_max": 2.0e-3,
            "printed": {
                "latency_us": "330",
                "gflops": "25.5",
                "mean_rel_L1": "1.6e-9",
                "rel_err_max": "4.4e-3",
                "abs_err_max": "2.0e-3",
            },
            "used_by": ["llama-3.2-1b Q proj"],
            "status": "✅",
            "note": None,
            "evidence": {"kind": "published", "source": "GEMV.md (mlir-air e972f294, 2026-08-22)"},
        }
    ]
    assert accepted_kinds(tmp_path / "root") == ("hardware",)


def test_a_range_keeps_its_text_and_counts_as_its_lower_end(tmp_path):
    seed(_csv(tmp_path, FLASH), tmp_path / "root")
    (row,) = load_rows(tmp_path / "root", "flash_attention")
    assert row["shape"] == "512x512_d64x64_h12x6_full"
    assert (row["gflops"], row["printed"]["gflops"]) == (1065, "1065–1116")
    assert row["printed"]["mean_rel_L1"] == "1.0e-2"
    tile = {"lqp": 256, "lkp": 64, "num_q_tiles": 4, "num_heads_per_unroll": 2, "num_cascade_stages": 4}
    assert row["tile"] == tile


@pytest.mark.parametrize(
    "lines, complaint",
    [
        ([GEMV, GEMV], "line 3: a second row for gemv 2048x2048"),
        ([GEMV.replace("8/8/8", "8/8")], "line 2: tile: found '8/8'; allowed: {herd_m}/{tile_m}/{m_input}"),
        ([GEMV.replace("8/8/8", "4/8/8")], "line 2: tile: found '4/8/8' on herd 8x1"),
        ([GEMV.replace("2048x2048", "2048")], "line 2: .*shape '2048' of gemv is not"),
        ([GEMV.replace("gemv", "warp")], "line 2: .*warp"),
        ([GEMV.replace("25.5", "fast")], "line 2: .*fast"),
        ([GEMV, FLASH[:40]], "line 3: cut short"),
        ([GEMV + ",x"], "line 2: cut short or too long"),
    ],
)
def test_a_malformed_csv_is_named_and_nothing_is_written(tmp_path, lines, complaint):
    with pytest.raises(InputError, match=complaint):
        seed(_csv(tmp_path, *lines), tmp_path / "root")
    assert not (tmp_path / "root").exists()


def test_a_csv_that_lost_a_column_is_named(tmp_path):
    path = _csv(tmp_path, GEMV)
    path.write_text(path.read_text().replace("herd,", "", 1))
    with pytest.raises(InputError, match="line 1: column herd is missing"):
        seed(path, tmp_path / "root")


def test_a_folder_with_rows_is_replaced_only_when_asked(tmp_path):
    path, root = _csv(tmp_path, GEMV), tmp_path / "root"
    seed(path, root)
    with pytest.raises(InputError, match="holds gemv already"):
        seed(path, root)
    assert seed(path, root, replace=True) == {"gemv": 1}


def test_the_shared_registry_holds_every_published_row_once():
    rows = [(kernel, row) for kernel, row in _rows(SHARED_REGISTRY) if row["evidence"]["kind"] == "published"]
    assert len(rows) == 211
    assert len({(kernel, row["shape"], row["method"]) for kernel, row in rows}) == 211
    for kernel, row in rows:
        case = parse_case(f"{kernel}_{row['shape']}")
        assert list(row["tile"]) == list(load_kernel(kernel).tile_columns), case.name
        assert row["method"] in (load_kernel(kernel).method_names() or (None,)), case.name


def test_numbers_and_printed_texts_agree():
    for kernel, row in _rows(SHARED_REGISTRY):
        for figure in FIGURES:
            printed = row["printed"].get(figure)
            if printed is None:
                assert row["evidence"]["kind"] != "published" or row[figure] is None, (
                    kernel,
                    row["shape"],
                    figure,
                )
            else:
                assert Decimal(repr(row[figure])) == Decimal(printed.split("–")[0]), (
                    kernel,
                    row["shape"],
                    figure,
                )


def test_the_two_rows_of_another_script_are_marked():
    marked = [
        row["shape"]
        for row in load_rows(SHARED_REGISTRY, "gemm")
        if "not from the GEMM harness" in str(row["note"])
    ]
    assert marked == ["256x64x256", "256x256x64"]


def test_labels_are_short_and_name_models_in_lower_case():
    for _, row in _rows(SHARED_REGISTRY):
        for label in row["used_by"]:
            assert len(label) <= 60 and "->" not in label, label
            assert (
                label.split(" ")[0] == label.split(" ")[0].lower() or label == "K-sweep" or "LM-head" in label
            ), label


def test_the_shared_registry_is_what_the_published_rows_give(published_csv, tmp_path):
    seed(published_csv, tmp_path)
    for kernel in registry_kernels(tmp_path):
        shared = [row for row in load_rows(SHARED_REGISTRY, kernel) if row["evidence"]["kind"] == "published"]
        # Hardware runs since then may have moved `best` and added call sites.
        for row, seeded in zip(shared, load_rows(tmp_path, kernel), strict=True):
            assert row["used_by"][: len(seeded["used_by"])] == seeded["used_by"]
            assert {**row, "used_by": 0, "best": 0} == {**seeded, "used_by": 0, "best": 0}


def test_every_figure_of_the_published_rows_is_there_as_printed(published_csv):
    with published_csv.open(encoding="utf-8") as stream:
        records = list(csv.DictReader(stream))
    published = sorted(tuple(record[field] for field in ("method", *FIGURES, "herd")) for record in records)
    ours = sorted(
        (
            row["method"] or "",
            *(row["printed"].get(figure, "") for figure in FIGURES),
            "x".join(map(str, row["herd"])),
        )
        for _, row in _rows(SHARED_REGISTRY)
        if row["evidence"]["kind"] == "published"
    )
    assert ours == published


def test_best_is_what_was_published(published_csv):
    with published_csv.open(encoding="utf-8") as stream:
        claims = {
            (record["shape"], record["method"], record["contract"], record["tier"]): bool(record["best"])
            for record in csv.DictReader(stream)
            if record["kernel"] == "gemm"
        }
    ours = {
        (row["shape"], row["method"], contract, tier): row["best"]
        for kernel, contract, tier in (
            ("gemm", "bf16_out", "high"),
            ("gemm_low", "bf16_out", "low"),
            ("gemm_f32", "f32_out", "high"),
        )
        for row in load_rows(SHARED_REGISTRY, kernel)
        if row["evidence"]["kind"] == "published"
    }
    assert ours == claims
