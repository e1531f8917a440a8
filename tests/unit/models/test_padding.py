"""Padding: what no legal tile takes is rounded up, the padded shape is planned, and both are recorded."""

from dataclasses import replace
from pathlib import Path

import pytest

from scripts.cases.case import parse_case
from scripts.cases.tile_choice import choose_spec
from scripts.errors import InputError
from scripts.models.call_sites import derive
from scripts.models.config import load_config
from scripts.models.padding import padded
from scripts.models.plan import PlannedCase

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "tests" / "fixtures" / "models"
CONFIGS = [*(ROOT / "config" / "models").glob("*.json"), *FIXTURES.glob("*.json")]


def _plan(stem: str, seq_len: int) -> dict[str, PlannedCase]:
    return {row.case: row for row in derive(load_config(FIXTURES / f"{stem}.json"), seq_len, {})}


def test_a_sequence_without_a_tile_is_padded_in_every_call_of_the_prompt() -> None:
    plan = _plan("smolvlm2-500m", 241)
    assert plan["eltwise_add_245760"].call_sites == ("residual (seq 241 padded to 256)",)
    assert plan["gemm_256x960x960"].call_sites == ("Q/O proj (seq 241 padded to 256)",)
    text = [row for row in plan.values() if row.phase == "prefill" and "vision" not in str(row.call_sites)]
    padded_rows = [row for row in text if "seq 241 padded to 256" in str(row.call_sites)]
    assert {row.case for row in text} - {row.case for row in padded_rows} == {"gemm_64x12288x960"}
    assert not any("padded" in str(row.call_sites) for row in plan.values() if row.phase == "decode")
    assert plan["eltwise_add_245760"].used_by("smolvla") == (
        "smolvla prefill residual (seq 241 padded to 256)",
    )


@pytest.mark.parametrize(
    ("seq_len", "rows"), [(1, 64), (50, 64), (64, 64), (241, 256), (291, 320), (320, 320)]
)
def test_upstreams_padded_lengths(seq_len: int, rows: int) -> None:
    cases = {row.case for row in derive(load_config(FIXTURES / "tiny.json"), seq_len, {})}
    assert f"gemm_{rows}x2048x256" in cases


def test_a_width_that_leaves_a_row_of_tiles_idle_is_padded() -> None:
    """SmolVLA's action expert: 50 positions, 720 wide."""
    plan = _plan("smolvla-expert", 50)
    both = "seq 50 padded to 64, N 720 padded to 768"
    assert plan["gemm_64x960x768"].call_sites == (f"O proj ({both})",)
    assert plan["gemm_64x2048x768"].call_sites == (f"Down proj ({both})",)
    assert plan["gemm_64x720x960"].call_sites == ("Q proj (seq 50 padded to 64)",)
    assert plan["gemv_960x768"].call_sites == ("Q proj (K 720 padded to 768)",)
    assert plan["gemv_720x960"].call_sites == ("O proj",)


@pytest.mark.parametrize(
    ("kernel", "dims", "paddable", "expected"),
    [
        ("gemm", {"M": 1024, "K": 588, "N": 1152}, ("K", "N"), ({"K": 640}, ("K 588 padded to 640",))),
        ("gemm", {"M": 1024, "K": 1152, "N": 4304}, ("K", "N"), ({"N": 4352}, ("N 4304 padded to 4352",))),
        ("gemm", {"M": 100, "K": 720, "N": 64}, ("K", "N"), ({}, ())),
        ("gemv", {"M": 32001, "K": 1024}, ("M", "K"), ({"M": 32064}, ("M 32001 padded to 32064",))),
        ("gemv", {"M": 32002, "K": 1024}, ("M", "K"), ({"M": 32064}, ("M 32002 padded to 32064",))),
        ("gemv", {"M": 720, "K": 1024}, ("M", "K"), ({}, ())),
        (
            "flash_attention",
            {"LQ": 64, "LK": 64, "DK": 96, "DV": 96, "HQ": 32, "HKV": 32, "mask": 1},
            ("DK", "DV"),
            ({"DK": 128, "DV": 128}, ("DK 96 padded to 128", "DV 96 padded to 128")),
        ),
    ],
)
def test_a_dimension(kernel: str, dims: dict, paddable: tuple, expected: tuple) -> None:
    assert padded(kernel, dims, paddable) == ({**dims, **expected[0]}, expected[1])


def test_patches_are_not_padded() -> None:
    """27 x 27 of them: full attention would look at the padding."""
    config = load_config(FIXTURES / "smolvlm2-500m.json")
    odd = replace(config, vision=replace(config.vision, patches=27 * 27))
    with pytest.raises(
        InputError, match="729 patches are a number that no legal tile takes; a multiple of 64 is"
    ):
        derive(odd, 64, {})


# What no tile takes even when it is padded: these models can't be run by a GEMV a projection.
TOO_WIDE = {"qwen2.5-7b": {"gemv_3584x18944"}, "olmo2-32b": {"gemv_5120x27648"}}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
@pytest.mark.parametrize("seq_len", [50, 241, 512])
def test_every_planned_case_has_a_tile(path: Path, seq_len: int) -> None:
    without = set()
    for row in derive(load_config(path), seq_len, {}):
        if row.source == "harness":
            try:
                choose_spec(parse_case(row.case), [])
            except InputError:
                without.add(row.case)
    assert without == TOO_WIDE.get(path.stem, set())
