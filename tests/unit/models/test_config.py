"""Reading a Hugging Face config: its traits, and every way to refuse it."""

import json
from pathlib import Path
from typing import Any

import pytest

from scripts.errors import InputError
from scripts.models.config import ModelConfig, load_config

ROOT = Path(__file__).resolve().parents[3]
MODELS = ROOT / "config" / "models"
UNSUPPORTED = ROOT / "tests" / "fixtures" / "models_unsupported"
ABSENT = object()


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
    assert (config.qk_norm, config.qkv_bias, config.output_bias, config.window) == (False, False, False, None)


def test_traits_of_the_families(tmp_path: Path) -> None:
    qwen2, qwen3 = _load(tmp_path, "qwen2.5-0.5b"), _load(tmp_path, "qwen3-0.6b")
    assert (qwen2.qkv_bias, qwen2.output_bias, qwen2.qk_norm) == (True, False, False)
    assert (qwen3.qkv_bias, qwen3.output_bias, qwen3.qk_norm) == (False, False, True)
    assert qwen2.head_dim == 896 // 14
    assert (qwen3.q_dim, qwen3.hidden_size) == (2048, 1024)


def test_the_bias_field_counts_where_the_family_reads_it(tmp_path: Path) -> None:
    biased = _load(tmp_path, attention_bias=True)
    assert (biased.qkv_bias, biased.output_bias) == (True, True)


@pytest.mark.parametrize(
    "fields",
    [
        {"sliding_window": None},
        {"sliding_window": 64, "use_sliding_window": False},
        {"sliding_window": 64, "layer_types": ["full_attention"] * 28},
    ],
)
def test_a_window_that_is_off(tmp_path: Path, fields: dict[str, Any]) -> None:
    assert _load(tmp_path, "qwen2.5-1.5b", **{"use_sliding_window": ABSENT, **fields}).window is None


def test_a_window_that_is_on(tmp_path: Path) -> None:
    assert _load(tmp_path, "qwen2.5-1.5b", sliding_window=64, use_sliding_window=True).window == 64
    assert _load(tmp_path, "qwen2.5-1.5b", sliding_window=64, use_sliding_window=ABSENT).window == 64


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"hidden_size": ABSENT}, "hidden_size: missing; a positive integer is needed"),
        ({"num_key_value_heads": ABSENT}, "num_key_value_heads: missing"),
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
        ({"use_sliding_window": 1}, "use_sliding_window: found 1; true or false is needed"),
        ({"max_position_embeddings": 0}, "max_position_embeddings: found 0"),
        (
            {"hidden_act": "gelu_pytorch_tanh"},
            "hidden_act: found 'gelu_pytorch_tanh' (GELU families are not supported yet); 'silu' is needed",
        ),
        ({"hidden_act": "relu"}, "hidden_act: found 'relu'; 'silu' is needed"),
        ({"hidden_act": ABSENT}, "hidden_act: missing; 'silu' is needed"),
        ({"model_type": "gpt2"}, "model_type: found 'gpt2'; one of llama, qwen2, qwen3 is needed"),
        ({"model_type": ["llama"]}, "model_type: found ['llama']"),
        ({"model_type": ABSENT}, "model_type: missing; one of llama, qwen2, qwen3 is needed"),
        ({"num_experts": 8}, "mixture of experts, MoE (num_experts = 8): not supported"),
        ({"kv_lora_rank": 512}, "multi-head latent attention, MLA (kv_lora_rank = 512): not supported"),
        ({"is_encoder_decoder": True}, "encoder-decoder (is_encoder_decoder = True): not supported"),
        ({"mlp_bias": True}, "bias in the MLP (mlp_bias = True): not supported"),
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
    assert "a dense decoder is needed (model_type llama, qwen2, qwen3)" in str(refusal.value)


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
