"""The derivation: which kernels a model calls, with which shapes, and where."""

import dataclasses
from pathlib import Path

import pytest

from scripts.errors import InputError
from scripts.models.call_sites import derive
from scripts.models.config import ModelConfig, load_config
from scripts.models.contracts import gemm_tiers
from scripts.models.fused_decode import cascade_reachable
from scripts.models.plan import DECODE, PREFILL, PlannedCase, call, merge

MODELS = Path(__file__).resolve().parents[3] / "config" / "models"

LLAMA_HARNESS = {
    ("rmsnorm_2048x2048", "prefill", "RMSNorm"),
    ("gemm_2048x2048x2048", "prefill", "Q/O proj"),
    ("gemm_2048x2048x512", "prefill", "K/V proj"),
    ("gemm_2048x2048x8192", "prefill", "Gate/Up proj"),
    ("gemm_2048x8192x2048", "prefill", "Down proj"),
    ("rope_65536x64", "prefill", "RoPE-Q"),
    ("rope_16384x64", "prefill", "RoPE-K"),
    ("flash_attention_2048x2048_d64x64_h32x8_causal", "prefill", "attention"),
    ("eltwise_add_4194304", "prefill", "residual"),
    ("silu_and_mul_16777216", "prefill", "SwiGLU"),
    ("rmsnorm_1x2048", "decode", "RMSNorm"),
    ("gemv_2048x2048", "decode", "Q proj"),
    ("gemv_512x2048", "decode", "K/V proj"),
    ("gemv_16384x2048", "decode", "LM-head (8 partitions of 16384)"),
    ("rope_32x64", "decode", "RoPE-Q"),
    ("rope_8x64", "decode", "RoPE-K"),
}
LLAMA_DIAGNOSIS = {
    ("gemv_add_2048x2048", "decode", "O proj"),
    ("gemv_add_2048x8192", "decode", "Down proj"),
    ("rmsnorm_gate_up_swiglu_8192x2048", "decode", "Gate/Up proj"),
}


def _model(stem: str, **changes: object) -> ModelConfig:
    """A model of config/models with some traits changed."""
    return dataclasses.replace(load_config(MODELS / f"{stem}.json"), **changes)


def _plan(stem: str, **changes: object) -> dict[str, PlannedCase]:
    """Case -> row of the plan at 2048 positions."""
    return {row.case: row for row in derive(_model(stem, **changes), 2048, {})}


def _sites(plan: dict[str, PlannedCase], kernel: str, phase: str) -> dict[str, tuple[str, ...]]:
    """Shape -> call sites of one kernel in one phase."""
    return {row.shape: row.call_sites for row in plan.values() if row.kernel == kernel and row.phase == phase}


def test_llama_is_the_issues_list() -> None:
    rows = derive(_model("llama-3.2-1b"), 2048, {})
    by_source = {"harness": [], "diagnosis": []}
    for row in rows:
        by_source[row.source].append((row.case, row.phase, *row.call_sites))
    assert len(by_source["harness"]) == 16
    assert set(by_source["harness"]) == LLAMA_HARNESS
    assert len(by_source["diagnosis"]) == 3
    assert set(by_source["diagnosis"]) == LLAMA_DIAGNOSIS


def test_harness_cases_come_first() -> None:
    sources = [row.source for row in derive(_model("llama-3.2-1b"), 2048, {})]
    assert sources == ["harness"] * 16 + ["diagnosis"] * 3


def test_qk_norm_runs_per_head_over_a_prompt_and_over_all_heads_for_one_token() -> None:
    plan = _plan("qwen3-0.6b")
    assert _sites(plan, "rmsnorm", "prefill") == {"2048x1024": ("RMSNorm",), "2048x128": ("QK-norm",)}
    expected = {"1x1024": ("RMSNorm",), "16x128": ("QK-norm",), "8x128": ("QK-norm",)}
    assert _sites(plan, "rmsnorm", "decode") == expected


def test_decoupled_query_width() -> None:
    plan = _plan("qwen3-0.6b")
    gemms = _sites(plan, "gemm", "prefill")
    assert gemms["2048x1024x2048"] == ("Q proj",)
    assert gemms["2048x2048x1024"] == ("O proj",)
    assert _sites(plan, "gemv_add", "decode") == {"1024x2048": ("O proj",), "1024x3072": ("Down proj",)}


def test_biases_are_diagnosis_cases() -> None:
    plan = _plan("qwen2.5-3b")
    prefill = {"2048x2048": ("QKV bias (Q)",), "2048x256": ("QKV bias (K/V)",)}
    assert _sites(plan, "bias_add", "prefill") == prefill
    assert _sites(plan, "bias_add", "decode") == {"1x2048": ("QKV bias (Q)",), "1x256": ("QKV bias (K/V)",)}
    assert plan["bias_add_1x256"].source == "diagnosis"
    assert "bias_add" not in {row.kernel for row in _plan("llama-3.2-1b").values()}


