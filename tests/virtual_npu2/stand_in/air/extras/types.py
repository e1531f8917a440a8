"""Stand-in for the makers of element types."""

from air.types import ELEMENT_TYPES


def __getattr__(name: str) -> object:
    if name not in ELEMENT_TYPES:
        raise AttributeError(name)
    return lambda: ELEMENT_TYPES[name]
