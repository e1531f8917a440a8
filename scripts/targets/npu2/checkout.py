"""A mlir-air checkout: where its harnesses are, and on which Python they run."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from scripts.errors import InputError
from scripts.targets.npu2.adapter import Adapter

EXAMPLES = "programming_examples"
ROOT_VARIABLE = "MLIR_AIR_ROOT"
PYTHON_VARIABLE = "MLIR_AIR_PYTHON"
# make and the shell of its recipes take these as they are; anything else would need two kinds of quotes.
_PLAIN = re.compile(r"[\w./+@,~=-]+")
_FINDS_AIR = "import importlib.util, sys; sys.exit(importlib.util.find_spec('air') is None)"


@dataclass(frozen=True)
class Checkout:
    """A mlir-air checkout and the Python that its environment brings."""

    root: Path  # absolute
    python: str  # interpreter that imports `air`, absolute
    seen: bool = True  # it is there to look into; else a name for one

    def harness_folder(self, adapter: Adapter) -> Path:
        """The folder of a kernel's harness. Raises InputError naming every candidate that was tried."""
        if not self.seen:
            return self.root / EXAMPLES / adapter.folders[0]
        for folder in adapter.folders:
            found = self.root / EXAMPLES / folder
            if (found / adapter.script).is_file():
                return found
        tried = ", ".join(f"{EXAMPLES}/{folder}" for folder in adapter.folders)
        raise InputError(
            f"mlir_air: the checkout has no {adapter.script} for {adapter.kernel}; tried: {tried}"
        )


def open_checkout(given: str | Path | None) -> Checkout:
    """The checkout that is `given`, else the one that MLIR_AIR_ROOT names.

    Raises InputError when neither is given, or it holds no programming_examples/.
    """
    named = given or os.environ.get(ROOT_VARIABLE)
    if not named:
        raise InputError(
            f"mlir_air: not set; the npu2 target needs a mlir-air checkout: --config mlir_air=<checkout>, "
            f"or {ROOT_VARIABLE} in the environment"
        )
    root = Path(named).expanduser().resolve()
    if not (root / EXAMPLES).is_dir():
        raise InputError(f"mlir_air: {named} holds no {EXAMPLES}/; a mlir-air checkout is needed")
    return Checkout(Path(plain_path(root, "mlir_air")), harness_python())


def unseen_checkout() -> Checkout:
    """The checkout that a reader of printed commands has under MLIR_AIR_ROOT; nobody has looked into it."""
    return Checkout(Path(f"/{ROOT_VARIABLE}"), "python3", seen=False)


def plain_path(path: Path, what: str) -> str:
    """`path` as text, if make takes it unquoted. Raises InputError naming `what` it is if it does not."""
    text = str(path)
    if not _PLAIN.fullmatch(text):
        raise InputError(
            f"{what}: {text!r} has characters that make does not take; "
            "letters, digits and ./+@,~=_- are allowed"
        )
    return text


def harness_python() -> str:
    """The interpreter of mlir-air's environment: MLIR_AIR_PYTHON, else the first on PATH that has `air`.

    Else the first on PATH that is not this one, as harnesses call `python3`; else this one.
    """
    return _harness_python(os.environ.get(PYTHON_VARIABLE, ""), os.environ.get("PATH", os.defpath))


@cache
def _harness_python(named: str, path: str) -> str:
    if named:
        found = shutil.which(named, path=path)
        if found is None:
            raise InputError(f"{PYTHON_VARIABLE}: found {named!r}; the path of an interpreter is needed")
        return os.path.abspath(found)
    places = dict.fromkeys(filter(None, path.split(os.pathsep)))
    found = [place for place in (shutil.which("python3", path=folder) for folder in places) if place]
    with_air = next(filter(has_air, found), None)
    other = next((place for place in found if not os.path.samefile(place, sys.executable)), None)
    return os.path.abspath(with_air or other or sys.executable)


def has_air(python: str) -> bool:
    """Whether `python` finds the package `air`, which it does not import."""
    try:
        asked = subprocess.run([python, "-c", _FINDS_AIR], capture_output=True, timeout=30, check=False)
        return asked.returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False
