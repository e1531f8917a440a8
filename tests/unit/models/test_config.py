"""Reading a Hugging Face config: its traits, and every way to refuse it."""

import json
from pathlib import Path
from typing import Any

import pytest

from scripts.errors import InputError
from scripts.models.config import ModelConfig, load_config

ROOT = Path(__file__).resolve().parents[3]
MODELS = ROOT / "config" / "models"
FIXTURES = ROOT / "tests" / "fixtures" / "models"
UNSUPPORTED = ROOT / "tests" / "fixtures" / "models_unsupported"
ABSENT = object()
PHI = {"model_type": "phi3", "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 2}


def _load(tmp_path: Path, model: str = "llama-3.2-1b", **changes: Any) -> ModelConfig:
    """The model with some fields changed (or taken out, for ABSENT)."""
    values = json.loads((MODELS / f"{model}.json").read_text(encoding="utf-8")) | changes
    path = tmp_path / f"{model}.json"
    path.write_text(json.dumps({k: v for k, v in values.items() if v is not ABSENT}), encoding="utf-8")
    return load_config(path)


def test_llama(tmp_path: Path) -> None:
    config = _load(tmp_path)
    assert (config.name, config.model_type, config.layers) == ("llama-3.2-1b", "llama", 16)
    assert (config.hidden_size, config.intermediate_size, config.vocab_size) == (2048, 8192, 128256)
    assert (config.heads, config.kv_heads, config.head_dim) == (32, 8, 64)
    assert (config.q_dim, config.kv_dim) == (2048, 512)
    assert (config.qk_norm, config.qkv_bias, config.output_bias, config.mlp_bias) == (
        None,
        False,
        False,
        False,
    )
    assert (config.norms, config.activation, config.rotary_dim) == ("pre", "silu", 64)
    assert (config.window, config.window_layers, config.vision, config.scalings) == (None, (), None, ())


def test_traits_of_the_families(tmp_path: Path) -> None:
    qwen2, qwen3 = _load(tmp_path, "qwen2.5-0.5b"), _load(tmp_path, "qwen3-0.6b")
    assert (qwen2.qkv_bias, qwen2.output_bias, qwen2.qk_norm) == (True, False, None)
    assert (qwen3.qkv_bias, qwen3.output_bias, qwen3.qk_norm) == (False, False, "head")
    assert qwen2.head_dim == 896 // 14
    assert (qwen3.q_dim, qwen3.hidden_size) == (2048, 1024)


def test_the_bias_field_counts_where_the_family_reads_it(tmp_path: Path) -> None:
    biased = _load(tmp_path, attention_bias=True)
    assert (biased.qkv_bias, biased.output_bias) == (True, True)


def test_what_is_absent_is_what_transformers_takes(tmp_path: Path) -> None:
    """google/gemma-3-4b-it says five numbers of its text; the rest are the defaults of the family."""
    config = load_config(FIXTURES / "gemma3-4b.json")
    assert (config.model_type, config.hidden_size, config.layers) == ("gemma3_text", 2560, 34)
    assert (config.heads, config.kv_heads, config.head_dim, config.vocab_size) == (8, 4, 256, 262208)
    assert (config.norms, config.qk_norm, config.activation) == ("pre+post", "head", "gelu_tanh")
    assert (config.tied_embeddings, config.max_positions) == (True, 131072)
    assert _load(tmp_path, vocab_size=ABSENT).vocab_size == 32000
    assert _load(tmp_path, num_key_value_heads=ABSENT).kv_heads == 32
    assert _load(tmp_path, hidden_act=ABSENT).activation == "silu"


def test_partial_rotary(tmp_path: Path) -> None:
    assert load_config(FIXTURES / "phi4-mini.json").rotary_dim == 96
    path = tmp_path / "phi.json"
    nested = {**PHI, "rope_parameters": {"partial_rotary_factor": 0.5}}
    path.write_text(json.dumps(nested), encoding="utf-8")
    assert load_config(path).rotary_dim == 48
    path.write_text(json.dumps({**PHI, "partial_rotary_factor": 1.5}), encoding="utf-8")
    with pytest.raises(InputError, match=r"partial_rotary_factor: found 1\.5; a number up to 1"):
        load_config(path)


@pytest.mark.parametrize(
    "fields",
    [
        {"sliding_window": None},
        {"sliding_window": 64, "use_sliding_window": False},
        {"sliding_window": 64, "use_sliding_window": ABSENT},
        {"sliding_window": 64, "use_sliding_window": True, "max_window_layers": 28},
        {"sliding_window": 64, "use_sliding_window": True, "layer_types": ["full_attention"] * 28},
    ],
)
def test_a_window_that_is_off(tmp_path: Path, fields: dict[str, Any]) -> None:
    assert _load(tmp_path, "qwen2.5-1.5b", **fields).window is None


def test_a_window_that_is_on(tmp_path: Path) -> None:
    on = {"sliding_window": 64, "use_sliding_window": True}
    upper = _load(tmp_path, "qwen2.5-1.5b", **on, max_window_layers=25)
    assert (upper.window, upper.window_layers) == (64, (25, 26, 27))
    types = ["full_attention"] * 27 + ["sliding_attention"]
    assert _load(tmp_path, "qwen2.5-1.5b", **on, layer_types=types).window_layers == (27,)
    assert load_config(FIXTURES / "mistral-7b.json").window_layers == tuple(range(32))


def test_alternating_windows() -> None:
    assert load_config(FIXTURES / "gemma2-2b.json").window_layers == tuple(range(0, 26, 2))
    globals_of_gemma3 = set(range(34)) - set(load_config(FIXTURES / "gemma3-4b.json").window_layers)
    assert globals_of_gemma3 == {5, 11, 17, 23, 29}


def test_the_tower_of_smolvla() -> None:
    """512 x 512 pixels in patches of 16 x 16 are 32 x 32 positions; 4 x 4 of them become a token."""
    vision = load_config(FIXTURES / "smolvlm2-500m.json").vision
    assert (vision.hidden_size, vision.intermediate_size, vision.layers) == (768, 3072, 12)
    assert (vision.heads, vision.head_dim, vision.patches, vision.patch_values) == (12, 64, 1024, 768)
    assert (vision.tokens, vision.token_width) == (64, 12288)


def test_the_tower_beside_text_alone_is_left_out() -> None:
    assert load_config(FIXTURES / "gemma3-4b.json").vision is None


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"hidden_size": ABSENT}, "hidden_size: missing; a positive integer is needed"),
        ({"intermediate_size": ABSENT}, "intermediate_size: missing"),
        ({"num_hidden_layers": ABSENT}, "num_hidden_layers: missing"),
        ({"hidden_size": None}, "hidden_size: found None; a positive integer is needed"),
        ({"vocab_size": "128256"}, "vocab_size: found '128256'; a positive integer is needed"),
        ({"hidden_size": 2048.0}, "hidden_size: found 2048.0"),
        ({"num_hidden_layers": True}, "num_hidden_layers: found True"),
        ({"intermediate_size": 0}, "intermediate_size: found 0"),
        ({"num_attention_heads": -32}, "num_attention_heads: found -32"),
        ({"head_dim": "64"}, "head_dim: found '64'"),
        (
            {"num_key_value_heads": 5},
            "num_key_value_heads: 5 does not divide the query heads; a divisor of num_attention_heads (32)",
        ),
        (
            {"head_dim": None, "num_attention_heads": 24},
            "num_attention_heads: 24 does not divide hidden_size (2048)",
        ),
        ({"attention_bias": "no"}, "attention_bias: found 'no'; true or false is needed"),
        ({"mlp_bias": 1}, "mlp_bias: found 1; true or false is needed"),
        ({"max_position_embeddings": 0}, "max_position_embeddings: found 0"),
        (
            {"hidden_act": "gelu"},
            "hidden_act: found 'gelu' (the kernel is the tanh form); one of silu, gelu_py",
        ),
        (
            {"hidden_act": "relu"},
            "hidden_act: found 'relu'; one of silu, gelu_pytorch_tanh, gelu_new is needed",
        ),
        (
            {"model_type": "gpt2"},
            "model_type: found 'gpt2'; one of gemma2, gemma3, gemma3_text, granite, llama",
        ),
        ({"model_type": ["llama"]}, "model_type: found ['llama']"),
        ({"model_type": ABSENT}, "model_type: missing; one of gemma2"),
        ({"num_experts": 8}, "mixture of experts, MoE (num_experts = 8): not supported"),
        ({"kv_lora_rank": 512}, "multi-head latent attention, MLA (kv_lora_rank = 512): not supported"),
        ({"is_encoder_decoder": True}, "encoder-decoder (is_encoder_decoder = True): not supported"),
        ({"model_type": "qwen2", "mlp_bias": True}, "bias in the MLP (mlp_bias = True): not supported"),
        (
            {"use_bidirectional_attention": True},
            "attention in both directions (use_bidirectional_attention = True)",
        ),
        (
            {"quantization_config": {"bits": 4}},
            "quantised weights (quantization_config = {'bits': 4}): not supported",
        ),
        ({"partial_rotary_factor": 0.5}, "(partial_rotary_factor = 0.5): not supported"),
    ],
)
def test_refused(tmp_path: Path, changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError) as refusal:
        _load(tmp_path, **changes)
    message = str(refusal.value)
    assert message.startswith(str(tmp_path / "llama-3.2-1b.json"))
    assert complaint in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "changes",
    [
        {"num_experts": None},
        {"is_encoder_decoder": False},
        {"mlp_bias": False},
        {"partial_rotary_factor": 1.0},
    ],
)
def test_fields_that_say_no(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert _load(tmp_path, **changes) == _load(tmp_path)


@pytest.mark.parametrize(
    ("file", "complaint"),
    [
        (
            "deepseek-v2-lite.json",
            "multi-head latent attention, MLA (kv_lora_rank = 512); mixture of experts, MoE",
        ),
        ("mixtral-8x7b.json", "mixture of experts, MoE (num_local_experts = 8)"),
        ("t5-small.json", "encoder-decoder (is_encoder_decoder = True)"),
    ],
)
def test_unsupported_architectures(file: str, complaint: str) -> None:
    with pytest.raises(InputError) as refusal:
        load_config(UNSUPPORTED / file)
    assert f"{file}: {complaint}" in str(refusal.value)
    assert "a dense decoder is needed (model_type gemma2, " in str(refusal.value)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[1]", "holds a JSON list; an object is needed"),
        (b"null", "holds a JSON NoneType; an object is needed"),
    ],
)
def test_not_an_object(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as refusal:
        load_config(path)
    assert f"{path}: {complaint}" in str(refusal.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_config(tmp_path / "absent.json")
    with pytest.raises(InputError, match="cannot be read"):
        load_config(tmp_path)


def test_a_name_that_is_no_file_name_in_results(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the file's name names the model"):
        load_config(tmp_path / "my model.json")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"text_config": 3}, "text_config: found 3; an object is needed"),
        (
            {"text_config": {"num_hidden_layers": 2, "hidden_size": "960"}},
            "text_config.hidden_size: found '960'",
        ),
        ({"text_config": {"model_type": "mamba"}}, "text_config.model_type: found 'mamba'; one of gemma2"),
        ({"text_config": {"model_type": "smolvlm"}}, "text_config.model_type: found 'smolvlm'"),
        ({"text_config": {"num_experts": 4}}, "mixture of experts, MoE (num_experts = 4)"),
        (
            {"vision_config": {"num_attention_heads": 7}},
            "vision_config.num_attention_heads: 7 does not divide",
        ),
        ({"vision_config": {"patch_size": 14, "hidden_act": "silu"}}, "vision_config.hidden_act: found"),
        ({"vision_config": {"image_size": [512, 512]}}, "vision_config.image_size: found [512, 512]"),
        ({"scale_factor": 5}, "scale_factor: 5 does not divide the 32 patches of a row"),
    ],
)
def test_refused_inside_of_a_composite(tmp_path: Path, changes: dict[str, Any], complaint: str) -> None:
    path = tmp_path / "smolvlm.json"
    values = json.loads((FIXTURES / "smolvlm2-500m.json").read_text(encoding="utf-8"))
    path.write_text(json.dumps(values | changes), encoding="utf-8")
    with pytest.raises(InputError) as refusal:
        load_config(path)
    assert complaint in str(refusal.value)
