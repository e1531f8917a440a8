"""The search for a legal tile, against an exhaustive one."""

from itertools import product
from math import isclose, log, prod

import pytest

from scripts.cases.case import Case, parse_case
from scripts.cases.kernel_facts import KernelFacts, load_kernel
from scripts.cases.legal_tiles import herd_extent, knob_values, method_flags, nearest_legal, unmet_constraints
from scripts.cases.walls import broken_constraints


def _legal(case: Case, facts: KernelFacts, fixed: dict[str, int]) -> list[dict[str, int]]:
    """Every legal assignment, by trying all of them."""
    names = [knob.name for knob in facts.knobs]
    values = product(*(knob_values(knob, case.dims) for knob in facts.knobs))
    assignments = (dict(zip(names, each, strict=True)) for each in values)
    return [each for each in assignments if not broken_constraints(facts, {**fixed, **each})]


def _cost(knobs: dict[str, int], wanted: dict[str, int]) -> float:
    return sum(log(value / wanted[name]) ** 2 for name, value in knobs.items())


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("gemm_64x48x720", "drain"),
        ("gemm_low_192x64x64", "direct"),
        ("gemv_896x4864", None),
        ("gemv_24x2048", None),
        ("rope_14x64", None),
        ("silu_and_mul_8400", None),
        ("gelu_245760", None),
        ("flash_attention_192x512_d64x64_h9x3_causal", None),
    ],
)
def test_nothing_legal_is_nearer(name: str, method: str | None) -> None:
    case = parse_case(name)
    facts = load_kernel(case.kernel)
    fixed = {**case.dims, **method_flags(facts, method)}
    wanted = {knob.name: knob.default for knob in facts.knobs}
    found = nearest_legal(facts, fixed, wanted)
    legal = _legal(case, facts, fixed)

    def tiles(knobs: dict[str, int]) -> int:
        return min(prod(herd_extent(facts, knobs)), prod(facts.herd.target))

    most = max(map(tiles, legal))
    fullest = [each for each in legal if tiles(each) == most]
    assert found in fullest
    assert isclose(_cost(found, wanted), min(_cost(each, wanted) for each in fullest), abs_tol=1e-12)


def test_a_herd_that_was_asked_for_is_kept_where_it_can_be() -> None:
    facts, dims = load_kernel("rope"), {"ROWS": 64, "HEAD_DIM": 64}
    assert nearest_legal(facts, dims, {"herd_x": 4, "herd_y": 1}, keep_herd=True) == {
        "herd_x": 4,
        "herd_y": 1,
    }
    assert nearest_legal(facts, dims, {"herd_x": 7, "herd_y": 1}, keep_herd=True) == {
        "herd_x": 8,
        "herd_y": 1,
    }


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("gemm_100x512x512", ["M divisible"]),
        ("silu_and_mul_100", ["N divisible"]),
        ("gemv_64x2000", ["K granularity"]),
        ("rmsnorm_8x16384", ["L1"]),
        ("flash_attention_512x512_d80x64_h9x2_full", ["DK divisible", "GQA groups"]),
    ],
)
def test_unmet_constraints_are_named(name: str, names: list[str]) -> None:
    case = parse_case(name)
    facts = load_kernel(case.kernel)
    fixed = {**case.dims, **method_flags(facts, facts.methods[0].name if facts.methods else None)}
    wanted = {knob.name: knob.default for knob in facts.knobs}
    assert nearest_legal(facts, fixed, wanted) is None
    assert [constraint.name for constraint in unmet_constraints(facts, fixed)] == names


def test_constraints_that_only_clash_together_are_named() -> None:
    """No constraint is out of reach by itself: one row in L1 does not fit beside a whole K of 2^15."""
    case = parse_case("gemv_16x20480")
    facts = load_kernel("gemv")
    names = {constraint.name for constraint in unmet_constraints(facts, case.dims)}
    assert "L1" in names
    assert nearest_legal(facts, case.dims, {knob.name: knob.default for knob in facts.knobs}) is None
