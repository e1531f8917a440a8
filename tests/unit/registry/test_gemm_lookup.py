"""`gemm_config` and `gemm_config_method` against mlir-air's own module."""

import importlib.util
import json
import os
from pathlib import Path

import pytest

from scripts.registry import gemm_config, gemm_config_method

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT.parent / "shared" / "upstream" / "kernel_registry" / "details"
DTYPES = {"bf16": "GEMM_bf16_in_bf16_out.json", "f32": "GEMM_bf16_in_fp32_out.json"}


@pytest.fixture(params=DTYPES)
def filed(request: pytest.FixtureRequest) -> tuple[str, list[dict]]:
    """Output type, and every shape of mlir-air's JSON for it."""
    path = SHARED / DTYPES[request.param]
    if not path.is_file():
        pytest.skip("mlir-air's registry files are not there (../shared/upstream/kernel_registry)")
    return request.param, json.loads(path.read_text(encoding="utf-8"))["shapes"]


@pytest.fixture(scope="module")
def upstream():
    """mlir-air's own lookup module."""
    root = os.environ.get("MLIR_AIR_ROOT")
    if not root:
        pytest.skip("MLIR_AIR_ROOT names no mlir-air checkout")
    found = sorted(Path(root).rglob("registry_lookup.py"))
    if not found:
        pytest.skip("this mlir-air checkout has no registry_lookup.py")
    spec = importlib.util.spec_from_file_location("registry_lookup", found[0])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_builder_can_swap_the_import(filed: tuple[str, list[dict]], upstream) -> None:
    dtype, shapes = filed
    dims = [(entry["M"], entry["K"], entry["N"]) for entry in shapes]
    for shape in [*dims, (7, 7, 7)]:
        for precision in ("high", "low"):
            _same(gemm_config, upstream.gemm_config, *shape, dtype, precision)
        for method in ("fused-cast", "drain", "direct", "external", "magic"):
            _same(gemm_config_method, upstream.gemm_config_method, *shape, dtype, method)
    _same(gemm_config, upstream.gemm_config, *dims[0], "i8")


def _same(ours, theirs, *arguments) -> None:
    outcomes = []
    for ask in (ours, theirs):
        try:
            outcomes.append(ask(*arguments))
        except (KeyError, ValueError) as error:
            outcomes.append(type(error))
    assert outcomes[0] == outcomes[1], arguments
