"""kernel.yaml files: that they are all well-formed, and that a malformed one is refused by name."""

from pathlib import Path

import pytest
import yaml

from scripts.cases import kernel_reader
from scripts.cases.case import parse_case
from scripts.cases.kernel_facts import KERNELS_ROOT, harness_kernels, kernel_names, load_kernel
from scripts.cases.kernel_reader import read_facts
from scripts.cases.tile_choice import choose_spec, spec_variables
from scripts.errors import InputError

SMALL = {
    "eltwise_add": "16384",
    "flash_attention": "512x512_d64x64_h2x2_full",
    "gelu": "65536",
    "gemm": "512x512x512",
    "gemm_f32": "512x512x512",
    "gemm_low": "512x512x512",
    "gemv": "512x2048",
    "layernorm": "64x768",
    "rmsnorm": "64x896",
    "rope": "64x64",
    "silu_and_mul": "65536",
}


def test_a_small_shape_is_known_for_each_harness_kernel() -> None:
    assert sorted(SMALL) == harness_kernels()


@pytest.mark.parametrize("kernel", sorted(SMALL))
def test_every_formula_has_its_variables(kernel: str) -> None:
    facts = load_kernel(kernel)
    spec = choose_spec(parse_case(f"{kernel}_{SMALL[kernel]}"), [])
    variables = spec_variables(spec)
    method = [each for each in facts.methods if each.name == spec.method]
    macros = {**facts.macros, **(method[0].macros if method else {})}
    numbers = {**facts.inputs, **variables}
    assert all(isinstance(formula(numbers), int | float) for formula in macros.values())
    assert all(isinstance(formula(spec.case.dims), int) for formula in facts.output_shape)
    assert all(formula(variables) > 0 for formula in (facts.flops, facts.bytes) if formula)
    assert facts.tier <= facts.rtol * 4


@pytest.mark.parametrize("kernel", sorted(SMALL))
def test_sources_lie_inside_the_kernels_folder(kernel: str) -> None:
    sources = load_kernel(kernel).sources
    assert sources
    assert all(source.is_absolute() and KERNELS_ROOT in source.parents for source in sources)


def test_unknown_kernel_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'gemmm': unknown; known kernels: bias_add, .*silu_and_mul"):
        load_kernel("gemmm")
    assert "gemm" in kernel_names()


def _broken_copy(root: Path, change: dict[str, object]) -> Path:
    folder = root / "rmsnorm"
    folder.mkdir()
    facts = yaml.safe_load((KERNELS_ROOT / "rmsnorm" / "kernel.yaml").read_text(encoding="utf-8"))
    (folder / "kernel.yaml").write_text(yaml.safe_dump({**facts, **change}), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"kernel": "layernorm"}, "the folder's name is needed"),
        ({"signal": "guess"}, "'harness' or 'diagnosis' is needed"),
        ({"title": None}, "field 'title' is missing"),
        (
            {"tolerance": {"rtol": "wide", "atol": 1.0}},
            "tolerance: field 'rtol' is 'wide'; a number is needed",
        ),
        ({"tolerance": 1}, "field 'tolerance' is 1; a mapping is needed"),
        ({"macros": {"NORM_M": "M * tile"}}, "macros: NORM_M uses unknown tile"),
        ({"macros": {"NORM_M": "M("}}, "not an expression"),
        ({"sources": ["../../setup.cc"]}, "lies outside of kernels/"),
        ({"herd": {"extent": ["herd_x"], "target": [8, 1]}}, "extent and target must be"),
        (
            {"knobs": {"herd_x": {"default": 8, "unit": "columns"}}},
            "exactly one of candidates, range, divides",
        ),
        (
            {"constraints": [{"name": "a", "left": "M", "relation": "~", "right": "0", "says": "b"}]},
            "relation '~'",
        ),
    ],
)
def test_malformed_facts_are_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, object], complaint: str
) -> None:
    monkeypatch.setattr(kernel_reader, "KERNELS_ROOT", tmp_path)
    with pytest.raises(InputError) as refusal:
        read_facts(_broken_copy(tmp_path, change))
    assert complaint in str(refusal.value)


def test_the_copy_without_a_change_is_well_formed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_reader, "KERNELS_ROOT", tmp_path)
    assert read_facts(_broken_copy(tmp_path, {})).atol == 5e-2


def test_a_number_without_a_point_is_a_number() -> None:
    """YAML 1.1 reads 5e-2 and 1e-5 as text."""
    facts = load_kernel("rmsnorm")
    assert (facts.atol, facts.inputs["eps"]) == (0.05, 1e-5)


def test_not_yaml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kernel.yaml").write_text("a: [", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read"):
        read_facts(tmp_path)
