"""The working copy of a registry that a run appends to, results/registry.

It is made of JSON files alone: Markdown pages appear in it when somebody renders them.
"""

from pathlib import Path

from scripts.atomic import write_text
from scripts.registry.lock import registry_lock
from scripts.registry.roots import MARKER, registry_file, registry_kernels, write_marker
from scripts.registry.rows import HARDWARE, SIMULATED
from scripts.registry.store import document_text, load_document


def ensure_working_copy(root: Path, seed: Path, kernel: str) -> None:
    """Make `root` a working copy of the registry `seed` that has the seed's file of `kernel`, if it has one.

    Copies what is missing under the lock of `root`, never over a file that is there; the marker comes
    last, so that a copy which was cut short is completed by the next call.
    Raises InputError when `seed` is missing or a file in it is malformed, and then copies nothing.
    """
    kernels = registry_kernels(seed)
    if (root / MARKER).is_file() and (registry_file(root, kernel).is_file() or kernel not in kernels):
        return
    texts = {name: document_text(document) for name in kernels if (document := load_document(seed, name))}
    with registry_lock(root):
        for name, text in texts.items():
            if not registry_file(root, name).exists():
                write_text(registry_file(root, name), text)
        if not (root / MARKER).exists():
            write_marker(root, HARDWARE, SIMULATED)
