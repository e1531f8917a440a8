"""A case, `<kernel>_<shape>`: what its name says and what its output looks like."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from math import prod

from scripts.cases.kernel_facts import KernelFacts, kernel_names, load_kernel
from scripts.errors import InputError

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Case:
    """One (kernel, shape)."""

    kernel: str
    shape: str  # as in the name, e.g. "2048x2048x8192"
    dims: Mapping[str, int] = field(hash=False)  # by name; an enumerated one by its value in formulas

    @property
    def name(self) -> str:
        """`<kernel>_<shape>`."""
        return f"{self.kernel}_{self.shape}"

    @property
    def output_shape(self) -> tuple[int, ...]:
        """Extents of the output."""
        return tuple(int(extent(self.dims)) for extent in load_kernel(self.kernel).output_shape)

    @property
    def output_elements(self) -> int:
        """Elements of the output."""
        return prod(self.output_shape)


def parse_case(name: str) -> Case:
    """The case called `name`. Raises InputError naming the known kernels, or the grammar of this one."""
    # The longest match, because gemm is a prefix of gemm_low.
    kernel = max((k for k in kernel_names() if name.startswith(f"{k}_")), key=len, default=None)
    if kernel is None:
        known = ", ".join(kernel_names())
        raise InputError(f"case {name!r}: no such kernel; a case is <kernel>_<shape>, kernels: {known}")
    facts, shape = load_kernel(kernel), name[len(kernel) + 1 :]
    match = _pattern(kernel).fullmatch(shape)
    if match is None:
        raise InputError(f"case {name!r}: shape {shape!r} of {kernel} is not {grammar_text(facts)}")
    return Case(kernel=kernel, shape=shape, dims=_values(facts, match.groupdict()))


def make_case(kernel: str, **dims: int | str) -> Case:
    """The case of `kernel` with these dims (an enumerated one as its text, e.g. mask="causal").

    Raises InputError when a dim is missing, unknown or not allowed.
    """
    facts = load_kernel(kernel)
    if set(dims) != set(facts.dims):
        raise InputError(f"{kernel}: dims {', '.join(dims)} given; {', '.join(facts.dims)} needed")
    return parse_case(f"{kernel}_{facts.grammar.format_map(dims)}")


def grammar_text(facts: KernelFacts) -> str:
    """The grammar of a shape for a person, e.g. `{M}x{K} (M: rows; K: columns), positive integers`."""
    meaning = "; ".join(f"{dim.name}: {dim.says}" for dim in facts.dims.values())
    return f"{facts.grammar} ({meaning}), positive integers"


@cache
def _pattern(kernel: str) -> re.Pattern[str]:
    """The regular expression of a kernel's shapes, made from its grammar."""
    facts = load_kernel(kernel)
    parts = _PLACEHOLDER.split(facts.grammar)
    # split() alternates literal text and placeholder names.
    pieces = [re.escape(part) if index % 2 == 0 else _group(facts, part) for index, part in enumerate(parts)]
    return re.compile("".join(pieces), re.ASCII)


def _group(facts: KernelFacts, dim: str) -> str:
    values = facts.dims[dim].values
    return f"(?P<{dim}>{'|'.join(values) if values else '[1-9][0-9]*'})"


def _values(facts: KernelFacts, texts: Mapping[str, str]) -> dict[str, int]:
    """Dim values of the matched texts."""
    return {
        name: facts.dims[name].values[text] if facts.dims[name].values else int(text)
        for name, text in texts.items()
    }
