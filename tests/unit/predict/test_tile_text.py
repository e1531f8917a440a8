"""`--tile` of the predict command: the kernel's tile text, pairs, or both."""

import pytest

from scripts.cases.kernel_facts import load_kernel
from scripts.errors import InputError
from scripts.prediction.tile_text import tile_overrides


@pytest.mark.parametrize(
    ("kernel", "text", "overrides"),
    [
        (
            "gemm",
            "64/256/32/128",
            {"tile_m": 64, "tile_k_l2": 256, "tile_k_l1": 32, "tile_n": 128},
        ),
        ("gemv", "8/16/4", {"herd_m": 8, "tile_m": 16, "m_input": 4}),
        ("silu_and_mul", "4096", {"tile_n": 4096}),
        (
            "flash_attention",
            "lqp256/lkp64/nqt4/hpu2/ncs4",
            {
                "lqp": 256,
                "lkp": 64,
                "num_q_tiles": 4,
                "num_heads_per_unroll": 2,
                "num_cascade_stages": 4,
            },
        ),
        ("gelu", "2048,herd_x=4", {"tile_n": 2048, "herd_x": 4}),
        ("gemm", "tile_m=16, herd_n=2", {"tile_m": 16, "herd_n": 2}),
        ("rmsnorm", "herd_x=4", {"herd_x": 4}),
        ("rmsnorm", None, {}),
    ],
)
def test_every_way_to_write_a_tile(kernel: str, text: str | None, overrides: dict[str, int]) -> None:
    assert tile_overrides(load_kernel(kernel), text, None) == overrides


def test_the_method_is_an_override_too() -> None:
    assert tile_overrides(load_kernel("silu_and_mul"), "64", "fast") == {"tile_n": 64, "method": "fast"}


@pytest.mark.parametrize(
    ("kernel", "text", "complaint"),
    [
        (
            "gemm",
            "64/256/32",
            "found '64/256/32'; tile_m/tile_k_l2/tile_k_l1/tile_n, or knobs by name: tile_m=64",
        ),
        ("gemm", "64/256/32/0", "tile_m/tile_k_l2/tile_k_l1/tile_n"),
        ("rmsnorm", "8", "this kernel has no tile text, or knobs by name: herd_x=8"),
        ("rmsnorm", "-", "this kernel has no tile text"),
        ("gemv", "8/16/4,tile_m=2", "tile_m is set twice"),
        ("gelu", "2048,herd_x", "knob=value is needed"),
    ],
)
def test_refusals_name_the_form(kernel: str, text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        tile_overrides(load_kernel(kernel), text, None)
