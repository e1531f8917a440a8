"""Limits of one launch that decide which kernels a decoder calls, whatever their tiles."""

from scripts.cases.kernel_facts import load_kernel
from scripts.limits.findings import LAUNCH, OK, OTHER_KERNELS, Finding
from scripts.models.config import ModelConfig
from scripts.models.lm_head import lm_head


def launch_limits(config: ModelConfig) -> list[Finding]:
    """The fused decode cascade's limits and the tallest LM head of one launch, against the model's sizes."""
    cascade, add = "rmsnorm_gate_up_swiglu", "gemv_add"
    below = load_kernel(cascade).launch_limits["hidden_below"]
    multiple = load_kernel(add).launch_limits["multiple_of"]
    lengths = {
        "hidden_size": config.hidden_size,
        "q_dim": config.q_dim,
        "intermediate_size": config.intermediate_size,
    }
    apart, hidden = "O, Gate/Up and Down as GEMVs of their own", config.hidden_size
    says = "the cascade splits K over at most 4 core rows"
    return [
        _finding((cascade, "hidden size", "hidden_size"), hidden, f"< {below}", hidden < below, apart, says),
        *(
            _finding(
                (add, f"{name} alignment", f"{name} % {multiple}"),
                length % multiple,
                "== 0",
                length % multiple == 0,
                apart,
                f"right only where every length is a multiple of {multiple}",
            )
            for name, length in lengths.items()
        ),
        _lm_head(config),
    ]


def _lm_head(config: ModelConfig) -> Finding:
    tallest = load_kernel("gemv").launch_limits["tallest_single_launch"]
    rows, fits = config.vocab_size, config.vocab_size <= tallest
    notes = ", ".join(lm_head(config).notes)
    says = "the tallest matrix measured in one launch"
    return _finding(("gemv", "LM head", "vocab_size"), rows, f"<= {tallest}", fits, notes, says)


def _finding(
    what: tuple[str, str, str], value: int, limit: str, holds: bool, remedy: str, says: str
) -> Finding:
    """One line about (kernel, constraint, formula)."""
    kernel, constraint, formula = what
    outcome = OK if holds else OTHER_KERNELS
    return Finding(
        kernel, constraint, LAUNCH, formula, str(value), limit, outcome, "-" if holds else remedy, says
    )
