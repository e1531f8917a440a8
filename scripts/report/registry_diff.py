"""The report's section on the registry: what a reviewer would see change in its tables."""

import difflib
from collections.abc import Iterable, Mapping, Sequence

from scripts.models.plan import PlannedCase
from scripts.registry.rows import Row
from scripts.registry.tables import header_line, row_lines

SHARED, COPY = "docs/kernel_registry", "results/registry"


def registry_section(
    plan: Iterable[PlannedCase],
    shared: Mapping[str, Sequence[Row]],
    copy: Mapping[str, Sequence[Row]],
) -> str:
    """A unified diff of the rows of the plan's shapes, shared registry against working copy, by kernel."""
    shapes: dict[str, set[str]] = {}
    for row in plan:
        shapes.setdefault(row.kernel, set()).add(row.shape)
    parts = [
        _diff(kernel, _of(shared.get(kernel, ()), wanted), _of(copy.get(kernel, ()), wanted))
        for kernel, wanted in shapes.items()
    ]
    lines = [line for part in parts for line in part]
    head = f"Rows that this run puts into `{COPY}`, beside those of `{SHARED}`."
    body = "\n".join(("```diff", *lines, "```")) if lines else "None."
    return "\n\n".join(("## Registry", head, body))


def _of(rows: Sequence[Row], shapes: set[str]) -> list[Row]:
    return [row for row in rows if row["shape"] in shapes]


def _diff(kernel: str, before: Sequence[Row], after: Sequence[Row]) -> list[str]:
    names = (f"{SHARED}/{kernel}.md", f"{COPY}/{kernel}.md")
    rows = row_lines(kernel, before), row_lines(kernel, after)
    lines = list(difflib.unified_diff(*rows, *names, n=0, lineterm=""))
    # Line numbers would be those of no file, as the tables hold other shapes too: columns are named.
    return [f" {header_line(kernel)}" if line.startswith("@@") else line for line in _first_hunk_only(lines)]


def _first_hunk_only(lines: list[str]) -> list[str]:
    """The diff without the marks of all hunks but the first."""
    marks = [index for index, line in enumerate(lines) if line.startswith("@@")]
    return [line for index, line in enumerate(lines) if index not in marks[1:]]
