"""Walls: what a tile breaks, in words."""

import pytest

from scripts.cases.case import parse_case
from scripts.cases.kernel_facts import load_kernel
from scripts.cases.walls import find_wall, hints, wall_text

TILE = {"tile_m": 64, "tile_k_l2": 256, "tile_k_l1": 32, "tile_n": 128, "herd_m": 8, "herd_n": 4}


def test_a_legal_tile_has_no_wall() -> None:
    assert find_wall(parse_case("gemm_2048x2048x8192"), TILE, "fused-cast") is None


def test_the_wall_names_both_sides_and_the_nearest_legal_tile() -> None:
    """The bf16 buffer that drain keeps beside the FP32 accumulator does not fit: 8 KiB too many."""
    wall = find_wall(parse_case("gemm_2048x2048x8192"), TILE, "drain")
    assert wall is not None
    assert (wall.constraint, wall.left_value, wall.relation, wall.right_value) == ("L1", 73728, "<=", 65536)
    text = wall_text(wall)
    assert text.startswith("L1: 2 * 2 * (tile_m * tile_k_l1")
    assert "= 73728 must be <= 65536 (64 KiB of L1 a tile); nearest legal tile " in text
    assert text.endswith(f"nearest legal tile {wall.nearest_legal}")
    assert "\n" not in text


@pytest.mark.parametrize(
    ("change", "constraint", "nearest"),
    [
        ({"tile_n": 240}, "N divisible", "64/256/32/128 herd 8x4"),
        ({"tile_k_l2": 100}, "K divisible", "64/128/32/128 herd 8x4"),
        ({"herd_m": 7}, "M divisible", "64/256/32/128 herd 8x4"),
        ({"tile_m": 32, "herd_m": 16}, "herd_m", "32/256/32/128 herd 8x4"),
        ({"tile_n": 240, "herd_m": 4}, "N divisible", "64/256/32/128 herd 4x4"),
        ({"tile_k_l2": 4096}, "K divisible", "64/1024/32/64 herd 8x4"),
        ({"tile_k_l2": 2048}, "L2", "64/1024/32/64 herd 8x4"),
    ],
)
def test_the_nearest_legal_tile_keeps_what_it_can(
    change: dict[str, int], constraint: str, nearest: str
) -> None:
    wall = find_wall(parse_case("gemm_2048x2048x8192"), {**TILE, **change}, "fused-cast")
    assert wall is not None
    assert (wall.constraint, wall.nearest_legal) == (constraint, nearest)


def test_a_shape_without_a_legal_tile_says_so() -> None:
    wall = find_wall(parse_case("gemm_100x2048x8192"), TILE, "fused-cast")
    assert wall is not None
    assert wall.nearest_legal is None
    assert wall_text(wall).endswith("; no tile is legal")


def test_a_broken_hint_is_not_a_wall() -> None:
    facts, case = load_kernel("gemm"), parse_case("gemm_2048x2560x9728")
    variables = {**case.dims, **TILE, "drain": 0}
    assert [hint.name for hint in hints(facts, variables)] == ["stride"]
    assert find_wall(case, TILE, "fused-cast") is None
