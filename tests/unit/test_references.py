"""Inputs and references of every harness kernel: seeds, order, shapes, types, and the mathematics."""

import importlib
import tracemalloc
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from ml_dtypes import bfloat16

from kernels.flash_attention import reference as flash_attention
from scripts.cases.case import Case, parse_case
from scripts.cases.kernel_facts import harness_kernels, load_kernel

# Case -> shapes of its inputs in the order the ELF takes them, the first values of its seed, their scale.
# The values are the first normals of RandomState(0), RandomState(42), default_rng(0), default_rng(42).
LEGACY_0, LEGACY_42 = (1.7640524, 0.4001572, 0.9787380), (0.4967142, -0.1382643, 0.6476885)
RNG_0_F32, RNG_42 = (1.1176220, -1.3871249, -0.4265716), (0.3047171, -1.0399841, 0.7504512)
CASES: dict[str, tuple[list[tuple[int, ...]], tuple[float, ...], float]] = {
    "gemm_48x64x32": ([(48, 64), (64, 32)], LEGACY_42, 1 / 8),
    "gemm_f32_48x64x32": ([(48, 64), (64, 32)], LEGACY_42, 1 / 8),
    "gemm_low_48x64x32": ([(48, 64), (64, 32)], LEGACY_42, 1 / 8),
    "gemv_24x64": ([(24, 64), (64,)], LEGACY_42, 4.0),
    "rmsnorm_6x32": ([(6, 32), (32,)], LEGACY_0, 1.0),
    "layernorm_6x32": ([(6, 32), (64,)], LEGACY_0, 1.0),
    "rope_40x32": ([(1280,), (1280,)], RNG_0_F32, 1.0),
    "silu_and_mul_96": ([(96,), (96,)], RNG_0_F32, 1.0),
    "gelu_96": ([(96,)], RNG_0_F32, 1.0),
    "eltwise_add_96": ([(96,), (96,)], RNG_0_F32, 1.0),
    "flash_attention_24x40_d16x8_h6x2_full": ([(6, 24, 16), (2, 40, 16), (2, 40, 8)], RNG_42, 1.0),
    "flash_attention_32x32_d16x16_h4x4_causal": ([(4, 32, 16)] * 3, RNG_42, 1.0),
}


def _module(case: Case) -> ModuleType:
    return importlib.import_module(f"kernels.{case.kernel}.reference")


def _run(name: str) -> tuple[Case, list[np.ndarray], np.ndarray]:
    """A case's inputs and reference."""
    case = parse_case(name)
    facts, module = load_kernel(case.kernel), _module(case)
    arrays = module.make_inputs(case.dims, facts.inputs)
    return case, arrays, module.reference(case.dims, facts.inputs, arrays)


def _close(actual: np.ndarray, exact: np.ndarray) -> None:
    """Every element is within one bf16 rounding (2^-8) of the float64 value, or FP32 noise near zero."""
    error = np.abs(actual.astype(np.float64) - exact.reshape(actual.shape))
    assert np.all(error <= 2.0**-8 * np.abs(exact.reshape(actual.shape)) + 1e-6), error.max()


def test_every_harness_kernel_is_here() -> None:
    assert {parse_case(name).kernel for name in CASES} == set(harness_kernels())


@pytest.mark.parametrize("name", CASES)
def test_inputs(name: str) -> None:
    shapes, first, scale = CASES[name]
    _, arrays, _ = _run(name)
    assert [array.shape for array in arrays] == shapes
    assert {array.dtype for array in arrays} == {np.dtype(bfloat16)}
    assert all(array.flags.c_contiguous for array in arrays)
    expected = (np.array(first) * scale).astype(np.float32).astype(bfloat16)
    assert np.array_equal(arrays[0].reshape(-1)[: len(first)], expected)


@pytest.mark.parametrize("name", CASES)
def test_output(name: str) -> None:
    case, arrays, result = _run(name)
    facts = load_kernel(case.kernel)
    assert result.shape == case.output_shape
    assert result.dtype == {"bf16": np.dtype(bfloat16), "f32": np.dtype(np.float32)}[facts.output_dtype]
    assert np.all(np.isfinite(result.astype(np.float32)))
    again = _run(name)
    assert all(np.array_equal(left, right) for left, right in zip(arrays, again[1], strict=True))
    assert np.array_equal(result, again[2])


@pytest.mark.parametrize("name", CASES)
def test_the_inputs_are_left_alone(name: str) -> None:
    case = parse_case(name)
    facts, module = load_kernel(case.kernel), _module(case)
    arrays = module.make_inputs(case.dims, facts.inputs)
    before = [array.copy() for array in arrays]
    module.reference(case.dims, facts.inputs, arrays)
    assert all(np.array_equal(left, right) for left, right in zip(arrays, before, strict=True))


def test_the_second_input_continues_the_stream_of_the_first() -> None:
    np.random.seed(42)
    expected = [(np.random.randn(*shape) / 8).astype(bfloat16) for shape in ((48, 64), (64, 32))]
    _, arrays, _ = _run("gemm_48x64x32")
    assert all(np.array_equal(left, right) for left, right in zip(arrays, expected, strict=True))


def test_drawing_in_blocks_is_the_same_stream() -> None:
    """1500x1001 elements are more than one block, and an odd number of them."""
    np.random.seed(42)
    a, x = np.random.randn(1500, 1001) * 4, np.random.randn(1001) * 4
    _, arrays, _ = _run("gemv_1500x1001")
    assert np.array_equal(arrays[0], a.astype(bfloat16))
    assert np.array_equal(arrays[1], x.astype(bfloat16))


