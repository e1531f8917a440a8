"""What a harness's artifact depends on besides the case: mlir-air, mlir-aie and Peano."""

import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from scripts.cases.kernel_facts import harness_kernels, load_kernel
from scripts.errors import InputError
from scripts.targets.npu2.adapter import adapter
from scripts.targets.npu2.checkout import EXAMPLES, Checkout

PEANO_VARIABLE = "PEANO_INSTALL_DIR"
UNKNOWN = "unknown"
_SECONDS = 30
_COMMIT_DIGITS = 12
_DIGEST_DIGITS = 8
_BACKEND = "python/air/backend"
# Asked of the harness's own Python; distribution names as the wheels of both projects have them.
_ASK_PYTHON = """
import importlib.metadata, importlib.util, json
def version(*names):
    for name in names:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
found = {name: importlib.util.find_spec(name) is not None for name in ("air", "pyxrt")}
print(json.dumps({**found, "mlir_aie": version("mlir-aie", "aie"), "llvm_aie": version("llvm-aie")}))
"""


def toolchain_versions(checkout: Checkout) -> dict[str, str]:
    """What a verdict names: mlir-air's commit, whether it is clean, mlir-aie's and Peano's versions.

    Raises InputError when Peano is missing, without which nothing can be compiled.
    """
    python = python_facts(checkout.python)
    commit, state = mlir_air_commit(checkout.root)
    return {
        "mlir_air": commit,
        "mlir_air_state": state,
        "mlir_aie": python.get("mlir_aie") or _first_line("aie-opt", "--version") or UNKNOWN,
        "peano": peano_version(),
    }


def fingerprint(versions: dict[str, str]) -> str:
    """`versions` in one line; holds no path and no time."""
    return (
        f"mlir-air {versions['mlir_air']} ({versions['mlir_air_state']}); "
        f"mlir-aie {versions['mlir_aie']}; Peano {versions['peano']}"
    )


def peano_folder() -> Path:
    """$PEANO_INSTALL_DIR. Raises InputError when it is not set or has no AIE compiler."""
    named = os.environ.get(PEANO_VARIABLE, "")
    if not named:
        raise InputError(f"{PEANO_VARIABLE}: not set; the folder of the llvm-aie toolchain (Peano) is needed")
    if not os.access(Path(named, "bin", "clang++"), os.X_OK):
        raise InputError(f"{PEANO_VARIABLE}: {named} has no bin/clang++; the folder of llvm-aie is needed")
    return Path(named)


def peano_version() -> str:
    """First line of the AIE compiler's --version. Raises InputError when there is no AIE compiler."""
    return _first_line(str(peano_folder() / "bin" / "clang++"), "--version") or UNKNOWN


@cache
def python_facts(python: str) -> dict[str, object]:
    """What the harness's Python has: `air`, `pyxrt` (bool), versions of `mlir_aie`, `llvm_aie` (or None)."""
    try:
        return json.loads(_output([python, "-c", _ASK_PYTHON]) or "{}")
    except ValueError:
        return {}


@cache
def mlir_air_commit(root: Path) -> tuple[str, str]:
    """(commit, "clean" or "dirty <digest of the change>"); the files' digest where there is no commit."""
    top = _output(["git", "-C", str(root), "rev-parse", "--show-toplevel", "HEAD"])
    lines = (top or "").split()
    # A checkout unpacked inside of another repository has no commit of its own.
    if len(lines) != 2 or Path(lines[0]).resolve() != root:
        return "no commit", f"files {_files_digest(root)}"
    change = _output(["git", "-C", str(root), "diff", "HEAD"])
    if change is None:
        return lines[1][:_COMMIT_DIGITS], "dirty, and git cannot say how"
    return lines[1][:_COMMIT_DIGITS], f"dirty {_digest(change.encode())}" if change else "clean"


def _files_digest(root: Path) -> str:
    """Digest of the backend and of the harnesses, for a tree that git knows nothing of."""
    adapters = [adapter(kernel) for kernel in harness_kernels() if load_kernel(kernel).npu2]
    places = {f"{EXAMPLES}/{folder}" for each in adapters for folder in each.folders} | {_BACKEND}
    digest = hashlib.sha256()
    for place in sorted(places):
        for file in sorted((root / place).glob("*")):
            if file.is_file():
                digest.update(f"{place}/{file.name}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:_DIGEST_DIGITS]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGEST_DIGITS]


def _first_line(*command: str) -> str | None:
    lines = [line.strip() for line in (_output(command) or "").splitlines()]
    return next(filter(None, lines), None)


def _output(command: Sequence[str]) -> str | None:
    """What `command` prints, or None when it is missing or fails."""
    try:
        finished = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return finished.stdout
