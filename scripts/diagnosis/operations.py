"""What a decoder layer is made of: the operations that a kernel, or its reference, carries out."""

from typing import Protocol

import numpy as np

from scripts.diagnosis.weights import LayerWeights


class Operations(Protocol):
    """Operations on bf16 arrays; T is the number of tokens, S that of keys."""

    def norm(self, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """RMSNorm of each row of x[T, N] with weight[N]."""

    def linear(self, x: np.ndarray, weights: LayerWeights, name: str) -> np.ndarray:
        """x[T, in] times the projection of that name, plus its bias if it has one: [T, out]."""

    def rotate(self, x: np.ndarray, table: np.ndarray) -> np.ndarray:
        """RoPE of x[T, heads, head_dim] by table[T, rotary_dim], cosines then sines, in float64."""

    def attention(self, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Causal attention of q[T, heads, D], the last T positions, over k and v[S, kv_heads, D]: like q."""

    def project_and_add(
        self, x: np.ndarray, weights: LayerWeights, name: str, residual: np.ndarray
    ) -> np.ndarray:
        """residual[T, out] plus the projection of x[T, in]."""

    def add(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """a + b, element by element."""

    def normed_gating(self, x: np.ndarray, weights: LayerWeights) -> np.ndarray:
        """The MLP before its Down projection: act(gate(y)) * up(y)[T, inner], y the normed x[T, hidden]."""
