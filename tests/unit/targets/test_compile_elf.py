"""The compile step: what is built, and how a build that fails is recorded."""

import json
from pathlib import Path

import pytest

CASE = "toy_copy_1024"
SOURCE = "kernels/toy_copy/toy_copy.cc"


def compiled(project, *options: str, **keywords):
    """Run the step on the toy case; the record it wrote, or None."""
    finished = project.step("compile_elf", CASE, "--output-dir", "build", *options, **keywords)
    record = project.root / "build" / "build.json"
    return finished, json.loads(record.read_text()) if record.exists() else None


def files(project) -> set[str]:
    return {path.name for path in (project.root / "build").iterdir()}


def test_a_sound_build(project) -> None:
    finished, record = compiled(project)
    assert finished.returncode == 0, finished.stderr
    assert (record["status"], record["reason"], record["elf"]) == ("OK", None, "kernel.elf")
    assert (record["case"], record["target"], record["device"]) == (CASE, "host", "host model of AIE2P")
    assert (record["knobs"], record["herd"]) == ({"tile": 64, "herd_x": 8}, [8, 1])
    assert files(project) == {"kernel.elf", "build.json"}
    assert (project.root / "build" / "kernel.elf").read_bytes()[:4] == b"\x7fELF"
    assert "-DTILE=64" in record["command"] and SOURCE in record["command"]
    assert not any(word.startswith("/") for word in record["command"])


def test_the_workflow_s_choice_is_built_as_given(project) -> None:
    options = ("--tile", "tile=32,herd_x=4", "--tile-source", "registry", "--note", "four columns only")
    _, record = compiled(project, *options, "--registry", "no/such/folder")
    assert (record["tile"], record["herd"], record["tiles_used"]) == ({"tile": 32}, [4, 1], 4)
    assert (record["tile_source"], record["note"]) == ("registry", "four columns only")


def test_a_tile_that_breaks_a_wall_is_recorded_with_both_sides(project) -> None:
    compiled(project)  # leaves an ELF, which must not outlive the wall
    finished, record = compiled(project, "--tile", "tile=96,herd_x=8")
    assert finished.returncode == 0
    assert record["status"] == "COMPILE_WALL"
    for part in ("N divisible", "N % (tile * herd_x) = 256 must be == 0", "nearest legal tile"):
        assert part in record["reason"]
    assert record["tile"] == {"tile": 96}
    assert (record["elf"], record["elf_sha256"]) == (None, None)
    assert files(project) == {"build.json"}


def test_a_compiler_s_error_is_recorded_with_its_line(project) -> None:
    project.replace(SOURCE, "// BEFORE THE COPY", "no_such_function();")
    finished, record = compiled(project)
    assert finished.returncode == 0
    assert record["status"] == "COMPILE_ERROR"
    assert "toy_copy.cc" in record["reason"] and "no_such_function" in record["reason"]
    assert "no_such_function" in finished.stderr
    assert files(project) == {"build.json"}


def test_a_compiler_that_takes_too_long(project, tmp_path: Path) -> None:
    slow = tmp_path / "slow-g++"
    slow.write_text('#!/bin/sh\n[ "$1" = --version ] && exec g++ --version\nsleep 60\n')
    slow.chmod(0o755)
    finished, record = compiled(project, "--time-limit", "0.5", environment={"CXX": str(slow)})
    assert finished.returncode == 0
    assert (record["status"], record["elf"]) == ("TIMEOUT", None)
    assert "0.5 s" in record["reason"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--tile", "tile=64,color=3"), "color"),
        (("--tile", "tile=many"), "tile=many"),
        (("--tile", "tile=0"), "tile=0"),
        (("--tile", "tile"), "knob=value"),
        (("--method", "drain"), "drain"),
        (("--target", "moon"), "known targets: host"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(project, options, message: str) -> None:
    finished, record = compiled(project, *options)
    assert finished.returncode == 2
    assert record is None
    assert len(finished.stderr.splitlines()) == 1 and message in finished.stderr


@pytest.mark.parametrize("case", ["toy_copy_12x", "nokernel_1", "gemv_add_8x8"])
def test_an_unknown_case_is_refused(project, case: str) -> None:
    finished = project.step("compile_elf", case, "--output-dir", "build")
    assert finished.returncode == 2
    assert len(finished.stderr.splitlines()) == 1 and case.split("_")[0] in finished.stderr


def test_a_missing_compiler_is_refused(project) -> None:
    finished, record = compiled(project, environment={"CXX": "no-such-compiler"})
    assert finished.returncode == 2
    assert record is None
    assert finished.stderr.startswith("error: CXX: 'no-such-compiler'")
