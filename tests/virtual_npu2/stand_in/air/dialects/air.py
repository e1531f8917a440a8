"""Stand-in for the bindings of the dialect `air`."""

from typing import Any

from air.records import Anything, module_builder
from air.types import T

# ruff: noqa: F822 (most of these are answered by __getattr__)
__all__ = [
    "Channel", "ChannelGet", "ChannelPut", "MemorySpace", "T", "channel", "dma_memcpy_nd", "herd", "launch",
    "module_builder", "run_transform", "segment",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything()
