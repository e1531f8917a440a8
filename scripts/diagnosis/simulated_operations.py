"""The simulated side: each operation by the ELF of the case that the plan holds for it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from ml_dtypes import bfloat16

from scripts.cases.case import Case
from scripts.cases.kernel_facts import load_kernel
from scripts.diagnosis.numpy_operations import NumpyOperations
from scripts.diagnosis.weights import LayerWeights
from scripts.errors import InputError
from scripts.models.config import ModelConfig
from scripts.models.fused_decode import cascade_reachable
from scripts.targets.host_device import clear_unwritten, launch, poisoned

_GEMMS = ("gemm", "gemm_low")


@dataclass
class SimulatedKernels:
    """The model's ELFs by case, and which of them have been run."""

    elfs: dict[Case, Path]
    threads: int  # of each launch
    exercised: dict[str, None] = field(
        default_factory=dict
    )  # names of cases, in the order of their first run

    def case(self, kernels: Sequence[str], **least: int) -> Case:
        """The smallest planned case whose dims are at least these. Raises InputError when there is none."""
        fits = [
            case
            for case in self.elfs
            if case.kernel in kernels and all(case.dims[name] >= size for name, size in least.items())
        ]
        if not fits:
            wanted = ", ".join(f"{name}={size}" for name, size in least.items())
            raise InputError(f"diagnosis: the plan has no case of {' or '.join(kernels)} that holds {wanted}")
        return min(fits, key=lambda case: tuple(case.dims.values()))

    def run(self, case: Case, *inputs: np.ndarray) -> np.ndarray:
        """The output of one launch; elements the kernel never writes are 0, as on the device."""
        dtype = load_kernel(case.kernel).output_dtype
        output = poisoned(case.output_shape, dtype)
        launch(self.elfs[case], [np.ascontiguousarray(each) for each in inputs], output, self.threads)
        clear_unwritten(output, dtype)
        self.exercised[case.name] = None
        return output


