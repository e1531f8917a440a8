"""The kernel registry: which (kernel, shape) pairs are known to work, with which tile, and how well."""

from scripts.registry.lookup import UnmeasuredShape, kernel_config
from scripts.registry.store import AppendResult, append, load_rows

__all__ = ["AppendResult", "UnmeasuredShape", "append", "kernel_config", "load_rows"]
