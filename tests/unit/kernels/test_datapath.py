"""The host AIE API against independent numpy models of the rules it implements."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from ml_dtypes import bfloat16

from scripts.targets.compiler import find_compiler

PROBE = Path(__file__).with_name("datapath_probe.cc")
INCLUDE = Path(__file__).resolve().parents[3] / "kernels" / "aie_host" / "include"

FLAGS = {
    "native": ["-O3", "-march=native"],
    "portable": ["-O1"],
}


@pytest.fixture(scope="module", params=FLAGS)
def probe(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The probe library, once for this machine's widest registers and once for the baseline ones."""
    library = tmp_path_factory.mktemp("probe") / "probe.so"
    command = [*find_compiler().command, "-std=c++20", *FLAGS[request.param], "-Wall", "-Wextra", "-Werror"]
    command += ["-Wno-psabi", "-fPIC", "-shared", "-pthread", f"-I{INCLUDE}", str(PROBE), "-o", str(library)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    loaded = ctypes.CDLL(str(library))
    loaded.probe_reduce_add.restype = ctypes.c_float
    return loaded


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def padded(values: np.ndarray) -> np.ndarray:
    """The values, FP32, filled up to whole vectors of 16 lanes."""
    filled = np.zeros(-(-values.size // 16) * 16, np.float32)
    filled[: values.size] = values
    return filled


def apply(function: ctypes._CFuncPtr, values: np.ndarray, *arguments: int) -> np.ndarray:
    x = padded(values)
    y = np.zeros(x.size, bfloat16)
    function(pointer(x), pointer(y), x.size, *arguments)
    return y[: values.size]


def floor_to_bf16(values: np.ndarray) -> np.ndarray:
    """Towards minus infinity, by comparing with the nearest and stepping down where that is above."""
    nearest = values.astype(bfloat16)
    return np.where(nearest.astype(np.float32) > values, np.nextafter(nearest, bfloat16(-np.inf)), nearest)


EDGE_VALUES = np.array(
    [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1.00390625,
        -1.00390625,
        1.01171875,
        3.3895314e38,
        -3.3895314e38,
        np.inf,
        -np.inf,
        1e-30,
    ],
    np.float32,
)


@pytest.mark.parametrize("function", ["probe_narrow", "probe_narrow_scalar"])
def test_narrowing_floors_or_rounds_to_even(probe: ctypes.CDLL, function: str) -> None:
    values = np.concatenate([EDGE_VALUES, np.random.default_rng(3).standard_normal(4096, np.float32) * 100])
    narrow = getattr(probe, function)
    np.testing.assert_array_equal(apply(narrow, values, 1), values.astype(bfloat16))
    np.testing.assert_array_equal(apply(narrow, values, 0), floor_to_bf16(values))


@pytest.mark.parametrize("mode", [0, 1])
def test_a_nan_is_never_rounded_to_a_number(probe: ctypes.CDLL, mode: int) -> None:
    patterns = np.array([0x7F800001, 0x7FFFFFFF, 0xFF800001, 0xFFFFFFFF], np.uint32)
    assert np.isnan(apply(probe.probe_narrow, patterns.view(np.float32), mode).astype(np.float32)).all()
    assert np.isnan(
        apply(probe.probe_narrow_scalar, patterns.view(np.float32), mode).astype(np.float32)
    ).all()


def test_every_core_starts_with_floor(probe: ctypes.CDLL) -> None:
    assert probe.probe_rounding_at_core_start() == 1


def exp2_model(x: np.ndarray) -> np.ndarray:
    """The exp2 rule in float64, as the datapath notes state it: fixed point with 7 fraction bits."""
    x = x.astype(np.float64)
    exponent = np.floor(np.log2(np.maximum(np.abs(x), 2.0**-120)))
    step = 2.0 ** (exponent - 7)
    q = np.where(step > 2.0**-7, np.floor(x / step) * step + step - 2.0**-7, np.floor(128 * x) / 128)
    value = 2.0 ** np.floor(q) * (1 + q - np.floor(q))
    return np.where(q < -126, 0.0, value)


def test_exp2_follows_its_rule_for_every_bf16_and_in_between(probe: ctypes.CDLL) -> None:
    every_bf16 = np.arange(0x8000, 0xFF80, dtype=np.uint16).view(bfloat16).astype(np.float32)
    between = -np.random.default_rng(5).uniform(0, 140, 20000).astype(np.float32)
    values = np.concatenate([every_bf16[every_bf16 > -1e6], between])
    np.testing.assert_array_equal(apply(probe.probe_exp2, values).astype(np.float64), exp2_model(values))


def test_exp2_of_the_lowest_number_is_zero(probe: ctypes.CDLL) -> None:
    lowest = np.array([-3.3895314e38, -np.inf], np.float32)
    np.testing.assert_array_equal(apply(probe.probe_exp2, lowest).astype(np.float32), [0.0, 0.0])


def test_tanh_is_odd_and_certain_outside_the_calibrated_segments(probe: ctypes.CDLL) -> None:
    every_bf16 = np.arange(0, 0x4200, dtype=np.uint16).view(bfloat16).astype(np.float32)
    result = apply(probe.probe_tanh, every_bf16).astype(np.float32)
    np.testing.assert_array_equal(-result, apply(probe.probe_tanh, -every_bf16).astype(np.float32))
    small = every_bf16 < 0.5
    np.testing.assert_array_equal(result[small], every_bf16[small])
    assert (result[every_bf16 >= 3] == 1).all()
    assert np.abs(result - np.tanh(every_bf16)).max() < 0.04


def test_reduce_add_is_a_halving_tree(probe: ctypes.CDLL) -> None:
    values = np.random.default_rng(7).standard_normal(64, np.float32) * 1e3
    tree = values
    while tree.size > 1:
        tree = tree[: tree.size // 2] + tree[tree.size // 2 :]
    assert probe.probe_reduce_add(pointer(values)) == tree[0]


def quantise_model(block: np.ndarray) -> np.ndarray:
    """BFP16 of one block of 8, in float64."""
    largest = np.abs(block).max()
    if largest == 0:
        return np.zeros(8)
    exponent = np.floor(np.log2(largest))
    mantissa = np.rint(block * 2.0 ** (6 - exponent))
    if mantissa.max() > 127:
        exponent += 1
        mantissa = np.rint(block * 2.0 ** (6 - exponent))
    return mantissa * 2.0 ** (exponent - 6)


def quantised(probe: ctypes.CDLL, blocks: np.ndarray) -> np.ndarray:
    result = np.ascontiguousarray(blocks, np.float32).copy()
    probe.probe_quantise(pointer(result), len(result))
    return result


def test_bfp16_blocks_follow_the_rule(probe: ctypes.CDLL) -> None:
    rng = np.random.default_rng(11)
    scale = 2.0 ** rng.integers(-120, 100, (2000, 1))
    blocks = (rng.standard_normal((2000, 8)) * scale).astype(bfloat16).astype(np.float32)
    blocks[0] = 0
    np.testing.assert_array_equal(
        quantised(probe, blocks), [quantise_model(b) for b in blocks.astype(np.float64)]
    )


def test_only_a_positive_mantissa_overflows(probe: ctypes.CDLL) -> None:
    block = np.zeros((2, 8), np.float32)
    block[0, :2] = 1.9921875, 0.015625  # 127.5 rounds to +128: the exponent goes up, and 1/64 is a tie
    block[1, :2] = -1.9921875, 0.015625  # -128 fits
    np.testing.assert_array_equal(quantised(probe, block)[:, :2], [[2.0, 0.0], [-2.0, 0.015625]])


@pytest.mark.parametrize("depth", [8, 32, 96])
def test_the_tile_engine_equals_a_grid_of_mmuls(probe: ctypes.CDLL, depth: int) -> None:
    m, k, n = 24, 96, 80
    rng = np.random.default_rng(13)
    a, b = rng.standard_normal((m, k)).astype(bfloat16), rng.standard_normal((k, n)).astype(bfloat16)
    block_by_block, tiled = np.zeros((m, n), np.float32), np.zeros((m, n), np.float32)
    probe.probe_mmul(pointer(a), pointer(b), pointer(block_by_block), m, k, n)
    probe.probe_mac_tile(pointer(a), pointer(b), pointer(tiled), m, k, n, depth)
    np.testing.assert_array_equal(tiled, block_by_block)
    assert np.abs(tiled - a.astype(np.float32) @ b.astype(np.float32)).max() < 0.5


@pytest.mark.parametrize("threads", [1, 3])
def test_a_launch_visits_whole_tiles_once_and_leaves_the_rest(probe: ctypes.CDLL, threads: int) -> None:
    elements, tile, herd = 16 * 8 * 3 + 16 * 5, 16, (4, 2)
    visits = np.zeros(elements, np.uint32)
    probe.probe_launch_flat(pointer(visits), elements, tile, *herd, threads)
    covered = 16 * 8 * 3
    assert (visits[:covered] == 1).all()
    assert (visits[covered:] == 0).all()
