"""The step `preflight` on the command line."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.limits.launches import launch_limits
from scripts.limits.table import read_table
from scripts.models.config import load_config
from scripts.preflight import tile_overrides

ROOT = Path(__file__).resolve().parents[3]
LLAMA = "config/models/llama-3.2-1b.json"
APART = "O, Gate/Up and Down as GEMVs of their own"
WIDE = "tests/fixtures/models/qwen2.5-7b.json"


def _preflight(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scripts.preflight", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def test_writes_a_table_and_says_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "plan" / "llama.walls.tsv"
    done = _preflight(LLAMA, "--output", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    found = read_table(path)
    of_cases = [each for each in found if each.severity != "launch"]
    assert len({each.case for each in of_cases}) == 19
    assert done.stdout.startswith(f"{path}: 19 cases, {len(of_cases)} limits: ")


@pytest.mark.parametrize(
    ("model", "broken"),
    [
        (LLAMA, {"LM head": ("128256", "8 partitions of 16384")}),
        (
            "config/models/qwen2.5-0.5b.json",
            {
                "hidden_size alignment": ("384", APART),
                "q_dim alignment": ("384", APART),
                "intermediate_size alignment": ("256", APART),
                "LM head": ("151936", "10 partitions of 16384"),
            },
        ),
        ("tests/fixtures/models/tinyllama-1.1b.json", {}),
        (
            "tests/fixtures/models/qwen3-4b.json",
            {"hidden size": ("2560", APART), "LM head": ("151936", "10 partitions of 16384")},
        ),
    ],
)
def test_limits_of_one_launch_decide_which_kernels_are_called(model: str, broken: dict) -> None:
    found = launch_limits(load_config(ROOT / model))
    assert len(found) == 5
    assert {each.constraint: (each.value, each.remedy) for each in found if each.outcome != "ok"} == broken


def test_prints_the_walls_of_a_model_that_cannot_be_built() -> None:
    done = _preflight(WIDE)
    assert done.returncode == 0
    (line,) = [line.split("\t") for line in done.stdout.splitlines() if "no legal tile" in line]
    assert line[:2] == ["gemv_3584x18944", "L1"]


def test_a_tile_of_ones_own_is_what_is_checked() -> None:
    own = "gemm_2048x2048x8192:tile_k_l2=512,method=fused-cast"
    lines = [line.split("\t") for line in _preflight(LLAMA, "--tiles", own).stdout.splitlines()]
    (stride,) = [line for line in lines if line[:2] == ["gemm_2048x2048x8192", "stride"]]
    assert stride[4:7] == [str(512 * 8192), "<= 1048576", "hint"]


def test_overrides_as_the_rule_gives_them() -> None:
    texts = ["gemm_1x2x3:tile_m=32,method=drain,herd_m=8", "gelu_64:tile_n=16"]
    assert tile_overrides(texts) == {
        "gemm_1x2x3": {"method": "drain", "tile_m": 32, "herd_m": 8},
        "gelu_64": {"tile_n": 16},
    }


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((LLAMA, "--seq-len", "0"), "--seq-len: found 0"),
        (("absent.json",), "absent.json: no such file"),
        ((LLAMA, "--tiles", "gemm_2048x2048x512:tile_m"), "knob=value is needed"),
        ((LLAMA, "--tiles", "gemm_2048x2048x512:tile_m=64"), "L1: "),
        ((LLAMA, "--tiles", "gemm_2048x2048x512:tile_q=64"), "no tile parameter 'tile_q'"),
    ],
)
def test_refuses_in_one_line(arguments: tuple[str, ...], complaint: str) -> None:
    done = _preflight(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ") and complaint in done.stderr and done.stderr.count("\n") == 1
