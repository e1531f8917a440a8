"""Tile overrides as a person gives them: `--tile tile_m=64,tile_n=128 --method drain`."""

from collections.abc import Mapping

from scripts.cases.kernel_facts import KernelFacts
from scripts.errors import InputError

METHOD = "method"


def parse_overrides(tile: str | None, method: str | None = None) -> dict[str, int | str]:
    """The overrides in the text of `--tile` (knob=value, comma-separated) and `--method`.

    Raises InputError for text of another form, a value that is not a positive integer, or a knob set twice.
    """
    overrides: dict[str, int | str] = {METHOD: method} if method else {}
    for part in (tile or "").split(",") if tile else ():
        name, _, value = (text.strip() for text in part.partition("="))
        if not name or not (value.isascii() and value.isdecimal()) or int(value) == 0:
            raise InputError(
                f"--tile {tile!r}: found {part!r}; knob=value is needed, value a positive integer"
            )
        if name in overrides:
            raise InputError(f"--tile {tile!r}: {name} is set twice")
        overrides[name] = int(value)
    return overrides


def checked_overrides(
    facts: KernelFacts, overrides: Mapping[str, int | str]
) -> tuple[str | None, dict[str, int]]:
    """The method and the knobs that `overrides` asks for.

    Raises InputError for a method or knob that the kernel does not have, and for a value that is not a
    positive integer.
    """
    method = overrides.get(METHOD)
    if method is not None and method not in facts.method_names():
        known = ", ".join(facts.method_names()) or "none"
        raise InputError(f"{facts.name}: method {method!r} is unknown; allowed: {known}")
    knobs = {}
    for name, value in overrides.items():
        if name == METHOD:
            continue
        facts.knob(name)
        if type(value) is not int or value < 1:
            raise InputError(f"{facts.name}: {name} is {value!r}; a positive integer is needed")
        knobs[name] = value
    return (str(method) if method else None), knobs
