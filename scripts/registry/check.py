"""What in a registry folder contradicts itself."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from scripts.cases.case import parse_case
from scripts.cases.kernel_facts import load_kernel
from scripts.errors import InputError
from scripts.registry.roots import registry_file, registry_kernels
from scripts.registry.rows import identity, with_best
from scripts.registry.store import Document, check_columns, load_document
from scripts.registry.tables import rendered_pages


def findings(root: Path) -> list[str]:
    """One line for each contradiction in `root`, empty when there is none.

    Raises InputError when there is no such folder.
    """
    kernels = registry_kernels(root)
    found = [line for kernel in kernels for line in _kernel_findings(root, kernel)]
    return [*found, *_page_findings(root)]


def _kernel_findings(root: Path, kernel: str) -> Iterator[str]:
    path = registry_file(root, kernel)
    try:
        document = load_document(root, kernel)
        if document:
            check_columns(document, path)
    except InputError as error:
        yield str(error)
        return
    if document:
        for look in _LOOKS:
            yield from (f"{path}: {line}" for line in look(document))


def _unknown_shapes(document: Document) -> Iterator[str]:
    for row in document["rows"]:
        try:
            parse_case(f"{document['kernel']}_{row['shape']}")
        except InputError as error:
            yield str(error)


def _duplicates(document: Document) -> Iterator[str]:
    for (shape, method, kind), count in Counter(map(identity, document["rows"])).items():
        if count > 1:
            yield f"{count} {kind} rows for {shape} {method or ''}".rstrip() + "; allowed: 1"


def _foreign_tiles(document: Document) -> Iterator[str]:
    facts = load_kernel(document["kernel"])
    methods = facts.method_names()
    for row in document["rows"]:
        if set(row["tile"]) != set(facts.tile_columns):
            found, allowed = ", ".join(row["tile"]) or "none", ", ".join(facts.tile_columns) or "none"
            yield f"{row['shape']}: tile has knobs {found}; allowed: {allowed}"
        if row["method"] not in (methods or (None,)):
            yield f"{row['shape']}: method is {row['method']}; allowed: {', '.join(methods) or 'none'}"


def _false_best(document: Document) -> Iterator[str]:
    expected = {identity(row): row["best"] for row in with_best(document["rows"])}
    for row in document["rows"]:
        if row["best"] != expected[identity(row)]:
            claim = (
                "is marked best but is not the fastest"
                if row["best"]
                else "is the fastest but not marked best"
            )
            yield f"{row['shape']} {row['method'] or ''}".rstrip() + f" {claim} measured row of its shape"


_LOOKS: tuple[Callable[[Document], Iterator[str]], ...] = (
    _unknown_shapes,
    _duplicates,
    _foreign_tiles,
    _false_best,
)


def _page_findings(root: Path) -> Iterator[str]:
    """Pages that are not what the JSON renders to. A folder without any page has none to drift."""
    try:
        pages = rendered_pages(root)
    except InputError:
        return  # reported already: pages cannot be rendered from a malformed file
    if not any(path.exists() for path in pages):
        return
    for path, text in pages.items():
        if not path.exists():
            yield f"{path}: missing; run python -m scripts.registry render --root {root}"
        elif path.read_text(encoding="utf-8") != text:
            yield f"{path}: not what the JSON renders to; run python -m scripts.registry render --root {root}"
    for path in sorted(set(root.glob("*.md")) - set(pages)):
        yield f"{path}: a page without a JSON file"
