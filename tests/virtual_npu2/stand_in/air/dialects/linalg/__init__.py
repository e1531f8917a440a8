"""Stand-in for the bindings of MLIR's dialect `linalg`."""

from typing import Any

from air.records import Anything


def __getattr__(name: str) -> Any:
    if name.startswith("__") or name == "opdsl":
        raise AttributeError(name)
    return Anything()
