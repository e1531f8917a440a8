"""The plan at parse time."""

import time
from pathlib import Path

import pytest

from scripts.errors import InputError
from scripts.workflow.plan import known_models, make_plan
from scripts.workflow.requested import Requested
from scripts.workflow.settings import Settings

ROOT = Path(__file__).resolve().parents[3]
NOTHING = Requested((), ())


@pytest.fixture(autouse=True)
def in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def settings(**changes: object) -> Settings:
    values = {
        "models": ("llama-3.2-1b",),
        "seq_len": 2048,
        "target": "host",
        "gate_scope": "harness",
        "tiles": {},
        "registry": "docs/kernel_registry",
        "registry_root": None,
        "record": "results/docs/{model}",
        "minutes": {"compile": 1, "run": 1, "diagnose": 1},
        "diagnosis": {
            "layers": 1,
            "decode_tokens": 1,
            "min_cosine": 0.9,
            "max_step": 0.1,
            "reference": "auto",
        },
    }
    return Settings(**{**values, **changes})


def test_the_default_model() -> None:
    plan = make_plan(settings(), NOTHING)
    cases = plan.harness_cases("llama-3.2-1b")
    assert len(cases) == 16 and set(plan.cases("llama-3.2-1b")) == set(plan.specs)
    assert len(plan.specs) == 19 and plan.has_diagnosis("llama-3.2-1b")
    assert plan.diagnosed_models("gemv_add_2048x8192") == ["llama-3.2-1b"]
    assert plan.used_by("gemm_2048x2048x8192") == ["llama-3.2-1b prefill Gate/Up proj"]
    assert not any(case.startswith("gemv_add_") for case in cases)


def test_a_case_that_two_models_share_names_both() -> None:
    plan = make_plan(settings(models=("qwen3-0.6b", "qwen3-1.7b")), NOTHING)
    shared = set(plan.harness_cases("qwen3-0.6b")) & set(plan.harness_cases("qwen3-1.7b"))
    assert shared
    for case in shared:
        assert {label.split()[0] for label in plan.used_by(case)} == {"qwen3-0.6b", "qwen3-1.7b"}


def test_a_case_that_no_model_needs_and_a_model_that_is_not_configured() -> None:
    plan = make_plan(settings(), Requested(("gemm_512x512x512",), ("qwen3-0.6b",)))
    assert plan.specs["gemm_512x512x512"].tile_source == "registry"
    assert plan.used_by("gemm_512x512x512") == []
    assert plan.harness_cases("qwen3-0.6b")


def test_three_models_are_their_union() -> None:
    names = ("llama-3.2-1b", "qwen3-0.6b", "qwen3-1.7b")
    plan = make_plan(settings(models=names), NOTHING)
    alone = {name: make_plan(settings(models=(name,)), NOTHING) for name in names}
    assert set(plan.specs) == set().union(*(each.specs for each in alone.values()))
    for case in plan.specs:
        assert plan.used_by(case) == [label for name in names for label in alone[name].used_by(case)]


def test_the_preflight_of_a_model_in_a_few_words() -> None:
    words = make_plan(settings(), NOTHING).preflight("llama-3.2-1b")
    assert words.startswith("19 cases, ") and words.endswith(" limits: 1 hint, 1 idle tiles")


def test_an_override_replaces_the_tile_of_its_case_only() -> None:
    before = make_plan(settings(), NOTHING).specs
    after = make_plan(settings(tiles={"silu_and_mul_16777216": {"tile_n": 2048}}), NOTHING).specs
    assert after["silu_and_mul_16777216"].tile == {"tile_n": 2048}
    assert {name for name in before if before[name] != after[name]} == {"silu_and_mul_16777216"}


@pytest.mark.parametrize(
    ("changes", "requested", "parts"),
    [
        ({"models": ("nope",)}, NOTHING, ["models: found 'nope'", "llama-3.2-1b"]),
        ({}, Requested((), ("nope",)), ["models: found 'nope'"]),
        ({}, Requested(("gemm_5x",), ()), ["gemm_5x", "{M}x{K}x{N}"]),
        ({}, Requested(("nokernel_1",), ()), ["nokernel_1", "gemm"]),
        ({}, Requested(("gemv_add_64x64",), ()), ["gemv_add has no harness"]),
        ({}, Requested(("gemm_17x19x23",), ()), ["gemm_17x19x23", "no legal tile"]),
        ({"tiles": {"gemm_5x": {"tile_m": 32}}}, NOTHING, ["gemm_5x"]),
        ({"tiles": {"gemm_512x512x512": {"color": 3}}}, NOTHING, ["tiles.gemm_512x512x512", "color"]),
        ({"tiles": {"gelu_4096": {"method": "drain"}}}, NOTHING, ["tiles.gelu_4096", "drain"]),
        (
            {"tiles": {"gemm_2048x2048x512": {"tile_n": 240}}},
            NOTHING,
            ["tiles.gemm_2048x2048x512", "N divisible", "= 512 must be == 0", "nearest legal tile"],
        ),
        ({"registry": "no/such/folder"}, NOTHING, ["no/such/folder"]),
    ],
)
def test_what_cannot_be_planned_is_refused_in_one_line(changes, requested, parts: list[str]) -> None:
    with pytest.raises(InputError) as refusal:
        make_plan(settings(**changes), requested)
    message = str(refusal.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


def test_all_models_are_planned_fast() -> None:
    """A dry run of all of them has five seconds; Snakemake itself needs two."""
    begin = time.perf_counter()
    make_plan(settings(models=tuple(known_models())), NOTHING)
    assert time.perf_counter() - begin < 1.5
