"""Finding a compiler, and the one line when there is none."""

from pathlib import Path

import pytest

from scripts.errors import InputError
from scripts.targets.compiler import find_compiler
from scripts.targets.toolchain import FLAGS, host_fingerprint, instruction_set

GCC_12 = "g++ (Debian 12.2.0-14+deb12u1) 12.2.0"
CONDA_GCC = "x86_64-conda-linux-gnu-c++ (conda-forge gcc 13.3.0-1) 13.3.0"
GCC_11 = "g++ (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0"
CLANG_15 = "Debian clang version 15.0.6"
CLANG_14 = "Ubuntu clang version 14.0.0-1ubuntu1.1"


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts stand-ins for compilers on a PATH of their own."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)

    def add(name: str, version: str, status: int = 0) -> Path:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\necho '{version}'\nexit {status}\n")
        path.chmod(0o755)
        return path

    return add


@pytest.mark.parametrize("version", [GCC_12, CONDA_GCC, CLANG_15])
def test_a_new_enough_compiler_is_found(tools, version: str) -> None:
    tools("g++", version)
    assert find_compiler().command == ("g++",)
    assert find_compiler().version == version


@pytest.mark.parametrize("version", [GCC_11, CLANG_14, "", "no version at all"])
def test_one_that_is_too_old_is_passed_over(tools, version: str) -> None:
    tools("g++", version)
    tools("clang++", CLANG_15)
    assert find_compiler().command == ("clang++",)


def test_one_that_does_not_start_is_passed_over(tools) -> None:
    tools("g++", GCC_12, status=1)
    with pytest.raises(InputError):
        find_compiler()


def test_none_at_all_names_the_packages(tools) -> None:
    with pytest.raises(InputError) as refusal:
        find_compiler()
    message = str(refusal.value)
    assert "\n" not in message
    for part in ("g++ >= 12", "clang++ >= 15", "Debian", "Fedora: gcc-c++", "conda"):
        assert part in message


def test_cxx_wins_and_may_hold_a_wrapper(tools, monkeypatch: pytest.MonkeyPatch) -> None:
    tools("g++", GCC_12)
    tools("ccache", CLANG_15)
    monkeypatch.setenv("CXX", "ccache clang++")
    assert find_compiler().command == ("ccache", "clang++")


def test_a_cxx_that_cannot_be_used_is_named(tools, monkeypatch: pytest.MonkeyPatch) -> None:
    tools("g++", GCC_12)
    monkeypatch.setenv("CXX", "my-c++")
    with pytest.raises(InputError, match="CXX: 'my-c\\+\\+'"):
        find_compiler()


def test_the_fingerprint_follows_the_compiler_but_not_its_place(tools, tmp_path: Path, monkeypatch) -> None:
    compiler = tools("g++", GCC_12)
    fingerprint = host_fingerprint()
    assert GCC_12 in fingerprint and instruction_set() in fingerprint
    assert str(tmp_path) not in fingerprint
    monkeypatch.setenv("CXX", str(compiler))
    assert host_fingerprint() == fingerprint
    other = tools("other-g++", CONDA_GCC)
    monkeypatch.setenv("CXX", str(other))
    assert host_fingerprint() != fingerprint


def test_no_flag_lets_the_compiler_change_a_rounding() -> None:
    assert not {"-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-ffinite-math-only"} & set(FLAGS)
