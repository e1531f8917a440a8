"""Lookups: the best measured configuration, or a refusal."""

import subprocess
import sys

import pytest

from scripts.errors import InputError
from scripts.registry import UnmeasuredShape, kernel_config
from scripts.registry.store import append


@pytest.mark.parametrize(
    "contract, method, gflops, mean",
    [
        ({}, "fused-cast", 6215, 0.0097),
        ({"output_dtype": "bf16", "precision": "high"}, "fused-cast", 6215, 0.0097),
        ({"output_dtype": "bf16", "precision": "low"}, "direct", 5230, 0.013),
        ({"output_dtype": "f32"}, "external", 8508, 0.0093),
    ],
)
def test_the_contract_chooses_the_table(contract, method, gflops, mean):
    config = kernel_config("gemm", M=2048, K=2048, N=2048, **contract)
    tile = {"tile_m": 64, "tile_k_l2": 512, "tile_k_l1": 32, "tile_n": 128}
    assert config == {"method": method, "tile": tile, "herd": [8, 4], "gflops": gflops, "mean_rel_L1": mean}


def test_the_registry_wins_over_the_rule_of_thumb():
    # 2048x2048x512 is below the cross-over of the methods; drain measured faster.
    assert kernel_config("gemm", M=2048, K=2048, N=512)["method"] == "drain"
    assert kernel_config("gemm", M=64, K=960, N=720)["herd"] == [4, 3]


def test_other_kernels():
    assert kernel_config("gemv", M=2048, K=11008)["tile"] == {"tile_m": 2, "m_input": 1}
    shape = {"LQ": 2048, "LK": 2048, "DK": 64, "DV": 64, "HQ": 32, "HKV": 8}
    assert kernel_config("flash_attention", mask="causal", **shape)["mean_rel_L1"] == 0.039
    config = kernel_config("rmsnorm", M=2048, N=2048)
    assert config == {"method": None, "tile": {}, "herd": [8, 1], "gflops": None, "mean_rel_L1": 0.0042}


def test_an_unmeasured_shape_says_what_to_run():
    with pytest.raises(KeyError) as raised:
        kernel_config("gemm", M=2048, K=2048, N=2049)
    assert isinstance(raised.value, UnmeasuredShape)
    message = str(raised.value)
    assert message.startswith("gemm 2048x2048x2049: no measured row")
    assert "snakemake --cores 1 results/gemm_2048x2048x2049.verdict" in message


def test_a_shape_measured_without_timing_has_no_best():
    with pytest.raises(UnmeasuredShape):
        kernel_config("gemm", M=256, K=64, N=256)


def test_simulated_rows_are_no_measurement(working_copy, make_row):
    append(working_copy, "gemm", make_row())
    with pytest.raises(UnmeasuredShape):
        kernel_config("gemm", root=working_copy, M=512, K=512, N=512)
    append(working_copy, "gemm", make_row("hardware", gflops=1700))
    assert kernel_config("gemm", root=working_copy, M=512, K=512, N=512)["gflops"] == 1700


@pytest.mark.parametrize(
    "kernel, facts, complaint",
    [
        ("warp", {"M": 1}, "unknown; known kernels"),
        ("gemm", {"M": 1, "K": 1}, "dims M, K given; M, K, N needed"),
        (
            "gemm",
            {"M": 1, "K": 1, "N": 1, "output_dtype": "f32", "precision": "low"},
            "allowed: bf16 high, bf16 low",
        ),
        ("gemm", {"M": 1, "K": 1, "N": 1, "output_dtype": "int8"}, "output_dtype int8"),
        ("gemv", {"M": 1, "K": 1, "output_dtype": "f32"}, "gemv: output_dtype f32, .*allowed: bf16, high"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(kernel, facts, complaint):
    with pytest.raises(InputError, match=complaint):
        kernel_config(kernel, **facts)


def _registry(*arguments):
    command = [sys.executable, "-m", "scripts.registry", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_command_line():
    found = _registry("lookup", "gemm", "M=2048", "K=2048", "N=2048", "precision=high", "output_dtype=bf16")
    assert found.returncode == 0 and '"method": "fused-cast"' in found.stdout


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        (("lookup", "gemm", "M=1", "K=1", "N=1"), "gemm 1x1x1: no measured row"),
        (("lookup", "gemm", "M"), "'M': allowed: a dim or contract as NAME=VALUE"),
        (("check", "no/such/folder"), "no such registry folder"),
        (("seed", "no/such.csv", "--root", "no/such/folder"), "no/such.csv: cannot be read"),
    ],
)
def test_command_line_refuses_in_one_line(arguments, complaint):
    refused = _registry(*arguments)
    assert refused.returncode == 2 and refused.stdout == ""
    assert refused.stderr.startswith("error: ") and refused.stderr.count("\n") == 1
    assert complaint in refused.stderr


def test_check_exits_1_when_it_found_something(working_copy, make_row):
    append(working_copy, "gemm", make_row(shape="512"))
    found = _registry("check", str(working_copy))
    assert found.returncode == 1 and "shape '512'" in found.stdout and found.stderr == ""


def test_reading_the_registry_is_light():
    code = """
import sys
from scripts.registry import kernel_config, load_rows
from scripts.registry.roots import SHARED_REGISTRY
load_rows(SHARED_REGISTRY, "gemm")
sys.exit(sorted({"pandas", "numpy", "tabulate", "yaml"} & set(sys.modules)) or 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
