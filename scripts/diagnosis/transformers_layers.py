"""The reference by transformers' own bf16 model, holding the same weights. Needs the extra `diagnosis`."""

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import numpy as np
import torch
from ml_dtypes import bfloat16
from transformers import AutoConfig, AutoModelForCausalLM

from scripts.diagnosis.layer_run import LayerOutput, Prompt
from scripts.diagnosis.weights import LayerWeights, layer_weights
from scripts.errors import InputError
from scripts.models.config import ModelConfig
from scripts.models.plan import DECODE, PREFILL

_MODULES = {
    "q": "self_attn.q_proj",
    "k": "self_attn.k_proj",
    "v": "self_attn.v_proj",
    "o": "self_attn.o_proj",
    "gate": "mlp.gate_proj",
    "up": "mlp.up_proj",
    "down": "mlp.down_proj",
}
_NORMS = {
    "attention input": "input_layernorm",
    "MLP input": "post_attention_layernorm",
    "Q": "self_attn.q_norm",
    "K": "self_attn.k_norm",
}


def transformers_version() -> str:
    """The version that is installed."""
    return version("transformers")


def covered(config: ModelConfig) -> str | None:
    """Why this model's weights can't be handed to transformers here; None when they can."""
    if config.scalings or config.attention_soft_cap is not None:
        return "scalings outside of the kernels"
    if config.fused_weights or config.norms != "pre" or config.vision is not None:
        return "fused weights, post-norms or a vision tower"
    return None


def run_transformers(config: ModelConfig, prompt: Prompt, layers: int) -> Iterator[LayerOutput]:
    """Outputs layer by layer: `ffn_out` of the prompt, and of the tokens behind it fed one at a time.

    Raises InputError for a model whose weights can't be handed over (`covered`).
    """
    reason = covered(config)
    if reason:
        raise InputError(f"{config.path}: transformers as reference does not cover {reason}")
    model = _model(config, layers)
    outputs: list[list[np.ndarray]] = [[] for _ in range(layers)]
    for index, layer in enumerate(model.model.layers):
        layer.register_forward_hook(_keeper(outputs[index]))
    with torch.no_grad():
        cache = model.model(inputs_embeds=_tensor(prompt.prefill)[None], use_cache=True).past_key_values
        for token in prompt.decode:
            step = model.model(
                inputs_embeds=_tensor(token)[None, None], past_key_values=cache, use_cache=True
            )
            cache = step.past_key_values
    for index, kept in enumerate(outputs):
        decoded = np.concatenate(kept[1:]) if kept[1:] else prompt.decode
        yield LayerOutput(index, {PREFILL: kept[0], DECODE: decoded})


def _keeper(kept: list[np.ndarray]) -> Any:
    def keep(module: torch.nn.Module, inputs: Any, output: Any) -> None:
        hidden = output[0] if isinstance(output, tuple) else output
        kept.append(_array(hidden.reshape(-1, hidden.shape[-1])))

    return keep


def _model(config: ModelConfig, layers: int) -> Any:
    settings = AutoConfig.from_pretrained(config.path)
    settings.num_hidden_layers = layers
    # The embedding and the LM head are not called: prompts are embeddings, and outputs those of layers.
    settings.vocab_size, settings.pad_token_id = 8, None
    settings.bos_token_id = settings.eos_token_id = 0
    settings._attn_implementation = "sdpa"
    model = AutoModelForCausalLM.from_config(settings, dtype=torch.bfloat16).eval()
    with torch.no_grad():
        for index, layer in enumerate(model.model.layers):
            _load(layer, layer_weights(config, index))
    return model


def _load(layer: torch.nn.Module, weights: LayerWeights) -> None:
    for name, path in _MODULES.items():
        module = layer.get_submodule(path)
        module.weight.copy_(_tensor(getattr(weights, name)).T)
        if name in weights.biases:
            module.bias.copy_(_tensor(weights.biases[name]))
    for name, path in _NORMS.items():
        if name in weights.norms:
            layer.get_submodule(path).weight.copy_(_tensor(weights.norms[name]))


def _tensor(array: np.ndarray) -> torch.Tensor:
    """The same bf16 values."""
    return torch.from_numpy(np.ascontiguousarray(array).view(np.int16)).view(torch.bfloat16)


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.contiguous().view(torch.int16).numpy().view(bfloat16)
