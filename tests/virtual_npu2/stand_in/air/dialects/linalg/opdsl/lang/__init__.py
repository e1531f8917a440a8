"""Stand-in for the words of linalg's operation language."""

from typing import Any

from air.records import Anything

__all__ = ["TV", "D", "S", "ScalarDef", "TensorDef", "TypeFn", "domain", "linalg_structured_op"]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything()
