"""Who uses a shape, in the words and the style of the table that says so."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_PHASES = ("prefill", "decode", "prefill+decode")
# A model's name ends in its size; the one that has none is named here.
MODEL = r"(?:[A-Za-z][\w.]*-(?:[\d.]+-)?[\d.]+B|SmolVLA)"
_SHARED_SITE = re.compile(rf"{MODEL} \+ {MODEL} ")
_STATUS = re.compile(r"(✅|⚠️|❌)\s*")
COVERAGE = "coverage"


@dataclass(frozen=True)
class Use:
    """The call sites of one model in one phase."""

    model: str  # as our labels name it, e.g. "qwen3-0.6b"
    phase: str  # "prefill", "decode", "prefill+decode", or "" where the label names none
    sites: tuple[str, ...]  # e.g. ("Gate/Up proj",)


def uses(labels: Sequence[str]) -> list[Use]:
    """The uses that labels such as "qwen3-0.6b prefill Q proj" name, one for each model and phase."""
    found: dict[tuple[str, str], list[str]] = {}
    for label in labels:
        model, _, rest = label.partition(" ")
        phase, _, site = rest.partition(" ")
        if phase not in _PHASES:
            phase, site = "", rest
        found.setdefault((model, phase), []).append(site)
    return [Use(model, phase, tuple(dict.fromkeys(sites))) for (model, phase), sites in found.items()]


def names_model(cell: str, model: str) -> bool:
    """Whether a cell names the model, in whatever case."""
    return re.search(rf"(?<![\w.-]){re.escape(model)}(?![\w-]|\.\w)", cell, re.IGNORECASE) is not None


def spelling(model: str, pages: str) -> str:
    """The model's name as the registry spells it; one it does not know yet gets the capital B of its size."""
    known = re.search(rf"(?<![\w.-]){re.escape(model)}(?![\w-]|\.\w)", pages, re.IGNORECASE)
    if known:
        return known[0]
    sized = re.sub(r"(?<=\d)b(?=-|$)", "B", model)
    return sized[0].upper() + sized[1:]


@dataclass(frozen=True)
class UseStyle:
    """How the cells of a column say who uses a shape."""

    spellings: Mapping[str, str]  # model -> as the registry spells it
    with_phase: bool  # "Qwen3-0.6B prefill RMSNorm" rather than "Qwen3-0.6B Q proj"
    shared_site: bool  # "A + B residual" rather than "A residual + B residual"
    in_status: bool  # the column is Status, and the names follow the mark
    parentheses: bool  # of a Status column: "✅ (A residual)" rather than "✅ A residual"

    def text(self, each: Use) -> str:
        """One use as a column writes it, e.g. "Qwen3-0.6B decode Q proj"."""
        return f"{self.spellings[each.model]} {self._place(each)}".rstrip()

    def _place(self, each: Use) -> str:
        """The phase, where the column has them, and the sites."""
        return " ".join(filter(None, (each.phase if self.with_phase else "", _joined_sites(each.sites))))

    def new_cell(self, mark: str, labels: Sequence[str]) -> str:
        """The cell of a new row."""
        named = " + ".join(self.text(each) for each in uses(labels))
        if not self.in_status:
            return named or COVERAGE
        if not named:
            return mark
        return f"{mark} ({named})" if self.parentheses else f"{mark} {named}"

    def joined(self, cell: str, labels: Sequence[str]) -> str:
        """The cell with every model that it does not name yet."""
        for each in [use for use in uses(labels) if not names_model(cell, use.model)]:
            cell = self._with(cell, each)
        return cell

    def _with(self, cell: str, each: Use) -> str:
        beside = self._beside_a_sibling(cell, each) if self.shared_site else None
        if beside:
            return beside
        mark = _STATUS.match(cell) if self.in_status else None
        rest = cell[mark.end() :] if mark else cell
        if mark and not rest:
            return f"{cell} ({self.text(each)})" if self.parentheses else f"{cell} {self.text(each)}"
        inside = mark and rest.startswith("(") and rest.endswith(")")
        return f"{cell[:-1]} + {self.text(each)})" if inside else f"{cell} + {self.text(each)}"

    def _beside_a_sibling(self, cell: str, each: Use) -> str | None:
        """The cell with the name put beside that of a model with the same site; None without such a model."""
        place = re.escape(self._place(each))
        siblings = list(re.finditer(rf"{MODEL}(?= {place}(?![\w/-]))", cell))
        if not siblings or not place:
            return None
        end = siblings[-1].end()
        return f"{cell[:end]} + {self.spellings[each.model]}{cell[end:]}"


def _joined_sites(sites: Sequence[str]) -> str:
    """Sites of one kind share the word: Q proj and O proj are Q/O proj; others are listed."""
    heads, lasts = zip(*(site.rpartition(" ")[::2] for site in sites), strict=True)
    if len(sites) > 1 and len(set(lasts)) == 1 and all(heads):
        return f"{'/'.join(heads)} {lasts[0]}"
    return ", ".join(sites)


def use_style(cells: Sequence[str], in_status: bool, spellings: Mapping[str, str]) -> UseStyle:
    """The style of a column of call sites."""
    behind = [_STATUS.sub("", cell, count=1) for cell in cells] if in_status else list(cells)
    told = [text for text in behind if text]
    return UseStyle(
        spellings=spellings,
        with_phase=any(re.search(r"\b(prefill|decode)\b", text) for text in told),
        shared_site=any(_SHARED_SITE.search(text) for text in told),
        in_status=in_status,
        parentheses=not told or told[-1].startswith("("),
    )
