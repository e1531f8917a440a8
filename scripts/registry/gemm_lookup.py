"""GEMM lookups with the signature, results and exceptions of mlir-air's `kernel_registry.registry_lookup`.

A builder swaps the import, and from then on sees the shapes that this registry has measured too.
"""

from pathlib import Path
from typing import Any

from scripts.registry.lookup import GEMM_CONTRACTS
from scripts.registry.roots import SHARED_REGISTRY
from scripts.registry.rows import Row, is_measured
from scripts.registry.store import load_rows

_FULL_HERD = [8, 4]
"""What a builder assumes where a configuration names no herd."""


def gemm_config(
    M: int,
    K: int,
    N: int,
    output_dtype: str = "bf16",
    precision: str = "high",
    *,
    root: Path | None = None,
) -> dict[str, Any]:
    """The best measured configuration of C[M,N] = A[M,K] @ B[K,N]: `{method, tile, gflops, mean_rel_L1}`.

    `output_dtype` is "bf16" or "f32", `precision` "high" or, for bf16, "low". `tile` maps tile_m, tile_k_l2,
    tile_k_l1, tile_n to sizes; `gflops` is in GFLOP/s. There is a `herd`, [columns, rows], only when it is
    not the full 8x4. `root` is a registry folder of ours, the shared one by default.

    Raises ValueError for another output type; KeyError for a shape that no device measured, or not in this
    precision. Never a guess.
    """
    rows = _rows("gemm_config", M, K, N, output_dtype, root)
    tiers = {tier: row for tier, row in rows if row["best"]}
    if precision not in tiers:
        raise KeyError(
            f"gemm_config: {M}x{K}x{N} (out={output_dtype}) has no best of precision {precision!r}; "
            f"measured: {sorted(tiers)}. Measure it: {_command(output_dtype, precision, M, K, N)}"
        )
    row = tiers[precision]
    herd = {} if row["herd"] == _FULL_HERD else {"herd": list(row["herd"])}
    return {**_config(row), **herd}


def gemm_config_method(
    M: int,
    K: int,
    N: int,
    output_dtype: str,
    method: str,
    precision: str = "high",
    *,
    root: Path | None = None,
) -> dict[str, Any]:
    """The measured configuration of one method, whether or not it is the best; for callers that force one.

    `precision` chooses nothing, as a method belongs to one tier; it is there for the signature. Raises as
    `gemm_config`, KeyError too for a method that was not measured for this shape.
    """
    rows = {row["method"]: row for _, row in _rows("gemm_config_method", M, K, N, output_dtype, root)}
    if method not in rows:
        raise KeyError(
            f"gemm_config_method: {M}x{K}x{N} (out={output_dtype}) has no method {method!r}; "
            f"measured: {sorted(rows)}"
        )
    return _config(rows[method])


def _rows(caller: str, M: int, K: int, N: int, output_dtype: str, root: Path | None) -> list[tuple[str, Row]]:
    """The measured rows of a shape, each with its precision, for an output type; at least one."""
    kernels = {tier: kernel for (dtype, tier), kernel in GEMM_CONTRACTS.items() if dtype == output_dtype}
    if not kernels:
        allowed = sorted({dtype for dtype, _ in GEMM_CONTRACTS})
        raise ValueError(f"{caller}: output_dtype {output_dtype!r}; allowed: {allowed}")
    shape = f"{M}x{K}x{N}"
    held = [
        (tier, row)
        for tier, kernel in kernels.items()
        for row in load_rows(root or SHARED_REGISTRY, kernel)
        if is_measured(row)
    ]
    rows = [(tier, row) for tier, row in held if row["shape"] == shape]
    if not rows:
        raise KeyError(
            f"{caller}: {shape} (out={output_dtype}) is not in the registry, which holds "
            f"{len({row['shape'] for _, row in held})} shapes of this type. "
            f"Measure it: {_command(output_dtype, 'high', M, K, N)}"
        )
    return rows


def _config(row: Row) -> dict[str, Any]:
    return {
        "method": row["method"],
        "tile": dict(row["tile"]),
        "gflops": row["gflops"],
        "mean_rel_L1": row["mean_rel_L1"],
    }


def _command(output_dtype: str, precision: str, M: int, K: int, N: int) -> str:
    kernel = GEMM_CONTRACTS.get((output_dtype, precision), "gemm")
    return f"snakemake --cores 1 results/{kernel}_{M}x{K}x{N}.row --config target=npu2 mlir_air=<checkout>"
