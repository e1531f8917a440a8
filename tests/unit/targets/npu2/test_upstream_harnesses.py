"""What we pass to mlir-air's own Makefiles and scripts, held against them; nothing of theirs is run.

Needs a checkout: MLIR_AIR_ROOT=<mlir-air checkout>.
"""

import argparse
import ast
import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from scripts.cases.case import parse_case
from scripts.cases.kernel_facts import harness_kernels, load_kernel
from scripts.cases.tile_choice import choose_spec, spec_variables
from scripts.targets.npu2.adapter import adapter
from scripts.targets.npu2.checkout import Checkout
from scripts.targets.npu2.commands import PERF_ITERS, HarnessCase

CHECKOUT = os.environ.get("MLIR_AIR_ROOT", "")
pytestmark = pytest.mark.skipif(not CHECKOUT, reason="MLIR_AIR_ROOT is not set: no mlir-air checkout")

GEMM_FLAGS = {
    "m": "M",
    "k": "K",
    "n": "N",
    **{name: name for name in ("tile_m", "tile_k_l2", "tile_k_l1", "tile_n", "herd_m", "herd_n")},
}
FLAT = {"n": "N", "tile_n": "tile_n"}
# case, method asked for, flag of the script -> dim, knob or value
CASES = [
    ("gemm_2048x2048x8192", "fused-cast", {**GEMM_FLAGS, "high_precision": "true", "method": "fused-cast"}),
    ("gemm_256x960x256", "drain", {**GEMM_FLAGS, "high_precision": "true", "method": "drain"}),
    ("gemm_low_256x256x256", None, {**GEMM_FLAGS, "high_precision": "false"}),
    ("gemm_f32_256x2048x256", "external", {**GEMM_FLAGS, "codegen": "external"}),
    ("gemm_f32_256x2048x256", "direct", {**GEMM_FLAGS, "codegen": "direct"}),
    (
        "gemv_2048x8192",
        None,
        {"m": "M", "k": "K", "tile_m": "tile_m", "m_input": "m_input", "herd_m": "herd_m"},
    ),
    ("rmsnorm_2048x2048", None, {"M": "M", "N": "N", "herd_x": "herd_x"}),
    ("layernorm_1024x768", None, {"M": "M", "N": "N", "herd_x": "herd_x"}),
    ("rope_65536x64", None, {"rows": "ROWS", "head_dim": "HEAD_DIM", "herd_x": "herd_x", "herd_y": "herd_y"}),
    ("silu_and_mul_16777216", None, {**FLAT, "herd_x": "herd_x", "herd_y": "herd_y"}),
    ("gelu_4194304", None, {**FLAT, "herd_shape": [8, 2], "target": "npu2"}),
    ("eltwise_add_4194304", None, {"shape": [4194304], "tile": "tile", "herd_shape": [8], "target": "npu2"}),
    (
        "flash_attention_2048x2048_d64x64_h32x8_causal",
        None,
        {
            "lq": "LQ",
            "lk": "LK",
            "dk": "DK",
            "dv": "DV",
            "num_heads": "HQ",
            "num_kv_heads": "HKV",
            **{name: name for name in ("lqp", "lkp", "num_q_tiles", "num_cascade_stages")},
            "num_heads_per_unroll": "num_heads_per_unroll",
            "causal": True,
        },
    ),
    ("flash_attention_2048x2048_d64x64_h32x8_full", None, {"lq": "LQ", "causal": False}),
]


def bound(name: str, method: str | None, folder: Path) -> HarnessCase:
    case = parse_case(name)
    spec = choose_spec(case, [], {"method": method} if method else None)
    return HarnessCase(spec, Checkout(Path(CHECKOUT).resolve(), "/python3"), folder, PERF_ITERS)


def planned_by_make(command: list[str]) -> list[list[str]]:
    """What make would run for `command`, as words; words of a shell `if` stay in their line."""
    environment = {**os.environ, "PEANO_INSTALL_DIR": "/peano", "MLIR_AIE_INSTALL_DIR": "/mlir-aie"}
    finished = subprocess.run(
        [*command, "--dry-run"], capture_output=True, text=True, env=environment, check=False
    )
    assert finished.returncode == 0, finished.stderr
    text = finished.stdout.replace("\\\n", " ")
    return [shlex.split(line) for line in text.splitlines()]


