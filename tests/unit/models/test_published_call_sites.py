"""The published rows' `used_by`: our derivation has each of them, at that shape and call site."""

import dataclasses
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from scripts.derive_shapes import plan_model
from scripts.models.call_sites import derive
from scripts.models.config import load_config
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


FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "models"


@dataclass(frozen=True)
class Deployment:
    """A model that upstream runs, or ran a part of, and its config among the fixtures."""

    published: str  # how the cells call it
    config: str  # the fixture
    seq_len: int
    only: str = ""  # a pattern of the cells that are about this config


DEPLOYMENTS = [
    Deployment("Llama-3.2-3B", "llama-3.2-3b", 2048),
    Deployment("Llama-3.1-8B", "llama-3.1-8b", 2048),
    Deployment("SmolLM2-1.7B", "smollm2-1.7b", 2048),
    Deployment("Qwen3-4B", "qwen3-4b", 2048),
    Deployment("Qwen2.5-7B", "qwen2.5-7b", 2048),
    Deployment("Gemma3-4B", "gemma3-4b", 2048),
    Deployment("SmolVLA", "smolvlm2-500m", 241, "^SmolVLA (?!action|attention|RoPE)"),
    Deployment("SmolVLA", "smolvla-expert", 50, "^SmolVLA action expert [qkvogud]"),
]
# Rows of shapes that a deployment tried, and did not or could not derive from the config.
TRIED = {
    "64x720x1600",  # Q, K and V with concatenated weights
    "64x720x4096",  # Gate and Up with concatenated weights
    "64x960x720",  # native N, slower than padded to 768
    "64x2048x720",  # the same
    "256x320x320",  # keys of the other model: cross attention
}


def _shapes(deployment: Deployment) -> set[tuple[str, str]]:
    """Kernel and shape of the published rows that name the deployment."""
    # A possessive is about another model's row.
    pattern = re.compile(deployment.only or re.escape(deployment.published) + "(?!')")
    named = [row for row in published_rows() if pattern.search(row.used_by)]
    return {(_plain(row.case.kernel), row.case.shape) for row in named if row.case.shape not in TRIED}


def _plain(kernel: str) -> str:
    """The contract is the registry's choice."""
    return "gemm" if kernel in SAME_CALL["gemm"] | {"gemm_f32"} else kernel


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda each: each.config)
def test_what_a_deployment_published_is_derived_from_its_config(deployment: Deployment) -> None:
    """Gemma's rows are those of a run with its window, so that is set aside here."""
    config = dataclasses.replace(load_config(FIXTURES / f"{deployment.config}.json"), window=None)
    planned = {(_plain(row.kernel), row.shape) for row in derive(config, deployment.seq_len, {})}
    published = _shapes(deployment)
    assert published
    assert published <= planned
