"""How harnesses are called: every kernel's adapter can be read, and a malformed one is one clear line."""

import dataclasses
from pathlib import Path

import pytest

from scripts.cases.case import parse_case
from scripts.cases.kernel_facts import harness_kernels, load_kernel
from scripts.cases.tile_choice import choose_spec
from scripts.errors import InputError
from scripts.targets.npu2 import adapter as module
from scripts.targets.npu2.adapter import adapter
from scripts.targets.npu2.checkout import Checkout, open_checkout, plain_path
from scripts.targets.npu2.commands import HarnessCase, labelled

STAND_IN = Path(__file__).resolve().parents[3] / "fixtures" / "npu2_stand_in"
ATTENTION = "flash_attention_512x512_d64x64_h2x2_{}"


def bound(name: str, folder: Path, method: str | None = None) -> HarnessCase:
    spec = choose_spec(parse_case(name), [], {"method": method} if method else None)
    return HarnessCase(spec, Checkout(STAND_IN, "/usr/bin/python3"), folder, 20)


@pytest.mark.parametrize("kernel", harness_kernels())
def test_every_kernel_with_a_harness_has_an_adapter(kernel: str) -> None:
    found = adapter(kernel)
    assert found.folders and found.script.endswith(".py")
    if found.plain.run is None:
        assert found.plain.flags and len(found.timed.flags) > len(found.plain.flags)
    else:
        assert found.plain.variables and not found.plain.flags
        assert (found.timed.variables, found.timed.run) != (found.plain.variables, found.plain.run)


def test_only_a_kernel_that_keeps_state_is_timed_apart() -> None:
    assert [kernel for kernel in harness_kernels() if adapter(kernel).keeps_state] == ["flash_attention"]


def test_a_part_is_left_out_unless_its_formula_holds(tmp_path: Path) -> None:
    for mask, causal in (("causal", True), ("full", False)):
        words = " ".join(bound(ATTENTION.format(mask), tmp_path).run_command())
        assert ("--causal" in words) == causal
        assert "--num-q-tiles 4" in words and "--perf-iters" not in words
        assert "--perf-iters 20" in " ".join(bound(ATTENTION.format(mask), tmp_path).timing_command())


def test_the_method_is_passed_as_the_harness_calls_it(tmp_path: Path) -> None:
    assert "METHOD=drain" in bound("gemm_256x256x256", tmp_path, "drain").run_command()
    assert "METHOD=fused-cast" in bound("gemm_256x256x256", tmp_path, "fused-cast").run_command()


def test_a_build_folder_is_the_case_s_own(tmp_path: Path) -> None:
    """Two shapes that are built at once in one folder overwrite each other."""
    first, second = bound("gemm_256x256x256", tmp_path / "1"), bound("gemm_256x256x512", tmp_path / "2")
    assert f"BUILD_DIR={tmp_path}/1/harness" in first.compile_commands()[-1]
    assert f"BUILD_DIR={tmp_path}/2/harness" in second.compile_commands()[-1]


def test_a_record_holds_no_folder_of_this_machine(tmp_path: Path) -> None:
    case = bound("gemm_256x256x256", tmp_path)
    text = labelled(case.plain_command(), case.checkout)
    assert "-C $MLIR_AIR_ROOT/programming_examples/" in text and "PYTHON=python3" in text
    assert str(STAND_IN) not in text


@pytest.mark.parametrize(
    ("section", "complaint"),
    [
        ({}, "missing; kernels that the npu2 target can run: .*gemm"),
        ({"folders": ["gelu"], "script": "gelu.py", "nonsense": 1}, "unknown key nonsense; allowed: folders"),
        ({"folders": ["gelu"]}, "malformed: 'script'"),
        ({"folders": ["gelu"], "script": "gelu.py", "flags": ["{tile_q}"]}, "uses tile_q; known: "),
    ],
)
def test_a_malformed_adapter_is_refused(section, complaint, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = dataclasses.replace(load_kernel("gelu"), npu2=section)
    monkeypatch.setattr(module, "load_kernel", lambda name: facts if name == "gelu" else load_kernel(name))
    with pytest.raises(InputError, match=complaint):
        adapter.__wrapped__("gelu")


def test_a_checkout_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLIR_AIR_ROOT", raising=False)
    with pytest.raises(InputError, match="mlir_air: not set"):
        open_checkout(None)
    with pytest.raises(InputError, match="holds no programming_examples/"):
        open_checkout(tmp_path)
    with pytest.raises(InputError, match=r"no gelu.py for gelu; tried: programming_examples/gelu"):
        Checkout(STAND_IN, "python3").harness_folder(adapter("gelu"))


def test_an_older_place_of_a_harness_is_found(tmp_path: Path) -> None:
    place = tmp_path / "programming_examples" / "llms" / "llama_kernel_builder" / "silu_and_mul"
    place.mkdir(parents=True)
    (place / "silu_and_mul.py").touch()
    assert Checkout(tmp_path, "python3").harness_folder(adapter("silu_and_mul")) == place


def test_a_makefile_that_cannot_time_is_run_without_timing(tmp_path: Path) -> None:
    folder = tmp_path / "programming_examples" / "rope_halfsplit"
    folder.mkdir(parents=True)
    (folder / "rope_halfsplit.py").touch()
    spec = choose_spec(parse_case("rope_64x64"), [])
    for rules, goal in (("run: compile-kernel\nprofile: compile-kernel\n", "profile"), ("run:\n", "run")):
        (folder / "Makefile").write_text(rules)
        command = HarnessCase(spec, Checkout(tmp_path, "python3"), tmp_path / "build", 20).run_command()
        assert goal in command and ("ITERATIONS=20" in command) == (goal == "profile")


def test_a_path_that_make_would_not_take_is_refused() -> None:
    with pytest.raises(InputError, match="characters that make does not take"):
        plain_path(Path("/home/my project"), "mlir_air")
