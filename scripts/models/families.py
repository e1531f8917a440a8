"""What a model_type says that no field of its config does."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """The traits of a decoder family; the sizes come from the config's fields."""

    qk_norm: bool  # RMSNorm of each query and key head before RoPE
    qkv_bias: bool  # bias on the Q, K and V projections in any case
    bias_field: str | None  # config field that puts a bias on the Q, K, V and O projections


# transformers, models/<model_type>/modeling_<model_type>.py, class <...>Attention.
FAMILIES: dict[str, Family] = {
    "llama": Family(qk_norm=False, qkv_bias=False, bias_field="attention_bias"),
    "qwen2": Family(qk_norm=False, qkv_bias=True, bias_field=None),
    "qwen3": Family(qk_norm=True, qkv_bias=False, bias_field="attention_bias"),
}
