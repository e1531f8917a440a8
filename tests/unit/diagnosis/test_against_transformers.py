"""Our numpy reference of a layer against transformers' own bf16 model of the same weights."""

import json
from pathlib import Path

import pytest

from scripts.diagnosis.arithmetic import arithmetic_of
from scripts.diagnosis.layer_run import prompt_of, run_layers
from scripts.diagnosis.numpy_operations import NumpyOperations
from scripts.diagnosis.records import layer_record
from scripts.models.config import load_config

NEEDED = "transformers as reference needs `pip install .[diagnosis]`"
pytest.importorskip("torch", reason=NEEDED)
pytest.importorskip("transformers", reason=NEEDED)

SIZES = {
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "num_hidden_layers": 3,
}
LLAMA3_ROPE = {
    "rope_type": "llama3",
    "factor": 32.0,
    "high_freq_factor": 4.0,
    "low_freq_factor": 1.0,
    "original_max_position_embeddings": 128,
}


@pytest.mark.parametrize(
    ("model_type", "architecture", "more"),
    [
        ("llama", "LlamaForCausalLM", {"rope_theta": 500000.0, "rope_scaling": LLAMA3_ROPE}),
        ("qwen2", "Qwen2ForCausalLM", {"rope_theta": 1000000.0, "use_sliding_window": False}),
        ("qwen3", "Qwen3ForCausalLM", {"rope_theta": 1000000.0, "rms_norm_eps": 1e-6}),
    ],
)
def test_both_references_agree(tmp_path: Path, model_type: str, architecture: str, more: dict) -> None:
    from scripts.diagnosis.transformers_layers import run_transformers

    path = tmp_path / f"small-{model_type}.json"
    values = {"model_type": model_type, "architectures": [architecture], "vocab_size": 64, **SIZES, **more}
    path.write_text(json.dumps({"max_position_embeddings": 512, **values}))
    config = load_config(path)
    arithmetic, prompt = arithmetic_of(config), prompt_of(config, 192, 3)
    ours = NumpyOperations(config, arithmetic.norm_eps)
    expected = run_layers(config, arithmetic, lambda _: ours, prompt, 3)
    for actual, reference in zip(run_transformers(config, prompt, 3), expected, strict=True):
        for phase in ("prefill", "decode"):
            record = layer_record(phase, actual.layer, actual.phases[phase], reference.phases[phase])
            assert record.whole_cosine > 0.9999 and record.cosine["min"] > 0.999, record
