"""The report's section on what was known before anything was compiled."""

from collections.abc import Sequence

from scripts.limits.findings import LAUNCH, Finding, worth_a_look

# The case table has these in its tiles and note columns.
_ELSEWHERE = "idle tiles"


def preflight_section(found: Sequence[Finding]) -> str:
    """How many limits hold, then each padding, hint and known bad tile, with the cases it is about."""
    found = [each for each in found if each.severity != LAUNCH]
    lines: dict[str, list[str]] = {}
    for each in found:
        if worth_a_look(each) and each.outcome != _ELSEWHERE:
            lines.setdefault(_text(each), []).append(f"`{each.case}`")
    cases = len({each.case for each in found})
    head = f"{len(found)} limits of {cases} cases were checked before a compile; all others hold."
    head = head if lines else head.replace("all others hold", "all hold")
    items = [f"- {text}: {', '.join(names)}" for text, names in lines.items()]
    return "\n\n".join(filter(None, ("## Preflight", head, "\n".join(items))))


def _text(found: Finding) -> str:
    if found.severity == "padding":
        return f"padded, {found.remedy}"
    limit = f"`{found.formula}` = {found.value}, {found.limit} is safe ({found.says})"
    return f"{found.outcome}, {found.constraint}: {limit}; {found.remedy}"
