"""The vision tower of a config, and the connector to its decoder."""

from dataclasses import dataclass

from scripts.models.families import tower_defaults
from scripts.models.fields import Fields
from scripts.models.refusals import activation_of


@dataclass(frozen=True)
class VisionConfig:
    """The fields of a SigLIP tower that decide which kernels it calls, and with what shapes."""

    hidden_size: int
    intermediate_size: int
    layers: int
    heads: int
    head_dim: int
    patches: int  # positions: patches of one image
    patch_values: int  # numbers in one patch, all channels
    scale_factor: int  # the connector joins scale_factor * scale_factor patches to one token
    activation: str  # of the MLP, "gelu_tanh"

    @property
    def tokens(self) -> int:
        """Tokens of the decoder that one image becomes."""
        return self.patches // self.scale_factor**2

    @property
    def token_width(self) -> int:
        """Width of a token before the connector's projection."""
        return self.hidden_size * self.scale_factor**2


def vision_of(whole: Fields, model_type: str) -> VisionConfig:
    """The tower in `vision_config`. Raises InputError for a field that is not a size or does not divide."""
    fields = whole.section("vision_config", tower_defaults(model_type))
    hidden, heads = fields.size("hidden_size"), fields.size("num_attention_heads")
    image, patch, scale = fields.size("image_size"), fields.size("patch_size"), whole.size("scale_factor")
    if hidden % heads:
        raise fields.error(
            "num_attention_heads", f"{heads} does not divide hidden_size ({hidden})", "a divisor"
        )
    if (image // patch) % scale:
        found = f"{scale} does not divide the {image // patch} patches of a row"
        raise whole.error("scale_factor", found, "a divisor")
    activation = activation_of(fields, "hidden_act")
    if activation != "gelu_tanh":
        raise fields.error("hidden_act", f"found {activation!r}", "'gelu_pytorch_tanh'")
    return VisionConfig(
        hidden_size=hidden,
        intermediate_size=fields.size("intermediate_size"),
        layers=fields.size("num_hidden_layers"),
        heads=heads,
        head_dim=hidden // heads,
        patches=(image // patch) ** 2,
        patch_values=fields.size("num_channels") * patch**2,
        scale_factor=scale,
        activation=activation,
    )
