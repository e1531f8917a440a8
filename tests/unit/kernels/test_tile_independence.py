"""No tile and no herd changes a bit of a result, but for the knobs that are part of the arithmetic."""

import importlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from scripts.cases.case import Case, parse_case
from scripts.cases.kernel_facts import harness_kernels, load_kernel
from scripts.cases.tile_choice import choose_spec
from scripts.prediction.legality import legal_tiles
from scripts.targets.host import HostTarget
from scripts.targets.host_device import clear_unwritten, launch, poisoned
from scripts.targets.process import run_limited

# One shape a kernel: small, and with several legal tiles.
SHAPES = {
    "eltwise_add": "4096",
    "flash_attention": "256x256_d64x64_h2x1_full",
    "gelu": "4096",
    "gemm": "256x192x192",
    "gemm_f32": "256x192x192",
    "gemm_low": "256x192x192",
    "gemv": "64x192",
    "layernorm": "16x64",
    "rmsnorm": "16x64",
    "rope": "16x64",
    "silu_and_mul": "4096",
}
TILES_EACH = 4


def methods(kernel: str) -> tuple[str | None, ...]:
    return load_kernel(kernel).method_names() or (None,)


def spread_knobs(case: Case, method: str | None) -> list[dict[str, int]]:
    """Legal knobs from all over the legal ones, with the arithmetic ones as in the first."""
    facts = load_kernel(case.kernel)
    every = [{**tile, **herd} for tile, herds in legal_tiles(case, method) for herd in herds]
    fixed = facts.arithmetic_knobs
    same = [knobs for knobs in every if all(knobs[name] == every[0][name] for name in fixed)]
    places = np.linspace(0, len(same) - 1, min(TILES_EACH, len(same))).astype(int)
    return [same[place] for place in places]


@cache
def inputs(case: Case) -> list[np.ndarray]:
    module = importlib.import_module(f"kernels.{case.kernel}.reference")
    return [
        np.ascontiguousarray(array)
        for array in module.make_inputs(case.dims, load_kernel(case.kernel).inputs)
    ]


def output_bits(case: Case, method: str | None, knobs: Mapping[str, int], folder: Path) -> bytes:
    """The output of `case` built with these knobs, every element of it written."""
    facts = load_kernel(case.kernel)
    spec = choose_spec(case, [], {**({"method": method} if method else {}), **knobs})
    # A name of its own: a library that is loaded stays loaded under its name.
    elf = folder / f"{'-'.join(map(str, knobs.values()))}.elf"
    built = run_limited(HostTarget().build_command(facts, spec, elf), 120)
    assert built.exit_status == 0, built.output
    output = poisoned(case.output_shape, facts.output_dtype)
    launch(elf, inputs(case), output, threads=2)
    assert clear_unwritten(output, facts.output_dtype) == 0
    return output.tobytes()


def test_every_kernel_has_a_shape() -> None:
    assert set(SHAPES) == set(harness_kernels())


@pytest.mark.parametrize(("kernel", "method"), [(k, method) for k in SHAPES for method in methods(k)])
def test_tile_and_herd_change_no_bit(kernel: str, method: str | None, tmp_path: Path) -> None:
    case = parse_case(f"{kernel}_{SHAPES[kernel]}")
    knobs = spread_knobs(case, method)
    assert len(knobs) > 2
    first, *others = (output_bits(case, method, each, tmp_path) for each in knobs)
    assert [other == first for other in others] == [True] * len(others)


@pytest.mark.parametrize(
    ("case", "knobs", "knob", "values"),
    [
        # The partial sum is rounded to bf16 after every tile_k_l1 of K: fewer roundings, other bits.
        (
            "gemm_low_256x192x192",
            {"tile_m": 32, "tile_k_l2": 96, "tile_n": 48, "herd_m": 8},
            "tile_k_l1",
            (16, 48),
        ),
        # Stages carry bf16 values and are merged with roundings of their own.
        (
            "flash_attention_256x256_d64x64_h2x1_full",
            {"lqp": 256, "lkp": 64, "num_q_tiles": 4, "num_heads_per_unroll": 2},
            "num_cascade_stages",
            (2, 4),
        ),
    ],
)
def test_an_arithmetic_knob_does_change_bits(
    case: str, knobs: dict[str, int], knob: str, values: tuple[int, int], tmp_path: Path
) -> None:
    parsed = parse_case(case)
    assert knob in load_kernel(parsed.kernel).arithmetic_knobs
    method = methods(parsed.kernel)[0]
    one, other = (output_bits(parsed, method, {**knobs, knob: value}, tmp_path) for value in values)
    assert one != other