def test_a_bias_on_the_output_projection_keeps_it_out_of_the_cascade() -> None:
    plan = _plan("llama-3.2-1b", qkv_bias=True, output_bias=True)
    assert plan["bias_add_1x2048"].call_sites == ("QKV bias (Q)", "O bias")
    assert "gemv_add" not in {row.kernel for row in plan.values()}


def test_without_the_cascade_decode_runs_its_own_gemvs() -> None:
    plan = _plan("qwen2.5-0.5b")
    expected = {
        "896x896": ("Q/O proj",),
        "128x896": ("K/V proj",),
        "4864x896": ("Gate/Up proj",),
        "896x4864": ("Down proj",),
        "16384x896": ("LM-head (10 partitions of 16384)",),
    }
    assert _sites(plan, "gemv", "decode") == expected
    assert {row.kernel for row in plan.values() if row.source == "diagnosis"} == {"bias_add"}


@pytest.mark.parametrize(
    ("changes", "reachable"),
    [
        ({}, True),
        ({"hidden_size": 2560}, False),
        ({"hidden_size": 2048 + 256}, False),
        ({"intermediate_size": 8192 + 256}, False),
        ({"head_dim": 72}, False),
        ({"output_bias": True}, False),
        ({"qkv_bias": True}, True),
    ],
)
def test_what_the_cascade_takes(changes: dict[str, object], reachable: bool) -> None:
    assert cascade_reachable(_model("llama-3.2-1b", **changes)) is reachable


@pytest.mark.parametrize(
    ("vocabulary", "shape", "site"),
    [
        (49152, "49152x2048", "LM-head"),
        (32000, "32000x2048", "LM-head"),
        (49153, "16384x2048", "LM-head (4 partitions of 16384)"),
        (65536, "16384x2048", "LM-head (4 partitions of 16384)"),
        (151936, "16384x2048", "LM-head (10 partitions of 16384)"),
    ],
)
def test_a_tall_vocabulary_runs_in_partitions(vocabulary: int, shape: str, site: str) -> None:
    assert _sites(_plan("llama-3.2-1b", vocab_size=vocabulary), "gemv", "decode")[shape] == (site,)


def test_one_case_collects_its_calls_of_both_phases() -> None:
    calls = [call("rmsnorm", phase, "RMSNorm", M=1, N=2048) for phase in (PREFILL, DECODE)]
    (row,) = merge(calls)
    assert (row.phase, row.call_sites) == ("prefill+decode", ("RMSNorm",))
    assert row.used_by("llama-3.2-1b") == ("llama-3.2-1b prefill+decode RMSNorm",)


def test_used_by_names_the_model_the_phase_and_the_site() -> None:
    row = _plan("llama-3.2-1b")["gemm_2048x2048x8192"]
    assert row.used_by("llama-3.2-1b") == ("llama-3.2-1b prefill Gate/Up proj",)


def test_the_low_contract_is_for_shapes_measured_in_it_only() -> None:
    tiers = gemm_tiers(
        high=[{"shape": "2048x896x896"}, {"shape": "2048x2048x512"}],
        low=[{"shape": "2048x896x4864"}, {"shape": "2048x2048x512"}],
    )
    assert tiers == {"2048x896x896": "high", "2048x2048x512": "high", "2048x896x4864": "low"}
    cases = {row.case for row in derive(_model("qwen2.5-0.5b"), 2048, tiers)}
    assert "gemm_low_2048x896x4864" in cases
    assert "gemm_2048x896x4864" not in cases
    assert "gemm_2048x4864x896" in cases


def test_the_derivation_does_not_look_at_the_name() -> None:
    renamed = derive(_model("qwen3-0.6b", name="llama-3.2-1b", model_type="llama"), 2048, {})
    assert renamed == derive(_model("qwen3-0.6b"), 2048, {})


def test_more_positions_than_the_model_has() -> None:
    derive(_model("llama-3.2-1b", max_positions=2048), 2048, {})
    with pytest.raises(InputError, match=r"max_position_embeddings is 2047; .* found 2048"):
        derive(_model("llama-3.2-1b", max_positions=2047), 2048, {})


def test_a_sliding_window_in_use() -> None:
    derive(_model("llama-3.2-1b", window=2048), 2048, {})
    with pytest.raises(InputError, match="sliding_window: 2047 is in use at sequence length 2048"):
        derive(_model("llama-3.2-1b", window=2047), 2048, {})