def test_drawing_in_blocks_is_the_same_stream_for_the_new_generator() -> None:
    generator = np.random.default_rng(0)
    expected = [generator.standard_normal(1500001, dtype=np.float32).astype(bfloat16) for _ in range(2)]
    _, arrays, _ = _run("silu_and_mul_1500001")
    assert all(np.array_equal(left, right) for left, right in zip(arrays, expected, strict=True))


def test_inputs_never_hold_a_float64_copy() -> None:
    """32 MiB of bf16 are drawn: the float64 of the larger array alone would be 64 MiB."""
    case = parse_case("gemm_1024x8192x1024")
    tracemalloc.start()
    try:
        _module(case).make_inputs(case.dims, load_kernel("gemm").inputs)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 * 2**20


@pytest.mark.parametrize("name", ["gemm_48x64x32", "gemm_f32_48x64x32", "gemm_low_48x64x32", "gemv_24x64"])
def test_products(name: str) -> None:
    _, (a, b), result = _run(name)
    _close(result, np.tensordot(a.astype(np.float64), b.astype(np.float64), axes=1))


def test_only_the_f32_contract_keeps_f32() -> None:
    wide, narrow = _run("gemm_f32_48x64x32")[2], _run("gemm_48x64x32")[2]
    assert np.array_equal(wide.astype(bfloat16), narrow)
    assert not np.array_equal(wide, narrow.astype(np.float32))


def test_rmsnorm() -> None:
    _, (x, weight), result = _run("rmsnorm_6x32")
    rows, scale = x.astype(np.float64), weight.astype(np.float64)
    exact = [row / np.sqrt(sum(value * value for value in row) / 32 + 1e-5) * scale for row in rows]
    _close(result, np.array(exact))


def test_rmsnorm_keeps_eps() -> None:
    """A row of small values: without eps it would be normalised to one."""
    dims, inputs = {"M": 1, "N": 4}, load_kernel("rmsnorm").inputs
    x, ones = np.full((1, 4), 2.0**-9, dtype=bfloat16), np.ones(4, dtype=bfloat16)
    result = _module(parse_case("rmsnorm_1x4")).reference(dims, inputs, [x, ones])
    _close(result, np.full((1, 4), 2.0**-9 / np.sqrt(2.0**-18 + 1e-5)))


def test_layernorm() -> None:
    _, (x, param), result = _run("layernorm_6x32")
    rows, weight, bias = x.astype(np.float64), param[:32].astype(np.float64), param[32:].astype(np.float64)
    exact = (rows - rows.mean(1, keepdims=True)) / np.sqrt(rows.var(1, keepdims=True) + 1e-5) * weight + bias
    _close(result, exact)


def test_rope_rotates_each_pair_by_its_angle() -> None:
    """As complex numbers: element i and element i + 16 of row r, times e^(i r theta^(-2i/32))."""
    _, (x, table), result = _run("rope_40x32")
    pairs = x.astype(np.float64).reshape(40, 2, 16)
    angles = np.arange(40)[:, None] * 500000.0 ** (-np.arange(16) / 16)
    turned = (pairs[:, 0] + 1j * pairs[:, 1]) * np.exp(1j * angles)
    exact = np.concatenate((turned.real, turned.imag), axis=1).reshape(-1)
    # The table itself is bf16: 2^-9 on each factor.
    assert np.max(np.abs(result.astype(np.float64) - exact)) < 0.03
    assert np.array_equal(table.reshape(40, 2, 16)[0, 0], np.ones(16)), "row 0 does not turn"
    rotations = table.astype(np.float64).reshape(40, 2, 16)
    _close(table, np.concatenate((np.cos(angles), np.sin(angles)), axis=1).reshape(-1))
    stored = (pairs[:, 0] + 1j * pairs[:, 1]) * (rotations[:, 0] + 1j * rotations[:, 1])
    _close(result, np.concatenate((stored.real, stored.imag), axis=1).reshape(-1))


def test_silu_and_mul() -> None:
    _, (gate, up), result = _run("silu_and_mul_96")
    g, u = gate.astype(np.float64), up.astype(np.float64)
    _close(result, g / (1 + np.exp(-g)) * u)


def test_gelu() -> None:
    _, (x,), result = _run("gelu_96")
    x = x.astype(np.float64)
    _close(result, x / 2 * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3))))


def test_eltwise_add() -> None:
    _, (a, b), result = _run("eltwise_add_96")
    _close(result, a.astype(np.float64) + b.astype(np.float64))


def _attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> np.ndarray:
    """Attention one query at a time, in float64."""
    out = np.empty((*q.shape[:2], v.shape[2]))
    for head, row in np.ndindex(q.shape[:2]):
        group = head * len(k) // len(q)
        seen = row + 1 if causal else k.shape[1]
        scores = k[group, :seen] @ q[head, row] / np.sqrt(q.shape[2])
        weights = np.exp(scores - scores.max())
        out[head, row] = weights @ v[group, :seen] / weights.sum()
    return out


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("flash_attention")])
@pytest.mark.parametrize("scores", [1 << 24, 200])
def test_flash_attention(monkeypatch: pytest.MonkeyPatch, name: str, scores: int) -> None:
    """In one block of rows, and in blocks of a few rows that do not divide the queries."""
    monkeypatch.setattr(flash_attention, "_SCORES", scores)
    case, arrays, result = _run(name)
    exact = _attention(*(array.astype(np.float64) for array in arrays), causal=bool(case.dims["mask"]))
    _close(result, exact)


def test_published_figures_need_these_inputs() -> None:
    """The output scale that harness.md's atol is made for: variance 1/K for GEMM."""
    result: Any = _run("gemm_512x512x512")[2].astype(np.float64)
    assert abs(result.std() * np.sqrt(512) - 1) < 0.01
