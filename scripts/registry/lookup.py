"""Lookups for builders: the best measured configuration of a shape, or a refusal that says what to run."""

from pathlib import Path
from typing import Any

from scripts.errors import InputError
from scripts.registry.roots import SHARED_REGISTRY, registry_file
from scripts.registry.store import load_rows

GEMM_CONTRACTS = {("bf16", "high"): "gemm", ("bf16", "low"): "gemm_low", ("f32", "high"): "gemm_f32"}
"""(output type, precision) -> the kernel folder with that contract."""


class UnmeasuredShape(KeyError):
    """No device has measured this shape. The message names the shape and the command that measures it."""

    def __str__(self) -> str:
        # KeyError would print the message in quotes.
        return str(self.args[0])


def kernel_config(
    kernel: str,
    *,
    root: Path | None = None,
    output_dtype: str | None = None,
    precision: str | None = None,
    **dims: int | str,
) -> dict[str, Any]:
    """The best measured configuration of a shape: `{method, tile, herd, gflops, mean_rel_L1}`.

    `dims` are those of the kernel's shape, e.g. `M=2048, K=2048, N=8192` (C[M,N] = A[M,K] @ B[K,N]).
    For "gemm", `output_dtype` ("bf16", the default, or "f32") and `precision` ("high", the default, or
    "low") choose the contract. `tile` maps knobs to sizes, `herd` is [columns, rows], `gflops` is in
    GFLOP/s and None for kernels whose throughput is given in bytes.

    Only figures that a device gave count: published and hardware evidence. Never a guess: raises
    UnmeasuredShape for a shape that no device measured, InputError for an unknown kernel, dim or contract.
    """
    # Imported here, so that reading the registry alone costs no YAML.
    from scripts.cases.case import make_case

    root = root or SHARED_REGISTRY
    case = make_case(_contract(kernel, output_dtype, precision), **dims)
    for row in load_rows(root, case.kernel):
        if row["best"] and row["shape"] == case.shape:
            return {key: row[key] for key in ("method", "tile", "herd", "gflops", "mean_rel_L1")}
    path = registry_file(root, case.kernel)
    raise UnmeasuredShape(
        f"{case.kernel} {case.shape}: no measured row in {root.name}/{path.name}; NPU2 has to measure it; "
        f"a simulated verdict: snakemake --cores 1 results/{case.name}.verdict"
    )


def _contract(kernel: str, output_dtype: str | None, precision: str | None) -> str:
    """The kernel folder for a kernel, its output type and its precision."""
    if kernel == "gemm":
        contract = GEMM_CONTRACTS.get((output_dtype or "bf16", precision or "high"))
        if contract is None:
            allowed = ", ".join(f"{dtype} {tier}" for dtype, tier in GEMM_CONTRACTS)
            raise InputError(f"gemm: output_dtype {output_dtype}, precision {precision}; allowed: {allowed}")
        return contract
    if output_dtype is not None or precision is not None:
        _require_own_contract(kernel, output_dtype, precision)
    return kernel


def _require_own_contract(kernel: str, output_dtype: str | None, precision: str | None) -> None:
    from scripts.cases.kernel_facts import load_kernel

    own_dtype = load_kernel(kernel).output_dtype
    own_precision = "low" if kernel == GEMM_CONTRACTS["bf16", "low"] else "high"
    if output_dtype not in (None, own_dtype) or precision not in (None, own_precision):
        found = f"output_dtype {output_dtype}, precision {precision}"
        raise InputError(f"{kernel}: {found}; allowed: {own_dtype}, {own_precision}")
