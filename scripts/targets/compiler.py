"""Finding a C++20 compiler, and refusing in one line when there is none."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from scripts.errors import InputError, exit_status

# The first releases whose <concepts>, <bit> and <span> are complete enough for the host AIE API.
OLDEST_GCC = 12
OLDEST_CLANG = 15
_CANDIDATES = (
    "g++",
    "clang++",
    "g++-15",
    "g++-14",
    "g++-13",
    "g++-12",
    "clang++-18",
    "clang++-16",
    "clang++-15",
)
_PACKAGES = "Debian or Ubuntu: g++, Fedora: gcc-c++, conda: gxx (or clang++ >= 15 from clang, clangxx)"
_VERSION = re.compile(r"\b(\d+)\.\d+")


@dataclass(frozen=True)
class Compiler:
    """A C++20 compiler."""

    command: tuple[str, ...]  # as called; more than one word when CXX holds a wrapper such as ccache
    version: str  # first line of --version


def find_compiler() -> Compiler:
    """The compiler `CXX` names, else the first of g++, clang++ that is new enough.

    Raises InputError when there is none, naming the packages that bring one.
    """
    return _find(os.environ.get("CXX", ""), os.environ.get("PATH", ""))


@cache
def _find(cxx: str, path: str) -> Compiler:
    """As `find_compiler`, asked once for each value of the variables it depends on."""
    needed = f"a C++20 compiler is needed (g++ >= {OLDEST_GCC} or clang++ >= {OLDEST_CLANG})"
    if cxx:
        found = _usable(shlex.split(cxx), path)
        if found is None:
            raise InputError(f"CXX: {cxx!r} is missing or too old; {needed}")
        return found
    for name in _CANDIDATES:
        found = _usable([name], path)
        if found is not None:
            return found
    raise InputError(f"compiler: none of {', '.join(_CANDIDATES[:2])} found on PATH; {needed}. {_PACKAGES}")


def _usable(command: Sequence[str], path: str) -> Compiler | None:
    """The compiler that `command` calls, or None when it is missing, broken or too old."""
    if not command or shutil.which(command[0], path=path) is None:
        return None
    try:
        answer = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    version = (answer.stdout.splitlines() or [""])[0].strip()
    return Compiler(tuple(command), version) if _new_enough(version) else None


def _new_enough(version: str) -> bool:
    """Whether the first line of --version is that of a g++ or clang++ with enough of C++20."""
    # The distribution's own version stands in brackets before the compiler's.
    numbers = _VERSION.findall(re.sub(r"\([^)]*\)", "", version))
    oldest = OLDEST_CLANG if "clang" in version else OLDEST_GCC
    return bool(numbers) and int(numbers[0]) >= oldest


def main() -> None:
    """Print the compiler's version (`python -m scripts.targets.compiler`)."""
    print(find_compiler().version)


if __name__ == "__main__":
    sys.exit(exit_status(main))
