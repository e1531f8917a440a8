"""The ranking of legal tiles: what it holds, and in which order."""

from itertools import pairwise, product

import pytest

from scripts.cases.case import parse_case
from scripts.cases.kernel_facts import load_kernel
from scripts.cases.legal_tiles import knob_values, method_flags
from scripts.cases.walls import broken_constraints, hints
from scripts.prediction.legality import asked_tile
from scripts.prediction.sweep import ranked_tiles

CASE = parse_case("gemm_512x512x512")


def row(shape: str, tile: tuple[int, int, int, int], **fields: object) -> dict:
    """A published row of gemm, drain, on 8x4."""
    names = load_kernel("gemm").tile_columns
    return {
        "shape": shape,
        "method": "drain",
        "best": True,
        "tile": dict(zip(names, tile, strict=True)),
        "herd": [8, 4],
        "gflops": 100,
        "gbps": None,
        "note": None,
        "evidence": {"kind": "published", "source": "test"},
        **fields,
    }


def legal_by_brute_force(case, method: str) -> set[tuple[int, ...]]:
    """Every tile for which some herd breaks no wall, found without any order of checks."""
    facts = load_kernel(case.kernel)
    fixed = {**case.dims, **method_flags(facts, method)}
    names = [knob.name for knob in facts.knobs]
    values = product(*(knob_values(knob, fixed) for knob in facts.knobs))
    legal = (
        v for v in values if not broken_constraints(facts, {**fixed, **dict(zip(names, v, strict=True))})
    )
    return {v[: len(facts.tile_columns)] for v in legal}


def test_it_holds_every_legal_tile_once() -> None:
    case = parse_case("gemm_128x64x96")
    found = [
        tuple(tile.knobs[name] for name in load_kernel("gemm").tile_columns)
        for tile in ranked_tiles(case, "drain", [])
    ]
    assert len(found) == len(set(found))
    assert set(found) == legal_by_brute_force(case, "drain")


def test_fewest_hints_then_most_tiles() -> None:
    case, facts = parse_case("gemm_512x512x8192"), load_kernel("gemm")
    tiles = ranked_tiles(case, "drain", [])
    keys = [(len(tile.hints), -tile.tiles_used) for tile in tiles]
    assert keys == sorted(keys)
    assert keys[0] == (0, -32) and keys[-1][0] > 0
    last = {**case.dims, **method_flags(facts, "drain"), **tiles[-1].knobs}
    assert tiles[-1].hints == tuple(hint.name for hint in hints(facts, last))


def test_measured_tiles_come_first_the_nearest_shape_s_before_the_others() -> None:
    near, far = (32, 128, 32, 64), (32, 64, 32, 128)
    rows = [
        row("2048x2048x512", far),
        row("512x1024x512", near),
        row("512x512x512", (32, 64, 64, 64), gflops=None),
    ]
    first, second, *others = ranked_tiles(CASE, "drain", rows)
    assert (first.tile_text, first.neighbour.shape) == ("32/128/32/64", "512x1024x512")
    assert (second.tile_text, second.neighbour.figure) == ("32/64/32/128", "100 GFLOP/s")
    # A row without timing is no measurement of speed.
    assert all(tile.neighbour is None for tile in others)


def test_rows_of_another_method_and_simulated_rows_are_no_measurements() -> None:
    simulated = row("512x512x512", (32, 128, 32, 64), evidence={"kind": "simulated", "source": "harness"})
    other = row("512x512x512", (32, 128, 32, 64), method="fused-cast")
    assert all(tile.neighbour is None for tile in ranked_tiles(CASE, "drain", [simulated, other]))


def test_after_the_measured_ones_tiles_nearest_to_a_measured_one_come_first() -> None:
    tiles = ranked_tiles(CASE, "drain", [row("2048x2048x512", (32, 256, 32, 128))])
    peers = [tile.tile_distance for tile in tiles[1:] if not tile.hints and tile.tiles_used == 32]
    assert all(near <= far for near, far in pairwise(peers))


def test_a_kernel_without_a_tile_has_a_line_for_each_herd() -> None:
    tiles = ranked_tiles(parse_case("rmsnorm_8x64"), None, [])
    assert [tile.herd for tile in tiles] == [(8, 1), (4, 1), (2, 1), (1, 1)]


def test_a_herd_with_a_hint_gives_way_to_one_without() -> None:
    # 128 rows in tiles of 16 and 64 columns in tiles of 16 fit on 8x1, which has a hint, and on 8x4.
    tiles = ranked_tiles(parse_case("gemm_128x64x64"), "drain", [])
    assert tiles[0].herd == (8, 4) and not tiles[0].hints


def test_a_tile_gets_the_fullest_herd_it_is_legal_on() -> None:
    case = parse_case("gemm_512x512x320")
    asked = asked_tile(case, [], {"tile_m": 32, "tile_k_l2": 64, "tile_k_l1": 32, "tile_n": 64})
    assert (asked.wall, asked.spec.herd) == (None, (8, 1))


def test_a_herd_that_was_asked_for_stays() -> None:
    asked = asked_tile(CASE, [], {"tile_m": 32, "herd_m": 3})
    assert asked.spec is None
    assert (asked.wall.constraint, asked.knobs["herd_m"]) == ("M divisible", 3)


@pytest.mark.parametrize("kernel", ["gemm_low", "flash_attention"])
def test_knobs_that_change_bits_are_the_kernel_s_own(kernel: str) -> None:
    facts = load_kernel(kernel)
    assert facts.arithmetic_knobs
    assert set(facts.arithmetic_knobs) <= {knob.name for knob in facts.knobs}
