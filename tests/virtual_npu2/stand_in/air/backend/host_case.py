"""Which case of this project a harness's build calls are: kernel, shape, method and tile, nothing else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from air.records import BuildCall

Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class HostCase:
    """What the host target is asked to build."""

    case: str  # <kernel>_<shape>
    knobs: Mapping[str, int]  # the kernel's knobs
    method: str | None = None  # code path, for kernels that have several
    inputs: tuple[int, ...] = (0, 1)  # which of the harness's buffers the ELF takes, in order
    slices: int = 1  # pieces the last dimension of the value and output buffers is stored in
    macros: Mapping[str, int] | None = None  # what the object file has to be compiled with


class UnknownModule(ValueError):
    """A module that this project has no host kernel for."""


def host_case(calls: Sequence[BuildCall]) -> HostCase:
    """The case that `calls` build. Raises UnknownModule for any other."""
    if [call.function for call in calls] == ["build_module", "_build_cast_module"]:
        return _gemm(calls[0].arguments, fused=True)
    if len(calls) == 1:
        maker = _MAKERS.get((calls[0].file, calls[0].function))
        if maker is not None:
            return maker(calls[0].arguments)
    raise UnknownModule(f"no host kernel for {[(call.file, call.function) for call in calls]}")


def _gemm_of_one_launch(given: Arguments) -> HostCase:
    return _gemm(given, fused=False)


def _gemm(given: Arguments, fused: bool) -> HostCase:
    names = ("tile_m", "tile_k_l2", "tile_k_l1", "tile_n", "herd_m", "herd_n")
    knobs = {name: given[name] for name in names}
    shape = f"{given['m']}x{given['k']}x{given['n']}"
    macros = {"DIM_M": given["tile_m"], "DIM_K": given["tile_k_l1"], "DIM_N": given["tile_n"]}
    if given["direct_codegen"]:
        kernel = "gemm_low" if given["np_dtype_out"] == "bfloat16" else "gemm_f32"
        return HostCase(f"{kernel}_{shape}", knobs, "direct")
    if fused:
        return HostCase(f"gemm_{shape}", knobs, "fused-cast", macros=macros)
    if given["np_dtype_out"] == "float32":
        return HostCase(f"gemm_f32_{shape}", knobs, "external", macros=macros)
    return HostCase(f"gemm_{shape}", knobs, "drain", macros=macros)


def _gemv(given: Arguments) -> HostCase:
    knobs = {name: given[name] for name in ("tile_m", "m_input", "herd_m")}
    return HostCase(f"gemv_{given['m']}x{given['k']}", knobs, macros={"DIM_M_OUTPUT": given["tile_m"]})


def _rows(kernel: str) -> Callable[[Arguments], HostCase]:
    def maker(given: Arguments) -> HostCase:
        return HostCase(f"{kernel}_{given['M']}x{given['N']}", {"herd_x": given["herd_x"]})

    return maker


def _rope(given: Arguments) -> HostCase:
    knobs = {name: given[name] for name in ("herd_x", "herd_y")}
    return HostCase(f"rope_{given['rows']}x{given['head_dim']}", knobs)


def _silu_and_mul(given: Arguments) -> HostCase:
    knobs = {"tile_n": given["tile_n"], "herd_x": given["herd_x"], "herd_y": given["herd_y"] or 1}
    return HostCase(f"silu_and_mul_{given['n']}", knobs)


def _gelu(given: Arguments) -> HostCase:
    columns, rows = _herd(given["herd_shape"])
    return HostCase(
        f"gelu_{given['n']}", {"tile_n": given["tile_n"], "herd_x": columns, "herd_y": rows}, inputs=(0,)
    )


def _eltwise_add(given: Arguments) -> HostCase:
    elements, tile = 1, 1
    for extent in given["shape"]:
        elements, tile = elements * extent, tile * given["tile"]
    columns, rows = _herd(given["herd_shape"])
    return HostCase(f"eltwise_add_{elements}", {"tile": tile, "herd_x": columns, "herd_y": rows})


def _herd(shape: Sequence[int] | None) -> tuple[int, int]:
    """Columns and rows of a herd; without a shape one row of the whole array."""
    columns, rows = [*(shape or (8,)), 1][:2]
    return columns, rows


def _flash_attention(given: Arguments) -> HostCase:
    lkp, heads = given["lkp"], f"h{given['num_heads']}x{given['num_kv_heads'] or given['num_heads']}"
    mask = "causal" if given["causal"] else "full"
    if given["window"] is not None:
        raise UnknownModule("no host kernel for sliding-window attention")
    names = ("lqp", "lkp", "num_q_tiles", "num_heads_per_unroll", "num_cascade_stages")
    return HostCase(
        f"flash_attention_{given['lq']}x{given['lk']}_d{given['dk']}x{given['dv']}_{heads}_{mask}",
        {name: given[name] for name in names},
        inputs=(0, 1, 2),
        slices=given["dv"] // (given["dv_tile"] or lkp),
        macros={
            "lqp": given["lqp"] // given["num_q_tiles"],
            "lkp": lkp,
            "dk_full": given["dk"],
            "dv_full": given["dv"],
        },
    )


_MAKERS: dict[tuple[str, str], Callable[[Arguments], HostCase]] = {
    ("run.py", "build_module"): _gemm_of_one_launch,
    ("matvec.py", "build_module"): _gemv,
    ("weighted_rms_norm.py", "build_module"): _rows("rmsnorm"),
    ("layer_norm.py", "build_module"): _rows("layernorm"),
    ("rope_halfsplit.py", "build_module"): _rope,
    ("silu_and_mul.py", "build_module"): _silu_and_mul,
    ("gelu.py", "build_gelu"): _gelu,
    ("eltwise_add.py", "build_eltwise_add"): _eltwise_add,
    ("attn_npu2.py", "build_module"): _flash_attention,
}
