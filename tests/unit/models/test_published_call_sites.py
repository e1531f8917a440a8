"""The published rows' `used_by`: our derivation has each of them, at that shape and call site."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from scripts.derive_shapes import plan_model
from scripts.models.plan import PlannedCase
from tests.unit.published import PublishedRow, published_rows

MODELS = {
    path.stem: path for path in (Path(__file__).resolve().parents[3] / "config" / "models").glob("*.json")
}
# A projection is the same call in any of these kernels: the contract, or the fusion, is the model's choice.
SAME_CALL = {
    "gemm": {"gemm", "gemm_low"},
    "gemm_low": {"gemm", "gemm_low"},
    "gemm_f32": {"gemm", "gemm_low"},
    "gemv": {"gemv", "gemv_add", "rmsnorm_gate_up_swiglu"},
}


@dataclass(frozen=True)
class Use:
    """One model's use of a published row."""

    row: PublishedRow
    model: str
    phase: str | None  # None where the cell does not say
    site: str  # "" where the cell names the model only


def _uses(row: PublishedRow) -> list[Use]:
    """`A + B prefill RMSNorm (…)` is used by A and B; `A Q/O proj + B Q/O proj` has a site for each."""
    cell = re.sub(r"\(.*?\)", "", row.used_by)
    parts = [part.strip() for part in re.split(r" \+ |coverage / ", cell)]
    uses, site = [], ""
    for part in reversed(parts):
        name, _, words = part.partition(" ")
        site = words.strip() or site
        if name.lower() in MODELS:
            uses.append(_use(row, name.lower(), site))
    return uses


def _use(row: PublishedRow, model: str, words: str) -> Use:
    phase = re.match(r"(prefill|decode)\b", words)
    site = re.sub(r"^(prefill|decode)\b", "", words).strip()
    return Use(row, model, phase[1] if phase else None, site.replace("K / V", "K/V"))


USES = [use for row in published_rows() for use in _uses(row)]


@cache
def _plan(model: str) -> list[PlannedCase]:
    return plan_model(MODELS[model])


def test_every_cell_that_names_a_model_is_read() -> None:
    for model in MODELS:
        named = sum(model in row.used_by.lower() for row in published_rows())
        assert named == sum(use.model == model for use in USES)
        assert named >= 13


@pytest.mark.parametrize(
    "use", USES, ids=lambda use: f"{use.model}-{use.row.case.name}-{use.row.method or 'only'}"
)
def test_a_published_use_is_derived(use: Use) -> None:
    kernels = SAME_CALL.get(use.row.case.kernel, {use.row.case.kernel})
    rows = [row for row in _plan(use.model) if row.kernel in kernels and row.shape == use.row.case.shape]
    assert rows, "no such case in the plan"
    assert any(_matches(row, use) for row in rows), [row.call_sites for row in rows]


def _matches(row: PlannedCase, use: Use) -> bool:
    # A cell that names the model only is FlashAttention's.
    site = use.site or "attention"
    sites = {re.sub(r" \(.*\)", "", each) for each in row.call_sites}
    return site in sites and (use.phase is None or use.phase == row.phase)
