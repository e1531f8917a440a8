"""The JSON store: what an append changes, what it refuses, and what a malformed file gets."""

import json

import pytest

from scripts.errors import InputError
from scripts.registry.roots import SHARED_REGISTRY, write_marker
from scripts.registry.store import append, load_document, load_rows, replace_document, withdraw


def _published(make_row, **fields):
    source = {"kind": "published", "source": "GEMM.json"}
    return make_row(evidence=source, **{"gflops": 1703, "used_by": ["K-sweep"], **fields})


def _seed(root, *rows):
    replace_document(root, {"kernel": "gemm", "title": "GEMM", "columns": _columns(), "rows": list(rows)})


def _columns():
    return load_document(SHARED_REGISTRY, "gemm")["columns"]


def _snapshot(root):
    return {path.name: path.read_bytes() for path in root.iterdir() if path.name != ".lock"}


def test_appended_row_is_read_back(working_copy, make_row):
    row = make_row()
    result = append(working_copy, "gemm", row)
    assert load_rows(working_copy, "gemm") == [row] == [result.row]
    assert result.appended and not result.already_present


def test_appending_again_changes_no_byte(working_copy, make_row):
    first = append(working_copy, "gemm", make_row())
    before = _snapshot(working_copy)
    assert append(working_copy, "gemm", make_row()) == first
    assert _snapshot(working_copy) == before


def test_bytes_do_not_depend_on_the_order_of_appends(tmp_path, make_row):
    rows = [
        make_row(shape=shape, method=method)
        for shape in ("64x32x48", "512x8x8")
        for method in ("drain", "fused-cast")
    ]
    texts = []
    for name, ordered in (("forward", rows), ("backward", rows[::-1])):
        write_marker(tmp_path / name, "simulated")
        for row in ordered:
            append(tmp_path / name, "gemm", row)
        texts.append((tmp_path / name / "gemm.json").read_text())
    assert texts[0] == texts[1]
    assert [row["shape"] for row in load_rows(tmp_path / "forward", "gemm")] == ["64x32x48"] * 2 + [
        "512x8x8"
    ] * 2


def test_simulated_row_stands_beside_the_published_one(working_copy, make_row):
    published = _published(make_row)
    _seed(working_copy, published)
    result = append(working_copy, "gemm", make_row())
    assert result.appended and result.already_present
    assert load_rows(working_copy, "gemm") == [{**published, "best": True}, make_row()]


def test_simulated_row_replaces_only_its_own(working_copy, make_row):
    _seed(working_copy, _published(make_row), make_row(method="fused-cast"), make_row(shape="1x2x3"))
    append(working_copy, "gemm", make_row(mean_rel_L1=0.5))
    append(working_copy, "gemm", make_row(mean_rel_L1=0.25, used_by=["qwen3-0.6b prefill Q proj"]))
    rows = load_rows(working_copy, "gemm")
    own = [row for row in rows if row["mean_rel_L1"] == 0.25]
    assert len(rows) == 4 and len(own) == 1
    assert own[0]["used_by"] == ["llama-3.2-1b prefill Q proj", "qwen3-0.6b prefill Q proj"]


def test_hardware_joins_the_published_row_and_keeps_its_figures(working_copy, make_row):
    published = _published(make_row, used_by=["qwen3-0.6b Q proj"])
    _seed(working_copy, published)
    result = append(working_copy, "gemm", make_row("hardware", mean_rel_L1=0.1))
    assert not result.appended and result.already_present
    joined = {**published, "best": True, "used_by": ["qwen3-0.6b Q proj", "llama-3.2-1b prefill Q proj"]}
    assert load_rows(working_copy, "gemm") == [joined]


def test_a_row_that_names_the_model_already_stays_as_it_is(working_copy, make_row):
    _seed(working_copy, _published(make_row, used_by=["llama-3.2-1b Q/O proj"]))
    before = _snapshot(working_copy)
    append(working_copy, "gemm", make_row("hardware"))
    assert _snapshot(working_copy) == before


def test_best_is_the_fastest_row_that_a_device_measured(working_copy, make_row):
    _seed(working_copy, _published(make_row, gflops=1703))
    append(working_copy, "gemm", make_row(method="fused-cast", gflops=9999))
    assert [row["method"] for row in load_rows(working_copy, "gemm") if row["best"]] == ["drain"]
    append(working_copy, "gemm", make_row("hardware", method="fused-cast", gflops=1800))
    best = [
        (row["method"], row["evidence"]["kind"]) for row in load_rows(working_copy, "gemm") if row["best"]
    ]
    assert best == [("fused-cast", "hardware")]


def test_a_row_without_timing_is_never_best(working_copy, make_row):
    _seed(working_copy, _published(make_row, gflops=None))
    assert not load_rows(working_copy, "gemm")[0]["best"]


