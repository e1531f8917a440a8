"""The reference: each operation in FP32, rounded to bf16, as a bf16 model of Hugging Face has it."""

import numpy as np
from ml_dtypes import bfloat16

from scripts.diagnosis.weights import LayerWeights
from scripts.models.config import ModelConfig

_MASKED = np.float32(-1e30)
# tanh form of GELU, Hendrycks and Gimpel (2016).
_GELU_SCALE, _GELU_CUBIC = np.float32(0.7978845608), np.float32(0.044715)


class NumpyOperations:
    """Operations of the reference for one model. See `scripts.diagnosis.operations.Operations`."""

    def __init__(self, config: ModelConfig, norm_eps: float) -> None:
        self.config = config
        self.norm_eps = np.float32(norm_eps)

    def norm(self, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Normed in FP32, rounded, times the weight."""
        wide = x.astype(np.float32)
        mean = np.mean(np.square(wide), axis=-1, keepdims=True)
        normed = (wide / np.sqrt(mean + self.norm_eps)).astype(bfloat16)
        return normed * weight

    def linear(self, x: np.ndarray, weights: LayerWeights, name: str) -> np.ndarray:
        """An FP32 product, bias included before it is rounded."""
        product = x.astype(np.float32) @ getattr(weights, name).astype(np.float32)
        if name in weights.biases:
            product += weights.biases[name].astype(np.float32)
        return product.astype(bfloat16)

    def rotate(self, x: np.ndarray, table: np.ndarray) -> np.ndarray:
        """Half-split rotation of the first rotary_dim elements of each head."""
        rotary = table.shape[1]
        cosine, sine = np.split(table.astype(bfloat16).astype(np.float32)[:, None, :], 2, axis=2)
        first, second = np.split(x[..., :rotary].astype(np.float32), 2, axis=2)
        turned = np.concatenate((first * cosine - second * sine, first * sine + second * cosine), axis=2)
        return np.concatenate((turned.astype(bfloat16), x[..., rotary:]), axis=2)

    def attention(self, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Softmax in FP32, a head at a time."""
        out = np.empty_like(q)
        group = q.shape[1] // k.shape[1]
        last = len(k) - len(q) + np.arange(len(q))
        hidden = np.arange(len(k)) > last[:, None]
        for head in range(q.shape[1]):
            keys, values = (each[:, head // group].astype(np.float32) for each in (k, v))
            scores = q[:, head].astype(np.float32) @ keys.T / np.sqrt(np.float32(q.shape[2]))
            scores[hidden] = _MASKED
            scores -= scores.max(axis=1, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(axis=1, keepdims=True)
            out[:, head] = (scores @ values).astype(bfloat16)
        return out

    def project_and_add(
        self, x: np.ndarray, weights: LayerWeights, name: str, residual: np.ndarray
    ) -> np.ndarray:
        """The projection, rounded, then the residual."""
        return self.add(residual, self.linear(x, weights, name))

    def add(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Rounded once."""
        return (a.astype(np.float32) + b.astype(np.float32)).astype(bfloat16)

    def normed_gating(self, x: np.ndarray, weights: LayerWeights) -> np.ndarray:
        """Norm, Gate and Up, the activation and the product, each rounded."""
        normed = self.norm(x, weights.norms["MLP input"]) if self.config.pre_norm else x
        return self.gate(self.linear(normed, weights, "gate"), self.linear(normed, weights, "up"))

    def gate(self, gate: np.ndarray, up: np.ndarray) -> np.ndarray:
        """act(gate) * up."""
        wide = gate.astype(np.float32)
        if self.config.activation == "silu":
            activated = wide / (1 + np.exp(-wide))
        else:
            activated = wide / 2 * (1 + np.tanh(_GELU_SCALE * (wide + _GELU_CUBIC * wide**3)))
        product = activated.astype(bfloat16).astype(np.float32) * up.astype(np.float32)
        return product.astype(bfloat16)
