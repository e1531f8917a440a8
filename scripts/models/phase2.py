"""What block integration (Phase 2) has to do for a model besides calling its kernels."""

from scripts.models.config import ModelConfig


def phase2_prerequisites(config: ModelConfig) -> tuple[str, ...]:
    """One line for each op or layout that no kernel of Phase 1 does by itself; () for a plain Llama."""
    return (*_attention(config), *_block(config), *_weights(config))


def _attention(config: ModelConfig) -> list[str]:
    lines = []
    if config.qk_norm is not None:
        over = f"{config.head_dim} elements a head" if config.qk_norm == "head" else "the width of all heads"
        lines.append(f"QK-norm: an RMSNorm of Q and of K over {over}, between the projections and RoPE")
    if config.qkv_bias:
        lines.append("QKV bias: a broadcast add after the Q, K and V projections")
    if config.output_bias:
        lines.append("O bias: an add between the O projection and the residual, so these two don't fuse")
    if config.rotary_dim != config.head_dim:
        rest = config.head_dim - config.rotary_dim
        lines.append(
            f"partial rotary: RoPE turns {config.rotary_dim} of {config.head_dim}, {rest} pass through"
        )
    if config.attention_soft_cap is not None:
        cap = config.attention_soft_cap
        lines.append(
            f"soft-capped scores: {cap:g} * tanh(score / {cap:g}) before the softmax, not in FlashAttention"
        )
    if config.window is not None:
        lines.append(f"sliding window: {config.window} keys, in use for prompts and caches longer than that")
    return lines


def _block(config: ModelConfig) -> list[str]:
    lines = []
    if config.post_norm:
        lines.append(
            "post-norms: an RMSNorm between a block's output and its residual, so these two don't fuse"
        )
    if not config.pre_norm:
        lines.append(
            "no pre-norms: a block takes its input as it is, so the norm-and-projection kernels don't fit"
        )
    if config.activation != "silu":
        lines.append("GELU-gated MLP: GELU and a multiply instead of SiLU-and-Mul")
    if config.mlp_bias:
        lines.append("MLP bias: a broadcast add after Gate, Up and Down")
    if config.logit_soft_cap is not None:
        cap = config.logit_soft_cap
        lines.append(f"soft-capped logits: {cap:g} * tanh(logit / {cap:g}) after the LM head")
    return lines


def _weights(config: ModelConfig) -> list[str]:
    lines = []
    if config.fused_weights:
        lines.append(
            "fused weights: split qkv_proj into Q, K, V and gate_up_proj into Gate, Up when they are loaded"
        )
    if config.tied_embeddings:
        lines.append("tied embeddings: the LM head reads the embedding's weights")
    return [*lines, *(f"scaling: {scaling}" for scaling in config.scalings)]
