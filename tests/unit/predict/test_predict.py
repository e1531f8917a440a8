"""The predict command: its answers on small shapes, and that it leaves nothing behind."""

import json
import re
from pathlib import Path

import pytest

from scripts.precision.harness_log import parse_attempt
from scripts.targets.host_device import FAILED

SMALL = ("gemm", "128x64x64")


@pytest.fixture(scope="module")
def copy(project_copy, tmp_path_factory: pytest.TempPathFactory):
    """A copy of the project that all of these tests may ask."""
    return project_copy(tmp_path_factory.mktemp("predict") / "project")


def answer(copy, *arguments: str) -> dict:
    """The answer to a question, as JSON."""
    finished = copy.step("predict", *arguments, "--json")
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


def test_the_figures_are_those_of_the_build_and_run_steps(copy, tmp_path: Path) -> None:
    predicted = answer(copy, *SMALL)
    figures = predicted["predictions"]["as the kernel sets it"]
    copy.step("compile_elf", "gemm_128x64x64", "--output-dir", "build")
    ran = copy.step("targets.host_device", "build/kernel.elf", "gemm_128x64x64")
    log = parse_attempt(ran.stdout.splitlines(), ran.returncode)
    assert f"{figures['mean_rel_L1']:.3e}" == f"{log.precision[0].mean_rel_L1:.3e}"
    assert f"{figures['abs_err_max']:.3e}" == f"{log.precision[0].abs_err_max:.3e}"
    assert figures["mismatches"] == (log.mismatches or 0)
    assert (figures["verdict"] == "FAIL") == (ran.returncode == FAILED)
    assert predicted["evidence"] == "simulated"


def test_the_smallest_atol_turns_the_verdict(copy) -> None:
    def verdict(atol: float) -> dict:
        return answer(copy, *SMALL, "--atol", repr(atol))["predictions"]["as the kernel sets it"]

    strict = verdict(0.0)
    assert (strict["verdict"], strict["atol"]) == ("FAIL", 0.0)
    smallest = strict["smallest_atol"]
    enough = verdict(smallest)
    assert enough["verdict"] == "PASS" and enough["margin"] <= 1
    assert verdict(smallest * 0.99)["verdict"] == "FAIL"


def test_rounding_to_nearest_even_is_what_drain_does_and_floor_costs(copy) -> None:
    own, floor = answer(copy, *SMALL, "--method", "drain", "--rounding", "floor")["predictions"].values()
    own_again, even = answer(copy, *SMALL, "--method", "drain", "--rounding", "conv_even")[
        "predictions"
    ].values()
    assert own == own_again == even
    assert floor["mean_rel_L1"] > own["mean_rel_L1"]


def test_every_narrowing_follows_the_forced_rounding(copy) -> None:
    """RMSNorm floors where no kernel sets a mode: the vector unit, the scalar unit and the store."""
    own, even = answer(copy, "rmsnorm", "8x128", "--rounding", "conv_even")["predictions"].values()
    _, floor = answer(copy, "rmsnorm", "8x128", "--rounding", "floor")["predictions"].values()
    assert floor == own
    assert even["mean_rel_L1"] < own["mean_rel_L1"] / 1.5


def test_a_wall_is_an_answer(copy) -> None:
    wall = answer(copy, *SMALL, "--tile", "16/64/32/128")
    assert (wall["legal"], wall["predictions"], wall["herd"]) == (False, {}, [8, 4])
    assert (wall["wall"]["constraint"], wall["wall"]["left_value"]) == ("N divisible", 64)
    assert wall["wall"]["nearest_legal"] == "16/64/32/16 herd 8x4"
    shown = copy.step("predict", *SMALL, "--tile", "16/64/32/128")
    assert shown.returncode == 0
    assert "no: N divisible: N % (tile_n * herd_n) = 64 must be == 0" in shown.stdout
    assert "rounding" not in shown.stdout


def test_a_sweep_for_people(copy) -> None:
    shown = copy.step("predict", "gemm_low", "128x64x64", "--sweep", "--top", "2")
    assert shown.returncode == 0, shown.stderr
    assert re.search(r"^\d+ legal tiles, the first 2:$", shown.stdout, re.MULTILINE)
    assert re.search(r"^1 +16/\S+ +8x4 +32 of 32", shown.stdout, re.MULTILINE)
    assert "(first of the ranking)" in shown.stdout
    assert "tile_k_l1 is part of the arithmetic" in shown.stdout
    assert "smallest atol that passes at rtol 0.016" in shown.stdout


def test_a_sweep_for_machines(copy) -> None:
    swept = answer(copy, "rmsnorm", "8x64", "--sweep", "--top", "3")
    assert [tile["herd"] for tile in swept["ranking"]] == [[8, 1], [4, 1], [2, 1]]
    assert (swept["legal_tiles"], swept["knobs"]) == (4, {"herd_x": 8})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gemm", "5x5"), "shape '5x5' of gemm is not"),
        (("nothing", "5x5"), "no such kernel"),
        ((*SMALL, "--tile", "64/32"), "tile_m/tile_k_l2/tile_k_l1/tile_n"),
        ((*SMALL, "--tile", "tile_q=4"), "no tile parameter 'tile_q'"),
        ((*SMALL, "--method", "slow"), "method 'slow' is unknown"),
        ((*SMALL, "--rtol", "-1"), "--rtol: found '-1'"),
        ((*SMALL, "--atol", "nan"), "--atol: found 'nan'"),
        ((*SMALL, "--rounding", "up"), "invalid choice: 'up'"),
        ((*SMALL, "--top", "0"), "--top: found '0'"),
        (("gemv_add", "512x512"), "gemv_add has no harness"),
        (("gemm", "7x7x7"), "no legal tile fits this shape"),
        ((), "the following arguments are required"),
    ],
)
def test_bad_input_is_one_line(copy, arguments: tuple[str, ...], message: str) -> None:
    refused = copy.step("predict", *arguments)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("error: ") and refused.stderr.count("\n") == 1
    assert message in refused.stderr


def test_a_kernel_that_does_not_compile_is_one_line(project) -> None:
    project.append("kernels/toy_copy/toy_copy.cc", "no_such_type broken;\n")
    refused = project.step("predict", "toy_copy", "1024")
    assert refused.returncode == 2
    assert "toy_copy_1024: COMPILE_ERROR:" in refused.stderr.splitlines()[-1]


def test_nothing_is_written(project) -> None:
    def files() -> dict[Path, bytes]:
        return {p: p.read_bytes() for p in project.root.rglob("*") if p.is_file() and p.suffix != ".pyc"}

    before = files()
    assert project.step("predict", "toy_copy", "1024", "--sweep").returncode == 0
    assert files() == before
