"""The choice of a tile."""

from typing import Any

import pytest

from scripts.cases.case import parse_case
from scripts.cases.tile_choice import CaseSpec, IllegalTile, choose_spec, spec_variables
from scripts.errors import InputError


def _row(shape: str, tile: str, herd: str = "8x4", **more: Any) -> dict[str, Any]:
    names = ("tile_m", "tile_k_l2", "tile_k_l1", "tile_n")
    numbers = dict(zip(names, map(int, tile.split("/")), strict=True))
    evidence = {"kind": "published", "source": "GEMM.json"}
    row = {
        "shape": shape,
        "method": None,
        "best": False,
        "tile": numbers,
        "herd": [int(n) for n in herd.split("x")],
    }
    return {**row, "evidence": evidence, "note": None, **more}


ROWS = [
    _row("2048x2048x512", "64/256/32/128", method="fused-cast"),
    _row("2048x2048x512", "32/256/32/128", method="drain", best=True),
    _row("2048x2048x2048", "64/512/32/128", method="fused-cast", best=True),
    _row("2048x2048x2048", "32/512/32/128", method="drain"),
    _row("64x720x32", "16/144/48/32", "4x1", method="drain", best=True),
]


def _choose(name: str, **overrides: int | str) -> CaseSpec:
    return choose_spec(parse_case(name), ROWS, overrides or None)


def test_a_known_shape_takes_its_best_row() -> None:
    spec = _choose("gemm_2048x2048x512")
    assert (spec.method, spec.tile_text, spec.tile_source) == ("drain", "32/256/32/128", "registry")
    assert (spec.herd, spec.tiles_used, spec.tiles_target, spec.note) == ((8, 4), 32, 32, None)
    assert spec.tile == {"tile_m": 32, "tile_k_l2": 256, "tile_k_l1": 32, "tile_n": 128}
    assert spec_variables(spec)["drain"] == 1


def test_a_method_that_was_asked_for_takes_its_own_row() -> None:
    spec = _choose("gemm_2048x2048x512", method="fused-cast")
    assert (spec.method, spec.tile_text, spec.tile_source) == ("fused-cast", "64/256/32/128", "override")
    assert spec_variables(spec)["drain"] == 0


def test_an_unknown_shape_takes_the_nearest_one_of_its_method() -> None:
    spec = _choose("gemm_2048x2048x640")
    assert (spec.method, spec.tile_source) == ("drain", "nearest known shape 2048x2048x512")
    # 640 / 4 rows = 160 columns: 80 is the legal tile_n nearest to 128.
    assert (spec.tile_text, spec.herd) == ("32/256/32/80", (8, 4))


def test_the_nearest_shape_fills_the_herd_again() -> None:
    spec = _choose("gemm_512x720x64")
    assert spec.tile_source == "nearest known shape 64x720x32"
    assert (spec.tiles_used, spec.herd) == (32, (8, 4))


def test_a_known_row_below_the_target_says_where_it_was_measured() -> None:
    spec = _choose("gemm_64x720x32")
    assert (spec.herd, spec.tiles_used) == ((4, 1), 4)
    assert spec.note == "measured on a herd of 4x1: GEMM.json"


def test_simulated_rows_choose_nothing() -> None:
    row = _row("1024x1024x1024", "16/64/16/16", method="drain", evidence={"kind": "simulated"})
    case = parse_case("gemm_1024x1024x1024")
    assert choose_spec(case, [*ROWS, row]) == choose_spec(case, ROWS)


def test_a_row_that_kernel_yaml_rules_out_is_made_legal() -> None:
    row = _row("2048x2048x8192", "64/256/32/128", method="drain", best=True)
    spec = choose_spec(parse_case("gemm_2048x2048x8192"), [row])
    assert spec.tile_source == "nearest known shape 2048x2048x8192"
    assert spec.tile_text != "64/256/32/128" or spec.method != "drain"


@pytest.mark.parametrize(
    ("name", "herd", "note"),
    [
        ("rmsnorm_1x2048", (1, 1), "M = 1 rows divide among 1 tile(s), not 8: a tile owns whole rows"),
        ("rope_14x64", (7, 1), "14 rows divide among 7 tile(s), not 8: a tile owns whole rows"),
        ("rope_2x128", (2, 1), "2 rows divide among 2 tile(s), not 8: a tile owns whole rows"),
        ("rmsnorm_16x128", (8, 1), None),
        ("eltwise_add_48", (3, 1), "N = 48 divides among 3 tile(s) of a multiple of 16 elements, not 8"),
        ("gemm_64x720x720", (4, 3), "no legal tile for 64x720x720 uses more than 12 of 32 tiles"),
    ],
)
def test_idle_tiles_have_a_reason(name: str, herd: tuple[int, int], note: str | None) -> None:
    spec = choose_spec(parse_case(name), [])
    assert (spec.herd, spec.note, spec.tile_source) == (herd, note, "default")


def test_an_idle_herd_by_hand_is_called_that() -> None:
    assert _choose("gemm_2048x2048x2048", herd_m=4).note == "a herd of 4x4 was asked for"
    assert _choose("gemm_2048x2048x2048", tile_m=32).note is None


@pytest.mark.parametrize(
    ("name", "tile", "herd"),
    [
        ("silu_and_mul_8192", "1024", (8, 1)),
        ("gemv_2048x11008", "8/2/1", (8, 1)),
        ("gemv_896x4864", "8/4/4", (8, 1)),
        ("flash_attention_2048x2048_d64x64_h32x8_causal", "lqp256/lkp64/nqt4/hpu2/ncs4", (8, 4)),
        ("rope_65536x64", "-", (8, 1)),
    ],
)
def test_defaults_made_legal(name: str, tile: str, herd: tuple[int, int]) -> None:
    spec = choose_spec(parse_case(name), [])
    assert (spec.tile_text, spec.herd, spec.method) == (tile, herd, None)


def test_an_illegal_override_is_the_wall() -> None:
    with pytest.raises(IllegalTile) as refusal:
        _choose("gemm_2048x2048x2048", tile_n=240)
    message = str(refusal.value)
    assert message.startswith("N divisible: N % (tile_n * herd_n) = 128 must be == 0 (")
    assert message.endswith("; nearest legal tile 64/512/32/128 herd 8x4")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        (
            "gemm_100x720x720",
            "gemm_100x720x720: no legal tile fits this shape; cannot be met: M divisible, M % ",
        ),
        ("silu_and_mul_100", "cannot be met: N divisible"),
        ("gemv_add_2048x100", "cannot be met: K divisible"),
    ],
)
def test_no_legal_tile(name: str, complaint: str) -> None:
    with pytest.raises(InputError) as refusal:
        choose_spec(parse_case(name), [])
    assert complaint in str(refusal.value)
    assert not isinstance(refusal.value, IllegalTile)
