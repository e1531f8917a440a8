"""A case becomes one line in each table, or joins one cell; every other byte stays as it is."""

import json
import re

import pytest

from scripts.append_registry import record
from scripts.cases.kernel_facts import load_kernel
from scripts.registry.upstream.check import upstream_findings
from scripts.registry.upstream.pipe_table import split_cells
from tests.unit.registry.upstream.cases import KNOWN, NEW, device_verdict


def _files(case):
    """The files of a case: index, detail page, and for a GEMM the JSON."""
    kernel = device_verdict(case).kernel
    page = load_kernel(kernel).registry["page"]
    json_file = [f"details/{page}.json"] if kernel.startswith("gemm") else []
    return ["supported_kernels.md", f"details/{page}.md", *json_file]


def _without(lines, spaces=" \n,"):
    return [line.strip(spaces) for line in lines]


@pytest.mark.parametrize("case", NEW)
def test_a_new_shape_is_one_new_line_in_each_table(registry, contents, changes, case):
    before = contents(registry)
    receipt = record(device_verdict(case), registry, None)
    assert receipt["appended"] and not receipt["already_present"] and not receipt["disagreements"]
    found = changes(before, contents(registry))
    assert sorted(found) == sorted(_files(case))
    for name, (gone, new) in found.items():
        if name.endswith(".md"):
            assert gone == [] and len(new) == 1, name
        else:
            _only_added(before[name].decode(), (registry / name).read_text(encoding="utf-8"))


def _only_added(before, after):
    """The old text is the new one without one piece; both are JSON."""
    shared = next(i for i, (old, new) in enumerate(zip(before, after, strict=False)) if old != new)
    rest = len(before) - shared
    assert after.startswith(before[:shared]) and after.endswith(before[-rest:])
    old, new = json.loads(before), json.loads(after)
    assert new["shapes"][:-1] == old["shapes"]
    assert {**new, "shapes": []} == {**old, "shapes": []}


@pytest.mark.parametrize("case", NEW)
def test_its_cells_are_those_of_the_header_in_the_style_of_the_neighbours(registry, contents, changes, case):
    before = contents(registry)
    record(device_verdict(case), registry, None)
    for name, (_, new) in changes(before, contents(registry)).items():
        if name.endswith(".md"):
            _, neighbour = _around(registry / name, new[0])
            cells = split_cells(new[0])
            assert len(cells) == len(split_cells(neighbour))
            text = new[0]
            assert "9.7e-3" in text and "✅" in text and "Tiny-1B" in text and "Q/O proj" in text
            assert not re.search(r"1234\.5|5123\.4\d|45\.67", text)


def _around(path, line):
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    index = lines.index(line)
    assert lines[index - 1].startswith("|") and not lines[index + 1].startswith("|")
    return index, lines[index - 1]


def test_the_rows_of_some_shapes_are_as_a_person_would_write_them(stand_in, contents, changes):
    before = contents(stand_in)
    for case in NEW:
        record(device_verdict(case), stand_in, None)
    new = {line.strip() for _, added in changes(before, contents(stand_in)).values() for line in added}
    assert {
        "| 2048×2048×4096 | **5123** | — | 5123 | 9.7e-3 / 9.7e-3 | Tiny-1B Q/O proj | ✅ |",
        "| 512×1024×512 | — | **5123** | — | 9.7e-3 / — | Tiny-1B Q/O proj | ✅ |",
        "| 2048×2048×4096 | 64/256/32/128 | 5123 | — | 9.7e-3 | Tiny-1B Q/O proj | ✅ |",
        "| 1024×2048 | 8 | 1234 µs | 45.7 GB/s | 9.7e-3 | Tiny-1B prefill Q/O proj | ✅ |",
        "| 1024 | 64 | 8/1 | 1234 µs | 45.7 GB/s | 9.7e-3 | 3.1e-2 | Tiny-1B prefill Q/O proj | ✅ |",
        "| 524288 | 8/1/2048 | 1234 µs | 45.7 GB/s | 9.7e-3 | ✅ (Tiny-1B Q/O proj) |",
        "| 524288 | — | 8/1/2048 | 1234 µs | 45.7 GB/s | 9.7e-3 | 3.1e-2 | ✅ Tiny-1B Q/O proj |",
        "| 1024×1024 | 64/64 | 8/4 | ✓ | 1 | 1.23 ms | 5123 | 9.7e-3 | ✅ (Tiny-1B Q/O proj) |",
    } <= new