@pytest.mark.parametrize("method, left", [("drain", ["fused-cast"]), (None, [])])
def test_withdraw_takes_back_simulated_rows_only(working_copy, make_row, method, left):
    _seed(
        working_copy, _published(make_row), make_row(), make_row(method="fused-cast"), make_row(shape="1x2x3")
    )
    withdraw(working_copy, "gemm", "512x512x512", method)
    rows = [row for row in load_rows(working_copy, "gemm") if row["shape"] == "512x512x512"]
    assert [row["method"] for row in rows if row["evidence"]["kind"] == "simulated"] == left
    assert [row["method"] for row in rows if row["evidence"]["kind"] == "published"] == ["drain"]
    assert len(load_rows(working_copy, "gemm")) == len(rows) + 1


def test_simulated_evidence_is_refused_without_a_marker_that_accepts_it(tmp_path, make_row):
    write_marker(tmp_path / "hardware_only", "hardware")
    for root in (tmp_path / "hardware_only", tmp_path / "unmarked"):
        with pytest.raises(InputError, match="found simulated evidence; allowed: hardware"):
            append(root, "gemm", make_row())
        assert not (root / "gemm.json").exists()


def test_the_shared_registry_refuses_simulated_evidence_whatever_its_marker(tmp_path, make_row, monkeypatch):
    write_marker(tmp_path, "hardware", "simulated")
    monkeypatch.setattr("scripts.registry.roots.SHARED_REGISTRY", tmp_path)
    with pytest.raises(InputError, match="found simulated evidence"):
        append(tmp_path, "gemm", make_row())
    with pytest.raises(InputError, match="found simulated evidence"):
        withdraw(tmp_path, "gemm", "512x512x512", "drain")


@pytest.mark.parametrize("marker", ["{", "[]", "{}", '{"accepts": ["rumour"]}'])
def test_a_malformed_marker_is_named(tmp_path, make_row, marker):
    (tmp_path / "registry.json").write_text(marker)
    with pytest.raises(InputError, match=r"registry\.json: .*allowed: accepts lists"):
        append(tmp_path, "gemm", make_row())


def _without(field):
    def spoil(text):
        document = json.loads(text)
        del document["rows"][1][field]
        return json.dumps(document)

    return spoil


def _with(**fields):
    def spoil(text):
        document = json.loads(text)
        document["rows"][1].update(fields)
        return json.dumps(document)

    return spoil


@pytest.mark.parametrize(
    "spoil, complaint",
    [
        (lambda text: text[: len(text) // 2], r"gemm\.json line \d+: not JSON"),
        (lambda text: "", r"gemm\.json line 1: not JSON"),
        (lambda text: "[]", r"gemm\.json: found list"),
        (lambda text: text.replace('"rows"', '"lines"'), r"gemm\.json: field rows is missing"),
        (lambda text: text.replace('"kernel": "gemm"', '"kernel": "rope"'), r"field kernel is 'rope'"),
        (lambda text: text.replace('"status", ', ""), r"gemm\.json: field columns is .*allowed: .*status"),
        (lambda text: text.replace('["shape"', '["form"'), r"gemm\.json: field columns has 'form'"),
        (_without("herd"), r"rows\[1\] \(512x512x512\): field herd is missing"),
        (_without("shape"), r"rows\[1\]: field shape is missing"),
        (_with(mean_rel_L1="small"), r"rows\[1\].*field mean_rel_L1 is 'small'"),
        (_with(mean_rel_L1=float("nan")), r"gemm\.json: found NaN"),
        (_with(gflops=True), r"field gflops is True"),
        (_with(herd=[8]), r"field herd is \[8\]"),
        (_with(tile={"tile_m": 0}), r"field tile"),
        (_with(used_by=[None]), r"field used_by"),
        (_with(evidence={"kind": "rumour", "source": "x"}), r"evidence\.kind is 'rumour'"),
        (_with(evidence={"kind": "published"}), r"evidence\.source is missing"),
        (_with(colour="red"), r"unknown field colour"),
    ],
)
def test_a_malformed_file_is_named_and_left_alone(working_copy, make_row, spoil, complaint):
    _seed(working_copy, make_row(shape="64x32x48"), make_row())
    path = working_copy / "gemm.json"
    path.write_text(spoil(path.read_text()))
    before = _snapshot(working_copy)
    with pytest.raises(InputError, match=complaint):
        append(working_copy, "gemm", make_row(shape="8x8x8"))
    assert _snapshot(working_copy) == before


def test_a_malformed_row_is_refused_before_anything_is_written(working_copy, make_row):
    row = make_row()
    del row["note"]
    with pytest.raises(InputError, match="new row of gemm: field note is missing"):
        append(working_copy, "gemm", row)
    assert not (working_copy / "gemm.json").exists()


def test_a_kernel_without_a_file_has_no_rows_but_a_missing_folder_is_named(working_copy, tmp_path):
    assert load_rows(working_copy, "gemm") == []
    with pytest.raises(InputError, match="nowhere: no such registry folder"):
        load_rows(tmp_path / "nowhere", "gemm")


def test_an_unknown_kernel_is_refused(working_copy, make_row):
    with pytest.raises(InputError, match="unknown; known kernels"):
        append(working_copy, "warp", make_row())
