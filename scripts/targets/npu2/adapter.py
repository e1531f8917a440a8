"""How upstream's harness of a kernel is called: the `npu2` section of its kernel.yaml, checked.

    folders    candidate folders below programming_examples/, newest place first
    script     the harness, which lies in the folder
    make       run: target that ends in the script (absent: the script is called by itself);
               objects: target that compiles the kernel's object; variables: what make is given
    flags      of the script, where it is called by itself
    timing     run, variables, flags: what a timed run has besides or instead
    keeps_state  true where a timed run has wrong numbers

Values are text with formulas over dims and knobs in braces, `{method}` and, in `timing`, `{perf_iters}`; or
a list of such texts, one of which may be `{text, when}` to be left out unless the formula holds.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from scripts.cases.formula import Formula
from scripts.cases.kernel_facts import FACTS_FILE, KernelFacts, harness_kernels, load_kernel
from scripts.errors import InputError

Text = Callable[[Mapping[str, Any]], str]
"""A value of the section: from dims, knobs, method and perf_iters to what is passed."""

_FORMULA = re.compile(r"\{([^{}]+)\}")
_TEXTS = ("method",)  # names whose value is text, which formulas cannot hold
_KEYS = ("folders", "script", "make", "flags", "timing", "keeps_state")
# What upstream's backend calls its outputs: an ELF alone, or an xclbin and its instructions.
ARTIFACTS = ("air.elf", "kernel.elf", "air.xclbin", "air.insts.bin")


@dataclass(frozen=True)
class Call:
    """One way to start the harness."""

    run: str | None  # make target that ends in the script; None: the script is called by itself
    variables: Mapping[str, Text]  # what make is given
    flags: tuple[Text, ...]  # what the script is given where it is called by itself


@dataclass(frozen=True)
class Adapter:
    """How a kernel's harness is called."""

    kernel: str
    folders: tuple[str, ...]  # candidates below programming_examples/
    script: str  # file in the folder
    objects: str | None  # make target that compiles the kernel's object file, if there is one to compile
    plain: Call  # correctness alone
    timed: Call  # the same with timing
    keeps_state: bool  # a timed run has wrong numbers, so correctness needs a run without

    @property
    def checked(self) -> Call:
        """The call whose figures count; it prints timing too where that does no harm."""
        return self.plain if self.keeps_state else self.timed


@cache
def adapter(kernel: str) -> Adapter:
    """The adapter of `kernel`. Raises InputError when its kernel.yaml has none or a malformed one."""
    facts = load_kernel(kernel)
    where = f"kernels/{kernel}/{FACTS_FILE}: npu2"
    if not facts.npu2:
        known = ", ".join(name for name in harness_kernels() if load_kernel(name).npu2)
        raise InputError(f"{where}: missing; kernels that the npu2 target can run: {known}")
    unknown = set(facts.npu2) - set(_KEYS)
    if unknown:
        raise InputError(f"{where}: unknown key {', '.join(sorted(unknown))}; allowed: {', '.join(_KEYS)}")
    try:
        return _adapter(facts)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{where}: malformed: {error}; see scripts/targets/npu2/adapter.py") from None


def _adapter(facts: KernelFacts) -> Adapter:
    section = facts.npu2
    make, timing = section.get("make", {}), section.get("timing", {})
    names = {*facts.dims, *(knob.name for knob in facts.knobs), *_TEXTS}
    variables = _texts(make.get("variables", {}), names)
    flags = _flags(section.get("flags", ()), names)
    timed_names = names | {"perf_iters"}
    added = _texts(timing.get("variables", {}), timed_names)
    return Adapter(
        kernel=facts.name,
        folders=tuple(section["folders"]),
        script=section["script"],
        objects=make.get("objects"),
        plain=Call(make.get("run"), variables, flags),
        timed=Call(
            timing.get("run", make.get("run")),
            {**variables, **{name: _joined(variables.get(name), text) for name, text in added.items()}},
            (*flags, *_flags(timing.get("flags", ()), timed_names)),
        ),
        keeps_state=bool(section.get("keeps_state", False)),
    )


def _texts(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Text]:
    return {name: _value(value, names) for name, value in values.items()}


def _flags(values: Sequence[Any], names: Iterable[str]) -> tuple[Text, ...]:
    return tuple(_value(value, names) for value in values)


def _joined(first: Text | None, second: Text) -> Text:
    """What a timed run adds to a variable that is there already."""
    return second if first is None else lambda known: f"{first(known)} {second(known)}".strip()


def _value(value: Any, names: Iterable[str]) -> Text:
    """A text, or a list of texts and `{text, when}`, joined by spaces."""
    if not isinstance(value, list):
        return _template(str(value), names)
    parts = [_part(part, names) for part in value]
    return lambda known: " ".join(text(known) for when, text in parts if when is None or when(known))


def _part(part: Any, names: Iterable[str]) -> tuple[Callable[[Mapping[str, Any]], Any] | None, Text]:
    if isinstance(part, Mapping):
        return _formula(str(part["when"]), names), _template(str(part["text"]), names)
    return None, _template(str(part), names)


def _template(text: str, names: Iterable[str]) -> Text:
    formulas = {inner: _formula(inner, names) for inner in _FORMULA.findall(text)}
    return lambda known: _FORMULA.sub(lambda match: str(formulas[match[1]](known)), text)


def _formula(text: str, names: Iterable[str]) -> Callable[[Mapping[str, Any]], Any]:
    if text in _TEXTS:
        return lambda known: known[text]
    formula = Formula(text)
    unknown = formula.names - set(names)
    if unknown:
        raise InputError(
            f"npu2: {text!r} uses {', '.join(sorted(unknown))}; known: {', '.join(sorted(names))}"
        )
    return formula
