"""What `check` finds."""

import json

import pytest

from scripts.errors import InputError
from scripts.registry.check import findings
from scripts.registry.roots import SHARED_REGISTRY
from scripts.registry.store import new_document, replace_document
from scripts.registry.tables import render


@pytest.fixture
def root(working_copy, make_row):
    published = make_row(gflops=1703, evidence={"kind": "published", "source": "GEMM.json"})
    slower = {**published, "method": "fused-cast", "gflops": 482}
    replace_document(working_copy, {**new_document("gemm"), "rows": [published, slower, make_row()]})
    render(working_copy)
    return working_copy


def _edit(root, change):
    path = root / "gemm.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def test_a_sound_registry_has_no_findings(root):
    assert findings(root) == []


def test_the_shared_registry_has_no_findings():
    assert findings(SHARED_REGISTRY) == []


@pytest.mark.parametrize(
    "change, finding",
    [
        (lambda d: d["rows"].append(d["rows"][0]), "2 published rows for 512x512x512 drain; allowed: 1"),
        (lambda d: d["rows"][0].update(shape="512x512"), "shape '512x512' of gemm is not"),
        (
            lambda d: d["rows"][0].update(tile={"tile_q": 8}),
            "tile has knobs tile_q; allowed: tile_m, tile_k_l2",
        ),
        (lambda d: d["rows"][0].update(method="magic"), "method is magic; allowed: fused-cast, drain"),
        (lambda d: d["rows"][0].update(best=False), "512x512x512 drain is the fastest but not marked best"),
        (lambda d: d["rows"][2].update(best=True), "fused-cast is marked best but is not the fastest"),
        (lambda d: d["columns"].remove("used_by"), "field columns is shape, method"),
        (lambda d: d["rows"][0].update(gflops=1704), "gemm.md: not what the JSON renders to"),
    ],
)
def test_a_contradiction_is_found(root, change, finding):
    _edit(root, change)
    assert any(finding in line for line in findings(root)), findings(root)


def test_json_that_does_not_parse_is_a_finding_and_hides_no_other(root, make_row):
    document = {**new_document("gemm_low"), "rows": [make_row(shape="512")]}
    replace_document(root, document)
    (root / "gemm.json").write_text("{")
    found = findings(root)
    assert any("gemm.json line 1: not JSON" in line for line in found)
    assert any("shape '512' of gemm_low is not" in line for line in found)


def test_a_missing_page_and_a_page_without_rows_are_found(root):
    (root / "gemm.md").unlink()
    (root / "rope.md").write_text("")
    assert any("gemm.md: missing; run python -m scripts.registry render" in line for line in findings(root))
    assert any("rope.md: a page without a JSON file" in line for line in findings(root))


def test_a_working_copy_without_pages_has_none_to_drift(root):
    for page in root.glob("*.md"):
        page.unlink()
    assert findings(root) == []


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such registry folder"):
        findings(tmp_path / "nowhere")
