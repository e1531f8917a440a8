"""Upstream's own kernel sources, unmodified, give bit for bit what ours give, on published shapes.

MLIR_AIR_ROOT names a mlir-air checkout at the snapshot the registry was read from (e972f294).
"""

import importlib
import os
from pathlib import Path

import numpy as np
import pytest

from scripts.cases.case import parse_case
from scripts.cases.kernel_facts import load_kernel
from scripts.cases.tile_choice import choose_spec
from scripts.compile_elf import build_elf
from scripts.registry.store import load_rows
from scripts.targets.host import HostTarget
from scripts.targets.host_device import clear_unwritten, launch, poisoned
from scripts.targets.kernel_source import kernel_source

REGISTRY = Path(__file__).resolve().parents[3] / "docs" / "kernel_registry"
CHECKOUT = os.environ.get("MLIR_AIR_ROOT")
pytestmark = pytest.mark.skipif(not CHECKOUT, reason="MLIR_AIR_ROOT names no mlir-air checkout")

SMALL = [
    ("gemm_512x512x512", "drain"),
    ("gemm_512x512x512", "fused-cast"),
    ("gemm_f32_512x512x512", "external"),
    ("gemm_64x720x320", "drain"),
    ("gemv_512x2048", None),
    ("rope_256x64", None),
    ("silu_and_mul_655360", None),
    ("flash_attention_512x512_d64x64_h12x6_full", None),
    ("flash_attention_512x512_d128x128_h28x4_full", None),
]
OF_LLAMA = [
    ("gemm_2048x2048x8192", "fused-cast"),
    ("gemm_2048x2048x512", "drain"),
    ("gemv_16384x2048", None),
    ("rope_65536x64", None),
    ("silu_and_mul_16777216", None),
    ("flash_attention_2048x2048_d64x64_h32x8_causal", None),
    ("flash_attention_2048x2048_d128x128_h16x8_causal", None),
]


def outputs(name: str, method: str | None, folder: Path) -> list[np.ndarray]:
    """Output bits of our own kernel and of upstream's source, on the harness's inputs and one tile."""
    case = parse_case(name)
    facts = load_kernel(case.kernel)
    spec = choose_spec(case, load_rows(REGISTRY, case.kernel), {"method": method} if method else None)
    module = importlib.import_module(f"kernels.{case.kernel}.reference")
    inputs = [np.ascontiguousarray(array) for array in module.make_inputs(case.dims, facts.inputs)]
    bits = []
    for source in (None, kernel_source(facts, Path(CHECKOUT))):
        place = folder / ("upstream" if source else "own")
        place.mkdir()
        build = build_elf(HostTarget(), facts, spec, place, 600, folder / "objects", source)
        assert build.status == "OK", build.reason
        output = poisoned(case.output_shape, facts.output_dtype)
        launch(place / "kernel.elf", inputs, output, threads=2)
        assert clear_unwritten(output, facts.output_dtype) == 0
        bits.append(output.view(np.uint16 if facts.output_dtype == "bf16" else np.uint32))
    return bits


def assert_same_bits(name: str, method: str | None, folder: Path) -> None:
    own, upstream = outputs(name, method, folder)
    assert np.count_nonzero(own != upstream) == 0


@pytest.mark.parametrize(("name", "method"), SMALL)
def test_upstream_s_source_gives_our_bits(name: str, method: str | None, tmp_path: Path) -> None:
    assert_same_bits(name, method, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "method"), OF_LLAMA)
def test_upstream_s_source_gives_our_bits_at_model_size(name: str, method: str | None, tmp_path) -> None:
    assert_same_bits(name, method, tmp_path)


def test_a_second_case_with_the_same_tile_reuses_the_microkernel(tmp_path: Path) -> None:
    """One object for the source, one launch for each shape."""
    facts, objects = load_kernel("gemm"), tmp_path / "objects"
    for shape in ("1024x512x512", "512x512x1024"):
        spec = choose_spec(parse_case(f"gemm_{shape}"), [], {"tile_m": 32, "method": "drain"})
        folder = tmp_path / shape
        folder.mkdir()
        build = build_elf(
            HostTarget(), facts, spec, folder, 600, objects, kernel_source(facts, Path(CHECKOUT))
        )
        assert build.status == "OK", build.reason
    assert len(list(objects.glob("*.o"))) == 3
