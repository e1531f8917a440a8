"""The kernel registry: which (kernel, shape) pairs are known to work, with which tile, and how well."""

from scripts.registry.gemm_lookup import gemm_config, gemm_config_method
from scripts.registry.lookup import UnmeasuredShape, kernel_config
from scripts.registry.store import AppendResult, append, load_rows

__all__ = [
    "AppendResult",
    "UnmeasuredShape",
    "append",
    "gemm_config",
    "gemm_config_method",
    "kernel_config",
    "load_rows",
]
