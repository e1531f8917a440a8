"""The linear layers of a decoder: what both phases call, each in its own kernel."""

from dataclasses import dataclass

from scripts.models.config import ModelConfig
from scripts.models.weights import Weight


@dataclass(frozen=True)
class Linear:
    """Linear layers of one shape that take the same input, or a single one."""

    site: str  # e.g. "K/V proj"
    names: tuple[str, ...]  # one for each of them, e.g. ("K proj", "V proj")
    width_in: int
    width_out: int
    stored_in: str | None = None  # the checkpoint's tensor, where that holds others too

    @property
    def weights(self) -> tuple[Weight, ...]:
        """Their matrices."""
        shape = (self.width_out, self.width_in)
        return tuple(Weight(name, "linear", shape, self.stored_in) for name in self.names)

    @property
    def biases(self) -> tuple[Weight, ...]:
        """Their biases, for a model that has any."""
        return tuple(Weight(f"{name} bias", "bias", (self.width_out,)) for name in self.names)


def query(config: ModelConfig) -> Linear:
    """The Q projection."""
    return Linear("Q proj", ("Q proj",), config.hidden_size, config.q_dim, _stored(config, "qkv_proj"))


def key_value(config: ModelConfig) -> Linear:
    """The K and the V projection."""
    names, stored = ("K proj", "V proj"), _stored(config, "qkv_proj")
    return Linear("K/V proj", names, config.hidden_size, config.kv_dim, stored)


def output(config: ModelConfig) -> Linear:
    """The O projection."""
    return Linear("O proj", ("O proj",), config.q_dim, config.hidden_size)


def gate_up(config: ModelConfig) -> Linear:
    """The Gate and the Up projection."""
    names, stored = ("Gate proj", "Up proj"), _stored(config, "gate_up_proj")
    return Linear("Gate/Up proj", names, config.hidden_size, config.intermediate_size, stored)


def down(config: ModelConfig) -> Linear:
    """The Down projection."""
    return Linear("Down proj", ("Down proj",), config.intermediate_size, config.hidden_size)


def _stored(config: ModelConfig, tensor: str) -> str | None:
    return tensor if config.fused_weights else None
