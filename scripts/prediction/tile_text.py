"""`--tile` as a person writes it: the kernel's own tile text, knob=value pairs, or one and then the other."""

import re

from scripts.cases.kernel_facts import KernelFacts
from scripts.cases.overrides import parse_overrides
from scripts.errors import InputError

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def tile_overrides(facts: KernelFacts, text: str | None, method: str | None) -> dict[str, int | str]:
    """The overrides in `text`, e.g. `64/256/32/128`, `64/256/32/128,herd_m=4` or `tile_m=64`.

    Raises InputError for text of another form, naming the form of the kernel's tile text.
    """
    first, _, rest = (text or "").partition(",")
    if not first or "=" in first:
        return parse_overrides(text, method)
    names = _PLACEHOLDER.findall(facts.tile_text)
    pattern = "([1-9][0-9]*)".join(map(re.escape, _PLACEHOLDER.split(facts.tile_text)[::2]))
    match = re.fullmatch(pattern, first, re.ASCII) if names else None
    if match is None:
        knobs = ", ".join(f"{knob.name}={knob.default}" for knob in facts.knobs)
        form = _PLACEHOLDER.sub(r"\1", facts.tile_text) if names else "this kernel has no tile text"
        raise InputError(f"--tile {text!r}: found {first!r}; {form}, or knobs by name: {knobs}")
    given = dict(zip(names, map(int, match.groups()), strict=True))
    by_name = parse_overrides(rest or None, method)
    twice = sorted(set(given) & set(by_name))
    if twice:
        raise InputError(f"--tile {text!r}: {twice[0]} is set twice")
    return {**given, **by_name}