def script_words(command: list[str], script: str) -> list[str]:
    """Flags that the harness's script would be started with."""
    lines = planned_by_make(command) if "make" in command else [command]
    started = [line for line in lines if any(word.endswith(f"/{script}") for word in line)]
    assert len(started) == 1, lines
    words = started[0]
    return words[next(index for index, word in enumerate(words) if word.endswith(f"/{script}")) + 1 :]


def parsed(script: Path, words: list[str]) -> Mapping[str, object]:
    """`words` as the script's own argparse definitions take them; what is not a literal there is left out."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    kinds = {"int": int, "str": str, "float": float}
    for call in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if not (isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "add_argument"):
            continue
        options = {}
        for keyword in call.keywords:
            if keyword.arg == "type":
                options["type"] = kinds[keyword.value.id]
            elif keyword.arg in ("action", "nargs", "choices", "dest", "default"):
                try:
                    options[keyword.arg] = ast.literal_eval(keyword.value)
                except ValueError:
                    continue
        parser.add_argument(*map(ast.literal_eval, call.args), **options)
    return vars(parser.parse_args(words))


@pytest.mark.parametrize(("name", "method", "expected"), CASES)
def test_the_script_gets_the_case(name: str, method: str | None, expected: Mapping, tmp_path: Path) -> None:
    """For the compile, for the run, and where it is a run of its own for the timing."""
    case = bound(name, method, tmp_path)
    script = case.checkout.harness_folder(case.adapter) / case.adapter.script
    known = {**case.spec.case.dims, **case.spec.knobs}
    timing = case.timing_command()
    commands = [case.compile_commands()[-1], case.run_command(), case.plain_command()]
    for command in [*commands, *([timing] if timing else [])]:
        found = parsed(script, script_words(command, script.name))
        for flag, value in expected.items():
            wanted = known[value] if isinstance(value, str) and value in known else value
            assert found[flag] == wanted, (flag, command)
        assert found["perf_iters"] == (
            0 if case.adapter.keeps_state and command is not timing else PERF_ITERS
        )


@pytest.mark.parametrize(("name", "method"), [case[:2] for case in CASES])
def test_objects_are_compiled_once_with_the_macros_of_the_datapath(name, method, tmp_path: Path) -> None:
    """The host target gives upstream's source the same macros; a run under the lock compiles nothing."""
    case = bound(name, method, tmp_path)
    facts = load_kernel(case.spec.case.kernel)
    compiled = [word for command in case.compile_commands() if "make" in command for word in flat(command)]
    macros = dict(re.findall(r"-D(\w+)(?:=([^\s;]+))?", " ".join(compiled)))
    if facts.upstream is not None:
        assert any(word.endswith(Path(facts.upstream.source).name) for word in compiled)
        for macro, formula in facts.upstream.macros.items():
            # A macro without a value is 1.
            assert (macros[macro] or "1") == str(formula(spec_variables(case.spec))), macro
    run = case.run_command()
    if "make" in run:
        assert not any("clang++" in word for word in flat(run))


def flat(command: list[str]) -> list[str]:
    return [word for line in planned_by_make(command) for word in line]


@pytest.mark.parametrize("kernel", harness_kernels())
def test_no_variable_is_one_that_the_makefile_does_not_read(kernel: str) -> None:
    folder = Checkout(Path(CHECKOUT).resolve(), "/python3").harness_folder(adapter(kernel))
    makefile = (folder / "Makefile").read_text(encoding="utf-8")
    names = {*adapter(kernel).plain.variables, *adapter(kernel).timed.variables, "BUILD_DIR"}
    if adapter(kernel).plain.run:
        names.add("PYTHON")
    unread = [name for name in names if not re.search(rf"\$[({{]{name}[)}}]", makefile)]
    assert unread == []
