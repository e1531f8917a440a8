"""The norms around a block: before it, after it, or both."""

from scripts.models.config import ModelConfig
from scripts.models.plan import PREFILL, CallSite, call
from scripts.models.weights import Weight


def norm_weight(name: str, width: int) -> Weight:
    """The weight of an RMSNorm over `width` elements."""
    return Weight(name, "norm", (width,))


def block_norms(config: ModelConfig, block: str, rows: int) -> tuple[list[CallSite], list[CallSite]]:
    """The prefill's norms before and after `block` ("attention" or "MLP"), over `rows` positions."""
    before = [_norm(config, "RMSNorm", f"{block} input norm", rows)] if config.pre_norm else []
    after = [_norm(config, "post-norm", f"{block} output norm", rows)] if config.post_norm else []
    return before, after


def _norm(config: ModelConfig, site: str, name: str, rows: int) -> CallSite:
    weights = (norm_weight(name, config.hidden_size),)
    return call("rmsnorm", PREFILL, site, weights, M=rows, N=config.hidden_size)
