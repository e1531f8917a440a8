"""Tile overrides as text."""

import pytest

from scripts.cases.kernel_facts import load_kernel
from scripts.cases.overrides import checked_overrides, parse_overrides
from scripts.errors import InputError


def test_parse() -> None:
    assert parse_overrides("tile_m=64, tile_n=128", "drain") == {
        "method": "drain",
        "tile_m": 64,
        "tile_n": 128,
    }
    assert parse_overrides(None) == {}
    assert parse_overrides("") == {}


@pytest.mark.parametrize(
    "text", ["tile_m", "tile_m=", "=3", "tile_m=0", "tile_m=-1", "tile_m=1.5", "tile_m=1,,", "a=\u0663"]
)
def test_not_an_override(text: str) -> None:
    with pytest.raises(InputError, match="knob=value is needed"):
        parse_overrides(text)


def test_a_knob_set_twice() -> None:
    with pytest.raises(InputError, match="tile_m is set twice"):
        parse_overrides("tile_m=1,tile_m=2")


@pytest.mark.parametrize(
    ("overrides", "complaint"),
    [
        ({"tile_x": 4}, "no tile parameter 'tile_x'; it has: tile_m, tile_k_l2"),
        ({"method": "direct"}, "method 'direct' is unknown; allowed: fused-cast, drain"),
        ({"tile_m": 0}, "tile_m is 0; a positive integer is needed"),
        ({"tile_m": True}, "tile_m is True"),
        ({"tile_m": "64"}, "tile_m is '64'"),
    ],
)
def test_unknown_or_senseless(overrides: dict[str, int | str], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        checked_overrides(load_kernel("gemm"), overrides)
