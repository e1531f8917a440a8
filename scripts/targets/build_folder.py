"""What a build leaves in results/build/<case>/, and the check that both files belong together."""

import hashlib
from pathlib import Path

from scripts.errors import InputError

ELF_NAME = "kernel.elf"
RECORD_NAME = "build.json"


def file_sha256(path: Path) -> str:
    """SHA-256 of the file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def checked_elf(folder: Path, sha256: str | None) -> Path:
    """The ELF in `folder`. Raises InputError when it is missing or not the one the record describes."""
    elf = folder / ELF_NAME
    again = f"the one of {RECORD_NAME} is needed: remove {folder} and compile again"
    if not elf.is_file():
        raise InputError(f"{elf}: missing; {again}")
    found = file_sha256(elf)
    if found != sha256:
        raise InputError(f"{elf}: sha256 is {found}, not {sha256}; {again}")
    return elf
