"""What has drifted apart: findings of each kind, made on the stand-in, and the true ones of mlir-air."""

import json

import pytest

from scripts.registry.upstream.check import upstream_findings
from tests.unit.registry.upstream.conftest import STAND_IN

INDEX = "supported_kernels.md"
RMSNORM = "details/RMSNorm_bf16.md"
GEMM, GEMM_JSON = "details/GEMM_bf16_in_bf16_out.md", "details/GEMM_bf16_in_bf16_out.json"

# What is wrong in mlir-air's files, without the line numbers: (file, words of the finding).
TRUE_FINDINGS = [
    # Models 7B and 8B are in the JSON that builders read, and on no page for people.
    (GEMM_JSON, "2048×3584×3584 fused-cast, used by Qwen2.5-7B, has no row in GEMM_bf16_in_bf16_out.md"),
    (GEMM_JSON, "2048×4096×14336 fused-cast, used by Llama-3.1-8B, has no row in GEMM_bf16_in_bf16_out.md"),
    (GEMM_JSON, "2048×4096×1024 fused-cast, used by Qwen3-8B, has no row in GEMM_bf16_in_bf16_out.md"),
    # Index rows whose detail page has none.
    (INDEX, "2048×11008×2048 fused-cast, used by Qwen2.5-3B, has no row in GEMM_bf16_in_bf16_out.md"),
    (INDEX, "2048×2048×6144 fused-cast, used by Qwen3-1.7B, has no row in GEMM_bf16_in_bf16_out.md"),
    # The action expert's shapes are on the detail page only.
    (GEMM, "64×720×960 drain, used by SmolVLA, has no row in supported_kernels.md"),
    # The index has a tile where the figure belongs, and another metric as mean_rel_L1.
    (INDEX, "2048×2560×4096 fused-cast: gflops is **fused-cast (m64/k256/n128)**;"),
    (INDEX, "2048×2560×4096 fused-cast: mean_rel_L1 is max_abs 1.22e-3;"),
    # The index says that the method fails; the page has it measured.
    (INDEX, "2048×2560×9728 fused-cast: gflops is ⚠️; GEMM_bf16_in_bf16_out.md"),
    # The mean of one method beside the bold figure of another.
    (INDEX, "512×512×512 drain: mean_rel_L1 is 9.7e-3; GEMM_bf16_in_bf16_out.md"),
    # Users of a shape that one of two pages names.
    (GEMM, "2048×2048×1024 fused-cast: does not name Qwen3-1.7B as a user;"),
    ("details/GEMV_bf16.md", "2048×2048: does not name Qwen3-1.7B, Qwen2.5-3B as a user;"),
    # Best-of claims.
    (INDEX, "best of 8898 GFLOP/s: line 85 has 9447"),
    (INDEX, "best of 32.7 GFLOP/s: no row of the table"),
    (INDEX, "best of 1065–1131 GFLOP/s: line 237 has 3427"),
    (INDEX, "best of 57.7 GB/s: line 265 has 63.0"),
    (INDEX, "GFLOPS **30.6** is the one in bold; line 152 has 32.6"),
    ("details/EltwiseAdd_bf16.md", "bandwidth **61.4 GB/s** is the one in bold; line 103 has 63.0"),
]


@pytest.mark.parametrize("name, words", TRUE_FINDINGS)
def test_the_true_findings_of_mlir_air(real_registry, name, words):
    found = upstream_findings(real_registry)
    assert any(line.startswith(str(real_registry / name)) and words in line for line in found)


def test_mlir_air_has_no_findings_of_other_kinds(real_registry):
    kinds = ("has no row in", " is ", "does not name", "best of", "in bold")
    found = upstream_findings(real_registry)
    assert [line for line in found if not any(kind in line for kind in kinds)] == []
    assert not [line for line in found if "second row" in line]


def test_the_stand_in_has_none():
    assert upstream_findings(STAND_IN) == []


def _changed(root, name, old, new):
    path = root / name
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    "name, old, new, words",
    [
        (RMSNORM, "| 2048×1024 | 8 | 407 µs", "| 2048×2048 | 8 | 407 µs", "a second row for 2048×2048"),
        (RMSNORM, "| 2048×1024 | 8 | 407 µs", "| 2048×1536 | 8 | 407 µs", "2048×1536, used by Qwen3-0.6B,"),
        (RMSNORM, "407 µs", "470 µs", "latency_us is 407 µs; RMSNorm_bf16.md"),
        (RMSNORM, "4.3e-3", "4.6e-3", "mean_rel_L1 is 4.3e-3; RMSNorm_bf16.md"),
        (RMSNORM, " + Qwen3-1.7B prefill", " prefill", "does not name Qwen3-1.7B as a user"),
        (GEMM, "| 6025 |", "| 6125 |", "gflops is 6025; GEMM_bf16_in_bf16_out.md"),
        (GEMM, "32/512/32/128", "32/256/32/128", "tile is 32/512/32/128; GEMM_bf16_in_bf16_out.md"),
        (GEMM_JSON, '"gflops": 4980', '"gflops": 4890', "gflops is 4890; GEMM_bf16_in_bf16_out.md"),
        (GEMM_JSON, '"low": "direct"\n      }\n    },\n    {\n      "M": 2048,\n      "K": 1024',
         '"low": "drain"\n      }\n    },\n    {\n      "M": 2048,\n      "K": 1024', "best.low is drain"),
        (GEMM_JSON, '"high": "fused-cast",', '"high": "drain",', "best.high is drain with 6025 GFLOP/s"),
        (INDEX, "| **6215** | 6025 |", "| 6215 | **6025** |", "high-prec drain **6025** is bold"),
        (INDEX, "**8508 GFLOP/s**", "**8000 GFLOP/s**", "best of 8000 GFLOP/s: line"),
        (INDEX, "**57.7 GB/s**", "**60.0 GB/s**", "best of 60.0 GB/s: no row of the table"),
        (INDEX, "| 20.6 GB/s |", "| **17.0 GB/s** |", "bandwidth **17.0 GB/s** is the one in bold"),
    ],
)  # fmt: skip
def test_what_was_changed_in_one_file_is_found(stand_in, name, old, new, words):
    _changed(stand_in, name, old, new)
    found = upstream_findings(stand_in)
    assert any(words in line for line in found), found


def test_a_row_that_only_the_json_has_is_found(stand_in):
    path = stand_in / GEMM_JSON
    data = json.loads(path.read_text(encoding="utf-8"))
    data["shapes"].append({**data["shapes"][1], "K": 3584, "used_by": "Qwen2.5-7B K/V proj"})
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    assert any(
        "2048×3584×1024 drain, used by Qwen2.5-7B, has no row in" in f for f in upstream_findings(stand_in)
    )


def test_a_file_that_is_not_as_expected_is_a_finding_and_hides_only_its_kernel(stand_in):
    (stand_in / "details" / "RoPE_bf16.md").unlink()
    _changed(stand_in, RMSNORM, "407 µs", "470 µs")
    found = upstream_findings(stand_in)
    assert any("RoPE_bf16.md line 1: no such file" in line for line in found)
    assert any("latency_us is 407 µs" in line for line in found)
    assert len(found) == 2
