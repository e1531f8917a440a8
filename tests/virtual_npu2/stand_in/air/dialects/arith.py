"""Stand-in for the bindings of MLIR's dialect `arith`."""

from typing import Any

from air.records import Anything


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything()
