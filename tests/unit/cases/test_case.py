"""Case names: there and back, and what is not one."""

import pytest

from scripts.cases.case import make_case, parse_case
from scripts.errors import InputError


@pytest.mark.parametrize(
    ("name", "kernel", "dims", "output"),
    [
        ("gemm_2048x2048x8192", "gemm", {"M": 2048, "K": 2048, "N": 8192}, (2048, 8192)),
        ("gemm_low_2048x896x4864", "gemm_low", {"M": 2048, "K": 896, "N": 4864}, (2048, 4864)),
        ("gemv_16384x2048", "gemv", {"M": 16384, "K": 2048}, (16384,)),
        ("rmsnorm_1x2048", "rmsnorm", {"M": 1, "N": 2048}, (1, 2048)),
        ("rope_65536x64", "rope", {"ROWS": 65536, "HEAD_DIM": 64}, (4194304,)),
        ("eltwise_add_4194304", "eltwise_add", {"N": 4194304}, (4194304,)),
        (
            "flash_attention_2048x1024_d64x128_h32x8_causal",
            "flash_attention",
            {"LQ": 2048, "LK": 1024, "DK": 64, "DV": 128, "HQ": 32, "HKV": 8, "mask": 1},
            (32, 2048, 128),
        ),
    ],
)
def test_parse(name: str, kernel: str, dims: dict[str, int], output: tuple[int, ...]) -> None:
    case = parse_case(name)
    assert (case.kernel, case.dims, case.name) == (kernel, dims, name)
    assert case.output_shape == output


def test_the_longest_kernel_name_wins() -> None:
    assert parse_case("gemv_add_2048x2048").kernel == "gemv_add"
    assert parse_case("gemv_2048x2048").kernel == "gemv"


def test_make_is_the_inverse_of_parse() -> None:
    dims = {"LQ": 512, "LK": 512, "DK": 64, "DV": 64, "HQ": 12, "HKV": 6, "mask": "full"}
    case = make_case("flash_attention", **dims)
    assert case.name == "flash_attention_512x512_d64x64_h12x6_full"
    assert case == parse_case(case.name)
    assert hash(case) == hash(parse_case(case.name))
    assert case.dims["mask"] == 0
    assert case.output_elements == 12 * 512 * 64


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("gemmm_1x1x1", "no such kernel; a case is <kernel>_<shape>, kernels: bias_add,"),
        ("gemm", "no such kernel"),
        ("", "no such kernel"),
        ("gemm_1x2", "shape '1x2' of gemm is not {M}x{K}x{N} (M: rows of A and C;"),
        ("gemm_1x2x3x4", "is not {M}x{K}x{N}"),
        ("gemm_0x2x3", "positive integers"),
        ("gemm_01x2x3", "positive integers"),
        ("gemm_-1x2x3", "positive integers"),
        ("gemm_1x2x3\n", "positive integers"),
        ("gemm_1x2x\u0663", "positive integers"),
        ("gemm_../../x", "is not {M}x{K}x{N}"),
        ("flash_attention_64x64_d64x64_h1x1_window", "mask: causal or full"),
    ],
)
def test_what_is_not_a_case(name: str, complaint: str) -> None:
    with pytest.raises(InputError) as refusal:
        parse_case(name)
    assert complaint in str(refusal.value)


def test_make_names_the_dims_it_needs() -> None:
    with pytest.raises(InputError, match="dims M given; M, K needed"):
        make_case("gemv", M=1)


def test_a_kernel_without_a_harness_has_an_output_too() -> None:
    assert parse_case("gemv_add_64x512").output_shape == (64,)