@pytest.mark.parametrize("case", KNOWN)
def test_a_shape_on_file_gets_no_second_row_and_the_model_joins_its_cell(registry, contents, changes, case):
    before = contents(registry)
    receipt = record(device_verdict(case, mean=KNOWN[case]), registry, None)
    assert receipt["already_present"] and not receipt["appended"]
    found = changes(before, contents(registry))
    assert sorted(found) == sorted(_files(case))
    for name, (gone, new) in found.items():
        assert len(gone) == len(new) == 1, name
        _one_cell_longer(gone[0], new[0])


def _one_cell_longer(gone, new):
    """The new line is the old one with one piece put in, which names the model."""
    start = next(i for i, (old, other) in enumerate(zip(gone, new, strict=False)) if old != other)
    end = len(gone) - start
    assert new.startswith(gone[:start]) and new.endswith(gone[-end:])
    assert "Tiny-1B" in new[start : len(new) - end]


@pytest.mark.parametrize("case", [*NEW, *KNOWN])
def test_the_second_time_changes_nothing(registry, contents, case):
    verdict = device_verdict(case, mean=KNOWN.get(case, 0.00967))
    record(verdict, registry, None)
    after = contents(registry)
    second = record(verdict, registry, None)
    assert contents(registry) == after
    assert second["already_present"] and not second["appended"]


def test_a_cell_that_names_the_model_already_stays_as_it_is(registry, contents):
    before = contents(registry)
    labels = ("llama-3.2-1b prefill Something else",)
    record(device_verdict("gemm_f32_2048x2048x2048", mean=0.0093, used_by=labels), registry, None)
    record(device_verdict("rmsnorm_2048x2048", mean=0.0042, used_by=labels), registry, None)
    assert contents(registry) == before


def test_a_model_joins_beside_the_models_of_the_same_site(registry):
    labels = ("qwen2.5-1.5b prefill RMSNorm",)
    record(device_verdict("rmsnorm_2048x2048", mean=0.0042, used_by=labels), registry, None)
    text = (registry / "supported_kernels.md").read_text(encoding="utf-8")
    assert re.search(r"llama-3\.2-1B \+ Qwen3-1\.7B [^|]*\+ Qwen2\.5-1\.5B prefill RMSNorm \|", text)


def test_a_second_method_of_a_shape_fills_its_own_cell(stand_in, contents, changes):
    case, before = "gemm_low_2048x1024x1024", contents(stand_in)
    record(device_verdict(case, mean=0.0123, used_by=("qwen3-0.6b prefill K proj",)), stand_in, None)
    found = changes(before, contents(stand_in))
    assert found["supported_kernels.md"] == (
        ["| 2048×1024×1024 | — | **4980** | — | 9.4e-3 / — | Qwen3-0.6B K/V proj | ✅ |\n"],
        ["| 2048×1024×1024 | — | **4980** | 5123 | 9.4e-3 / 1.2e-2 | Qwen3-0.6B K/V proj | ✅ |\n"],
    )
    path = stand_in / "details" / "GEMM_bf16_in_bf16_out.json"
    entry = json.loads(path.read_text(encoding="utf-8"))["shapes"][1]
    assert entry["best"] == {"high": "drain", "low": "direct"}
    assert entry["methods"]["direct"]["mean_rel_L1"] == 0.0123
    assert upstream_findings(stand_in) == []


def test_appending_drifts_nothing_apart(registry):
    before = upstream_findings(registry)
    for case in [*NEW, *KNOWN]:
        record(device_verdict(case, mean=KNOWN.get(case, 0.00967)), registry, None)
    # Line numbers move, and the made-up speeds beat what is the best on file.
    new = {_without_line(line) for line in upstream_findings(registry)} - set(map(_without_line, before))
    new = [line for line in new if "in bold" not in line and "best of" not in line]
    # A cell that named nobody left its users open; now it names one, and the others are missing.
    assert [line for line in new if "does not name" not in line or "Tiny-1B" in line] == []


def _without_line(text):
    return re.sub(r"line \d+", "line", text)