class SimulatedOperations:
    """Operations by kernels. See `scripts.diagnosis.operations.Operations`.

    For one token, what upstream leaves to the CPU is done by the reference's arithmetic: attention over the
    cache, and what stands between projections where no fused cascade takes them.
    """

    def __init__(self, config: ModelConfig, kernels: SimulatedKernels, cpu: NumpyOperations) -> None:
        self.config, self.kernels, self.cpu = config, kernels, cpu
        self.cascade = cascade_reachable(config)

    def norm(self, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """The rmsnorm kernel; eps is the kernel's own."""
        case = self.kernels.case(["rmsnorm"], M=len(x), N=x.shape[1])
        if case.dims["N"] != x.shape[1]:
            raise InputError(f"diagnosis: the plan has no RMSNorm of width {x.shape[1]}")
        return self.kernels.run(case, _padded(x, case.dims["M"], x.shape[1]), weight)[: len(x)]

    def linear(self, x: np.ndarray, weights: LayerWeights, name: str) -> np.ndarray:
        """A GEMM over a prompt, a GEMV for one token, and the bias after it."""
        weight = getattr(weights, name)
        product = self._gemv(x, weights.by_rows(weight)) if len(x) == 1 else self._gemm(x, weight)
        if name not in weights.biases:
            return product
        case = self.kernels.case(["bias_add"], M=len(x), N=weight.shape[1])
        bias = _padded(weights.biases[name][None], 1, case.dims["N"])[0]
        sums = self.kernels.run(case, _padded(product, case.dims["M"], case.dims["N"]), bias)
        return sums[: len(x), : weight.shape[1]]

    def _gemm(self, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
        case = self.kernels.case(_GEMMS, M=len(x), K=weight.shape[0], N=weight.shape[1])
        rows, inner, columns = (case.dims[name] for name in "MKN")
        product = self.kernels.run(case, _padded(x, rows, inner), _padded(weight, inner, columns))
        return product[: len(x), : weight.shape[1]]

    def _gemv(self, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
        case = self.kernels.case(["gemv"], M=weight.shape[0], K=weight.shape[1])
        rows, inner = case.dims["M"], case.dims["K"]
        product = self.kernels.run(case, _padded(weight, rows, inner), _padded(x, 1, inner)[0])
        return product[None, : weight.shape[0]]

    def rotate(self, x: np.ndarray, table: np.ndarray) -> np.ndarray:
        """The RoPE kernel: a row per position and head, each with its own row of the table."""
        positions, heads, _ = x.shape
        rotary = table.shape[1]
        case = self.kernels.case(["rope"], ROWS=positions * heads, HEAD_DIM=rotary)
        rows = np.repeat(table.astype(bfloat16), heads, axis=0)
        flat = x[..., :rotary].reshape(-1, rotary)
        inputs = (_padded(each, case.dims["ROWS"], rotary).reshape(-1) for each in (flat, rows))
        turned = self.kernels.run(case, *inputs).reshape(-1, rotary)[: len(flat)]
        return np.concatenate((turned.reshape(positions, heads, rotary), x[..., rotary:]), axis=2)

    def attention(self, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        """FlashAttention over a prompt."""
        if len(q) == 1:
            return self.cpu.attention(q, k, v)
        width = q.shape[2]
        case = self.kernels.case(["flash_attention"], LQ=len(q), LK=len(k), DK=width, DV=width)
        # The kernel scales by its own width, which is wider where the heads were padded.
        scale = np.float32((case.dims["DK"] / width) ** 0.5)
        q = q if scale == 1 else (q.astype(np.float32) * scale).astype(bfloat16)
        out = self.kernels.run(case, *(self._heads_first(each, case) for each in (q, k, v)))
        return np.moveaxis(out[:, : len(q), :width], 0, 1)

    @staticmethod
    def _heads_first(x: np.ndarray, case: Case) -> np.ndarray:
        """x[T, heads, width] as [heads, T, width], zeros up to the case's lengths."""
        moved = np.moveaxis(x, 1, 0)
        return np.stack([_padded(head, case.dims["LQ"], case.dims["DK"]) for head in moved])

    def project_and_add(
        self, x: np.ndarray, weights: LayerWeights, name: str, residual: np.ndarray
    ) -> np.ndarray:
        """The fused gemv_add for one token where the cascade is reachable; else projection and add."""
        if len(x) > 1 or not self.cascade:
            return self.add(residual, self.linear(x, weights, name))
        weight = weights.by_rows(getattr(weights, name))
        case = self.kernels.case(["gemv_add"], M=weight.shape[0], K=weight.shape[1])
        return self.kernels.run(case, weight, x[0], residual[0])[None]

    def add(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The element-wise add over a prompt."""
        return self.cpu.add(a, b) if len(a) == 1 else self._flat("eltwise_add", a, b)

    def normed_gating(self, x: np.ndarray, weights: LayerWeights) -> np.ndarray:
        """The fused cascade for one token where it is reachable; else norm, projections and gating."""
        if len(x) == 1 and self.cascade:
            return self._fused_gating(x, weights)
        normed = self.norm(x, weights.norms["MLP input"]) if self.config.pre_norm else x
        gate, up = (self.linear(normed, weights, name) for name in ("gate", "up"))
        if len(x) == 1:
            return self.cpu.gate(gate, up)
        if self.config.activation == "silu":
            return self._flat("silu_and_mul", gate, up)
        return self._flat("eltwise_mul", self._flat("gelu", gate), up)

    def _fused_gating(self, x: np.ndarray, weights: LayerWeights) -> np.ndarray:
        inner, hidden = weights.gate.shape[1], weights.gate.shape[0]
        case = self.kernels.case(["rmsnorm_gate_up_swiglu"], M=inner, K=hidden)
        interleaved = np.empty((2 * inner, hidden), dtype=bfloat16)
        interleaved[0::2], interleaved[1::2] = weights.by_rows(weights.gate), weights.by_rows(weights.up)
        return self.kernels.run(case, interleaved, x[0], weights.norms["MLP input"])[None]

    def _flat(self, kernel: str, *inputs: np.ndarray) -> np.ndarray:
        """An element-wise kernel over arrays of one shape."""
        size = inputs[0].size
        case = self.kernels.case([kernel], N=size)
        flat = (_padded(each.reshape(1, -1), 1, case.dims["N"])[0] for each in inputs)
        return self.kernels.run(case, *flat)[:size].reshape(inputs[0].shape)


def _padded(x: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """x[at most rows, at most columns] with zeros up to [rows, columns]."""
    if x.shape == (rows, columns):
        return x
    wide = np.zeros((rows, columns), dtype=x.dtype)
    wide[: x.shape[0], : x.shape[1]] = x
    return wide
