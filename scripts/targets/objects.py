"""Object files under the name of everything they depend on, so that cases with the same tile share them."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.targets.includes import included_files
from scripts.targets.process import project_path

_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*")


@dataclass(frozen=True)
class BuildStep:
    """One command of a build, which writes one file."""

    command: tuple[str, ...]  # argument list; names `output` from the project on
    shown: tuple[str, ...]  # the same for the record, without a folder of this machine
    output: Path
    reusable: bool  # the output's name is a digest: one that is there is the one that would be made

    def writing_to(self, path: Path) -> list[str]:
        """The command with `path` for its output."""
        named, instead = project_path(self.output), project_path(path)
        return [instead if word == named else word for word in self.command]

    def labelled(self, text: str) -> str:
        """`text` of the builder with files called as the record calls them."""
        for word, label in zip(self.command, self.shown, strict=True):
            text = text.replace(word, label) if word != label else text
        return text


@dataclass(frozen=True)
class TranslationUnit:
    """One C++ source and the macros it is given."""

    source: Path
    label: str  # what the record calls it
    macros: Mapping[str, str]  # name -> value

    def macro_options(self) -> tuple[str, ...]:
        """As the compiler takes them."""
        return tuple(f"-D{name}={value}" for name, value in self.macros.items())

    def digest(self, toolchain: str, folders: Sequence[Path]) -> str:
        """SHA-256, in hex, of the toolchain, the macros, the source and every file it includes.

        `folders` are those that includes are looked up in.
        """
        digest = hashlib.sha256()
        for text in (toolchain, *self.macro_options()):
            digest.update(text.encode() + b"\0")
        for file in (self.source, *included_files(self.source, folders)):
            digest.update(hashlib.sha256(file.read_bytes()).digest())
        return digest.hexdigest()


def macros_named(macros: Mapping[str, str], source: Path, folders: Sequence[Path]) -> dict[str, str]:
    """Those of `macros` that `source` or a file it includes names: the others cannot change it."""
    files = (source, *included_files(source, folders))
    names = {word.decode() for file in files for word in _IDENTIFIER.findall(file.read_bytes())}
    return {name: value for name, value in macros.items() if name in names}
