"""Traits of the families beyond Llama's, as they show in the plan."""

import dataclasses
from pathlib import Path

import pytest

from scripts.errors import InputError
from scripts.models.call_sites import derive
from scripts.models.config import ModelConfig, load_config
from scripts.models.phase2 import phase2_prerequisites
from scripts.models.plan import PlannedCase

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "tests" / "fixtures" / "models"


def _model(stem: str, **changes: object) -> ModelConfig:
    return dataclasses.replace(load_config(FIXTURES / f"{stem}.json"), **changes)


def _plan(stem: str, seq_len: int = 2048, **changes: object) -> dict[str, PlannedCase]:
    return {row.case: row for row in derive(_model(stem, **changes), seq_len, {})}


def _sites(plan: dict[str, PlannedCase], phase: str, *kernels: str) -> dict[str, tuple[str, ...]]:
    """Case -> call sites of some kernels in one phase."""
    return {row.case: row.call_sites for row in plan.values() if row.phase == phase and row.kernel in kernels}


def test_gemma_norms_a_block_twice_and_gates_with_gelu() -> None:
    plan = _plan("gemma2-2b")
    assert _sites(plan, "prefill", "rmsnorm") == {"rmsnorm_2048x2304": ("RMSNorm", "post-norm")}
    elements = 2048 * 9216
    assert plan[f"gelu_{elements}"].source == "harness"
    assert plan[f"eltwise_mul_{elements}"].source == "diagnosis"
    assert not {"silu_and_mul", "gemv_add", "rmsnorm_gate_up_swiglu"} & {row.kernel for row in plan.values()}
    attention = plan["flash_attention_2048x2048_d256x256_h8x4_causal"]
    assert attention.call_sites == ("attention (window 4096 is inert, scores not soft-capped)",)


def test_a_window_in_use_names_its_layers() -> None:
    globals_between = "layers 0-4, 6-10, 12-16, 18-22, 24-28, 30-33"
    with pytest.raises(InputError) as refusal:
        _plan("gemma3-4b", 2048)
    found = f"sliding_window: 1024 is in use at sequence length 2048 in {globals_between}"
    assert str(refusal.value).endswith(
        f"{found}; the causal kernel has no window: at most 1024 positions are allowed"
    )
    with pytest.raises(InputError, match="at sequence length 8192 in every layer"):
        _plan("mistral-7b", 8192)
    assert "attention (window 1024 is inert)" in str(_plan("gemma3-4b", 1024))


def test_olmo2_norms_only_what_a_block_gives() -> None:
    plan = _plan("olmo2-1b")
    assert _sites(plan, "prefill", "rmsnorm") == {"rmsnorm_2048x2048": ("QK-norm", "post-norm")}
    assert _sites(plan, "decode", "rmsnorm") == {"rmsnorm_1x2048": ("QK-norm",)}
    assert _sites(plan, "decode", "gemv", "gemv_add")["gemv_8192x2048"] == ("Gate/Up proj",)
    grouped = _plan("olmo2-1b", kv_heads=4)
    assert _sites(grouped, "prefill", "rmsnorm")["rmsnorm_2048x512"] == ("QK-norm",)


def test_phi_turns_a_part_of_each_head_and_stores_fused_weights() -> None:
    plan = _plan("phi4-mini")
    part = "96 of 128 elements"
    assert _sites(plan, "prefill", "rope") == {
        "rope_49152x96": (f"RoPE-Q ({part})",),
        "rope_16384x96": (f"RoPE-K ({part})",),
    }
    gemms = _sites(plan, "prefill", "gemm")
    assert gemms["gemm_2048x3072x1024"] == ("K/V proj",)
    assert gemms["gemm_2048x3072x8192"] == ("Gate/Up proj",)


def test_granite_is_a_llama_with_scalings() -> None:
    granite = _model("granite-2b")
    llama = dataclasses.replace(granite, model_type="llama", scalings=())
    assert derive(granite, 2048, {}) == derive(llama, 2048, {})
    assert granite.scalings == (
        "embedding_multiplier = 12",
        "attention_multiplier = 0.015625",
        "residual_multiplier = 0.22",
        "logits_scaling = 8",
    )


def test_biases_of_the_mlp() -> None:
    plan = _plan("llama-biased")
    assert plan["bias_add_2048x2048"].call_sites == ("Gate/Up bias",)
    assert plan["bias_add_2048x1024"].call_sites == ("QKV bias (Q)", "O bias", "Down bias")
    assert plan["gemv_2048x1024"].call_sites == ("Gate/Up proj",)


def test_the_tower_and_the_connector_of_smolvla() -> None:
    plan = _plan("smolvlm2-500m", 241)
    vision = {case: row.call_sites for case, row in plan.items() if "vision" in str(row.call_sites)}
    assert vision == {
        "gemm_1024x768x768": ("patch embedding", "vision Q/K/V proj", "vision O proj"),
        "layernorm_1024x768": ("vision LayerNorm",),
        "flash_attention_1024x1024_d64x64_h12x12_full": ("vision attention",),
        "eltwise_add_786432": ("vision residual",),
        "gemm_1024x768x3072": ("vision MLP fc1",),
        "gelu_3145728": ("vision MLP GELU",),
        "gemm_1024x3072x768": ("vision MLP fc2",),
        "bias_add_1024x768": ("vision bias",),
        "bias_add_1024x3072": ("vision bias",),
    }
    assert plan["gemm_64x12288x960"].call_sites == ("connector proj",)
    assert {row.phase for case, row in plan.items() if case in vision} == {"prefill"}


@pytest.mark.parametrize(
    ("stem", "starts"),
    [
        ("llama-2-7b", ()),
        ("tinyllama-1.1b", ()),
        ("qwen2.5-7b", ("QKV bias",)),
        ("qwen3-4b", ("QK-norm: an RMSNorm of Q and of K over 128 elements a head", "tied embeddings")),
        ("phi4-mini", ("partial rotary", "sliding window: 262144", "fused weights", "tied embeddings")),
        (
            "gemma2-2b",
            (
                *("soft-capped scores: 50", "sliding window: 4096", "post-norms", "GELU-gated MLP"),
                *("soft-capped logits: 30", "tied embeddings", "scaling: norms", "scaling: embeddings"),
            ),
        ),
        ("olmo2-1b", ("QK-norm: an RMSNorm of Q and of K over the width", "post-norms", "no pre-norms")),
        ("llama-biased", ("QKV bias", "O bias", "MLP bias")),
        ("granite-2b", ("tied embeddings", *["scaling: "] * 4)),
    ],
)
def test_what_phase_2_has_to_do(stem: str, starts: tuple[str, ...]) -> None:
    found = phase2_prerequisites(_model(stem))
    assert len(found) == len(starts)
    assert all(line.startswith(start) for line, start in zip(found, starts, strict=True)), found


def test_a_head_dimension_that_scales_the_scores_itself_is_no_scaling() -> None:
    assert "scaled by" not in str(_model("gemma2-2b").scalings)
