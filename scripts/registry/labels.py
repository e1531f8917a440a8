"""Call-site labels from a published "used by" cell: "llama-3.2-1b Q/O proj"."""

import re

from scripts.errors import InputError

_MODEL = re.compile(r"(?:[A-Za-z][\w.]*-(?:[\d.]+-)?[\d.]+B|SmolVLA)\b")
_PARENTHESES = re.compile(r"\([^()]*(?:\([^()]*\)[^()]*)*\)")
_EXPLANATION = re.compile(r"\s*(?:[,:;—]|--).*")
_LABEL = re.compile(r"[\w.+/@^ -]{1,60}")
_LONGEST_WORDS = 7
_PHASES = ("prefill", "decode")


def call_site_labels(cell: str) -> list[str]:
    """The call sites that a "used by" cell names, one label each: model in lower case, then the site.

    Models that share a site ("A + B prefill RMSNorm") get a label each; sites that share a model ("A x_proj
    AND y_proj") likewise; explanations in parentheses or after punctuation are dropped.
    Raises InputError when what remains is a sentence rather than a label.
    """
    plain = _EXPLANATION.sub("", _PARENTHESES.sub("", cell)).replace(" / ", "/")
    plain = plain.replace("coverage/", "coverage + ")
    parts = [" ".join(part.split()) for part in re.split(r" \+ | AND ", plain)]
    labels = _with_models(_with_sites([part for part in parts if part]))
    for label in labels:
        if not _LABEL.fullmatch(label) or len(label.split()) > _LONGEST_WORDS:
            raise InputError(
                f"used_by: found {label!r}; allowed: a call site of up to {_LONGEST_WORDS} words"
            )
    return labels


def _with_sites(parts: list[str]) -> list[str]:
    """Give a part that is a model alone the site of the next part."""
    site, complete = "", []
    for part in reversed(parts):
        model = _MODEL.match(part)
        if model and model.end() == len(part):
            complete.append(f"{part} {site}".rstrip())
            continue
        if model:
            site = part[model.end() :].strip()
        complete.append(part)
    return complete[::-1]


def _with_models(parts: list[str]) -> list[str]:
    """Put models in lower case, and the previous part's model before a part that names none."""
    previous, labels = "", []
    for part in parts:
        model = _MODEL.match(part)
        previous = model.group().lower() if model else previous
        site = part[model.end() :].strip() if model else part
        # A phase alone is how the attention table names its only call site.
        site = f"{site} attention" if site in _PHASES else site
        labels.append(f"{previous} {site}".strip())
    return labels
