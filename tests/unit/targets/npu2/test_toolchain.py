"""What makes a verdict of the device stale: mlir-air's commit and changes, mlir-aie, Peano."""

import subprocess
from pathlib import Path

import pytest

from scripts.errors import InputError
from scripts.targets.npu2.checkout import Checkout
from scripts.targets.npu2.toolchain import fingerprint, mlir_air_commit, peano_folder, toolchain_versions

STAND_IN = Path(__file__).resolve().parents[3] / "fixtures" / "npu2_stand_in"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A git checkout with one harness file in it."""
    folder = tmp_path / "programming_examples" / "gelu"
    folder.mkdir(parents=True)
    (folder / "gelu.py").write_text("print('gelu')\n")
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first"],
    ):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    return tmp_path


def state(root: Path) -> tuple[str, str]:
    return mlir_air_commit.__wrapped__(root)


def test_a_change_to_the_checkout_is_seen_and_told_from_another_one(checkout: Path) -> None:
    commit, clean = state(checkout)
    assert len(commit) == 12 and clean == "clean"
    (checkout / "programming_examples" / "gelu" / "build_peano").mkdir()
    assert state(checkout) == (commit, "clean")  # what a build leaves is no change of the source
    harness = checkout / "programming_examples" / "gelu" / "gelu.py"
    harness.write_text("print('other')\n")
    first = state(checkout)
    harness.write_text("print('another')\n")
    assert first[1].startswith("dirty ") and state(checkout)[1].startswith("dirty ")
    assert first != state(checkout)


def test_a_tree_without_a_commit_goes_by_its_files(checkout: Path) -> None:
    (checkout / ".git").rename(checkout / "git")
    commit, files = state(checkout)
    assert commit == "no commit" and files.startswith("files ")
    (checkout / "programming_examples" / "gelu" / "gelu.py").write_text("print('other')\n")
    assert state(checkout)[1] != files


def test_a_fingerprint_has_every_version_and_no_path(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEANO_INSTALL_DIR", str(STAND_IN / "peano"))
    text = fingerprint(toolchain_versions(Checkout(checkout, "/usr/bin/python3")))
    assert "stand-in clang 1.0" in text and state(checkout)[0] in text and "clean" in text
    assert str(checkout) not in text and str(STAND_IN) not in text


def test_peano_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PEANO_INSTALL_DIR", raising=False)
    with pytest.raises(InputError, match="PEANO_INSTALL_DIR: not set"):
        peano_folder()
    monkeypatch.setenv("PEANO_INSTALL_DIR", str(tmp_path))
    with pytest.raises(InputError, match=r"has no bin/clang\+\+"):
        peano_folder()
