"""A small registry laid out as mlir-air keeps its own: an index, a page per kernel, JSON for the GEMMs."""

import json
from pathlib import Path

_GEMM_TILE = {"tile_m": 64, "tile_k_l2": 512, "tile_k_l1": 32, "tile_n": 128}
_TIMED = "latency | bandwidth | mean_rel_L1"
_MAXIMA = "rel_err max | abs_err max"
# Kernel's page -> title in the index, index table (header, row), detail table (heading, header, row).
_PAGES = {
    "GEMM_bf16_in_bf16_out": (
        "GEMM (bf16 out)",
        "(M×K×N) | high-prec fused-cast | high-prec drain | low-prec direct | mean_rel_L1 (high / low)"
        " | Used by | Status",
        "2048×2048×2048 | **6215** | 6025 | 5230 | 9.7e-3 / 1.3e-2 | Alpha-1B Q/O proj | ✅",
        "### high-precision, `--method fused-cast`",
        "(M, K, N) | tile (m/kl2/kl1/n) | GFLOPS (incl. cast) | mean_rel_L1 | Status",
        "2048×2048×2048 | 64/512/32/128 | **6215** | 9.7e-3 | ✅",
    ),
    "GEMV_bf16": (
        "GEMV",
        "(M×K) | best tile (herd_m/tile_m/m_input) | GFLOPS | mean_rel_L1 | Used by | Status",
        "2048×2048 | 8/8/8 | 25.5 | 1.6e-9 | Alpha-1B Q proj | ✅",
        None,
        f"(M, K) | tile (herd_m/tile_m/m_input) | latency | GFLOPS | mean_rel_L1 | {_MAXIMA}"
        " | Used by | Status",
        "2048×2048 | 8/8/8 | 330 µs | 25.5 | 1.6e-9 | 4.4e-3 | 2.0e-3 | Alpha-1B Q proj | ✅",
    ),
    "RMSNorm_bf16": (
        "RMSNorm",
        f"(M×N) | herd_x | {_TIMED} | Used by | Status",
        "2048×2048 | 8 | 911 µs | 18.4 GB/s | 4.2e-3 | Alpha-1B prefill RMSNorm | ✅",
        None,
        f"(M, N) | herd_x | {_TIMED} | rel_err max | abs_err max | Used by | Status",
        "2048×2048 | 8 | 911 µs | 18.4 GB/s | 4.2e-3 | 2.3e-2 | 1.9e-1 | Alpha-1B prefill RMSNorm | ✅",
    ),
    "LayerNorm_bf16": (
        "LayerNorm",
        f"(M×N) | herd_x | {_TIMED} | abs_err max | Used by | Status",
        "1024×768 | 8 | 324 µs | 9.7 GB/s | 4.4e-3 | 1.9e-1 | Alpha-1B norm | ✅",
        None,
        f"(M, N) | herd_x | {_TIMED} | abs_err max | Used by | Status",
        "1024×768 | 8 | 324 µs | 9.7 GB/s | 4.4e-3 | 1.9e-1 | Alpha-1B norm | ✅",
    ),
    "RoPE_bf16": (
        "RoPE",
        f"(rows×head_dim) | herd (hx/hy) | {_TIMED} | Used by | Status",
        "8×64 | 8/1 | 83 µs | 0.04 GB/s | 2.4e-3 | Alpha-1B decode RoPE-K | ✅",
        None,
        f"rows | head_dim | best config (hx/hy) | {_TIMED} | abs_err max | Used by | Status",
        "8 | 64 | 8/1 | 83 µs | 0.04 GB/s | 2.4e-3 | 1.6e-2 | Alpha-1B decode RoPE-K | ✅",
    ),
    "SiLU_Mul_bf16": (
        "SiLU-and-Mul",
        f"N | (as 2-D) | best config (hx/hy/tile_n) | {_TIMED} | abs_err max | Status",
        "2097152 | — | 8/1/4096 | 569 µs | 22.1 GB/s | 1.0e-2 | 0.125 | ✅",
        None,
        f"N | (as 2-D) | best config (herd_x/herd_y/tile_n) | {_TIMED} | abs_err max | Status",
        "2097152 | — | 8/1/4096 | 569 µs | 22.1 GB/s | 1.0e-2 | 0.125 | ✅",
    ),
    "GELU_bf16": (
        "GELU",
        f"N | (as 2-D) | best config (hx/hy/tile_n) | {_TIMED} | abs_err max | Used by | Status",
        "1048576 | — | 8/2/4096 | 235 µs | 17.8 GB/s | 8.4e-3 | 1.56e-2 | coverage | ✅",
        None,
        f"N | (as 2-D) | best config (herd_x/herd_y/tile_n) | {_TIMED} | abs_err max | Status",
        "1048576 | — | 8/2/4096 | 235 µs | 17.8 GB/s | 8.4e-3 | 1.56e-2 | ✅",
    ),
    "EltwiseAdd_bf16": (
        "Element-wise Add",
        f"N | best config (hx/hy/tile_n) | {_TIMED} | Status",
        "1048576 | 8/1/2048 | 175 µs | 36.0 GB/s | 1.9e-3 | ✅ (Alpha-1B residual)",
        None,
        f"N | (as 2-D) | best config (cols/rows/tile) | {_TIMED} | abs_err max | Status",
        "1048576 | 1024×1024 | 8/1/2048 | 175 µs | 36.0 GB/s | 1.9e-3 | 3.1e-2 | ✅",
    ),
    "FlashAttention_bf16": (
        "FlashAttention",
        "lq×lk | dk/dv | heads q/kv | causal | dv_chunks | latency | GFLOP/s | mean_rel_L1 | Status",
        "2048×2048 | 64/64 | 32/8 | ✓ | 1 | 15.4 ms | **1065–1116** | 3.9e-2 | ✅",
        None,
        "lq×lk | dk/dv | heads q/kv | causal | dv_chunks | latency | GFLOP/s | mean_rel_L1 | abs_err max"
        " | Status",
        "2048×2048 | 64/64 | 32/8 | ✓ | 1 | 15.4 ms | **1065–1116** | 3.9e-2 | 8.4e-2 | ✅",
    ),
}


