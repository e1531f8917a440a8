"""Registries as mlir-air keeps them, to write into: a stand-in of our own, and copies of the real files."""

import shutil
from collections.abc import Callable, Mapping
from difflib import unified_diff
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[4]
STAND_IN = PROJECT / "tests" / "fixtures" / "kernel_registry"
REAL = PROJECT.parent / "shared" / "upstream" / "kernel_registry"
NOT_HERE = "mlir-air's registry is not beside this checkout (../shared/upstream/kernel_registry)"


def copied(source: Path, target: Path) -> Path:
    """A copy that may be written, whatever the modes of the original."""
    for path in sorted(source.rglob("*")):
        if path.is_file():
            (target / path.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / path.relative_to(source))
    return target


@pytest.fixture(params=["stand-in", "mlir-air"])
def registry(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of each of the two registries."""
    if request.param == "mlir-air" and not REAL.is_dir():
        pytest.skip(NOT_HERE)
    return copied(REAL if request.param == "mlir-air" else STAND_IN, tmp_path / "kernel_registry")


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """A copy of the stand-in."""
    return copied(STAND_IN, tmp_path / "kernel_registry")


@pytest.fixture
def real_registry() -> Path:
    """The real files, for reading."""
    if not REAL.is_dir():
        pytest.skip(NOT_HERE)
    return REAL


@pytest.fixture
def contents() -> Callable[[Path], dict[str, bytes]]:
    """Every file below a folder, name -> bytes."""

    def read(root: Path) -> dict[str, bytes]:
        return {
            path.relative_to(root).as_posix(): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }

    return read


@pytest.fixture
def changes() -> Callable[[Mapping[str, bytes], Mapping[str, bytes]], dict[str, tuple[list[str], list[str]]]]:
    """What changed: file -> (lines that went, lines that came). Each line keeps its end."""

    def compare(
        before: Mapping[str, bytes], after: Mapping[str, bytes]
    ) -> dict[str, tuple[list[str], list[str]]]:
        assert before.keys() == after.keys()
        found = {}
        for name in before:
            if before[name] != after[name]:
                old, new = (text[name].decode().splitlines(keepends=True) for text in (before, after))
                lines = list(unified_diff(old, new, n=0))[2:]
                found[name] = tuple([line[1:] for line in lines if line[0] == sign] for sign in "-+")
        return found

    return compare