def make_stand_in(root: Path) -> Path:
    """Write the registry into `root`, which must not exist; returns it."""
    (root / "details").mkdir(parents=True)
    index = ["# A registry\n"]
    for page, (title, index_header, index_row, heading, header, row) in _PAGES.items():
        index += [f"\n## {title} — tested shapes\n", f"\nSee [it](details/{page}.md).\n\n"]
        index += _table(index_header, index_row)
        lines = [f"# {title}\n", "\n## Tested shapes\n", *([f"\n{heading}\n"] if heading else []), "\n"]
        text = "".join([*lines, *_table(header, row), "\nWords after the table.\n"])
        (root / "details" / f"{page}.md").write_text(text, encoding="utf-8")
    (root / "supported_kernels.md").write_text("".join([*index, "\n---\n"]), encoding="utf-8")
    (root / "details" / "GEMM_bf16_in_bf16_out.json").write_text(
        json.dumps(_gemm_json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    return root


def _table(header: str, row: str) -> list[str]:
    columns = header.count("|") + 1
    return [f"| {header} |\n", f"|{'---|' * columns}\n", f"| {row} |\n"]


def _gemm_json() -> dict:
    method = {"tile": _GEMM_TILE, "gflops": 6215, "mean_rel_L1": 0.0097, "tier": "high"}
    shape = {
        "M": 2048,
        "K": 2048,
        "N": 2048,
        "used_by": "Alpha-1B Q/O proj",
        "methods": {"fused-cast": method},
        "best": {"high": "fused-cast"},
    }
    return {"kernel": "GEMM", "output_dtype": "bf16", "herd": [8, 4], "shapes": [shape]}
