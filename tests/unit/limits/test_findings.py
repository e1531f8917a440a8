"""Limits checked before a compile: walls, hints, known bad tiles, padding and idle tiles."""

from pathlib import Path

import pytest

from scripts.cases.case import parse_case
from scripts.cases.kernel_facts import harness_kernels, load_kernel
from scripts.cases.tile_choice import choose_spec
from scripts.cases.walls import hints, known_bad
from scripts.errors import InputError
from scripts.limits.findings import Finding, findings, worth_a_look
from scripts.limits.table import read_table, summary, table_text
from scripts.models.plan import PlannedCase
from tests.unit.published import published_rows


def _found(case: str, *sites: str, **tile: int | str) -> dict[str, Finding]:
    """Constraint -> what is found, for a case with these call sites and overrides."""
    parsed = parse_case(case)
    planned = PlannedCase(parsed.kernel, parsed.shape, case, "prefill", sites or ("Q proj",), "harness")
    found = findings(planned, choose_spec(parsed, [], tile))
    return {each.constraint: each for each in found}


def test_every_constraint_is_there_with_its_value_and_limit() -> None:
    found = _found("gemm_2048x2048x2048")
    constraints = [each.name for each in load_kernel("gemm").constraints]
    assert list(found) == [*constraints, "herd fit"]
    l2 = found["L2"]
    assert (l2.value, l2.limit, l2.outcome) == (
        str(2 * 2 * 256 * (64 * 8 + 128 * 4) + 4 * 64 * 128 * 8 * 4),
        "<= 4194304",
        "ok",
    )
    assert not any(worth_a_look(each) for each in found.values())


def test_a_wall_of_the_default_tile_names_the_tile_that_passes() -> None:
    """Drain holds a bf16 buffer beside the FP32 one: 64 rows of C do not fit into L1."""
    found = _found("gemm_2048x2048x512")["L1"]
    assert (found.severity, found.outcome, found.value) == (
        "wall",
        "other tile",
        str(4 * (64 * 32 + 32 * 64) + 6 * 64 * 64),
    )
    assert found.remedy == "tile 64/256/32/64 herd 8x4 instead of 64/256/32/128 herd 8x4, which gives 73728"
    assert not worth_a_look(found)


def test_a_hint_names_a_tile_it_does_not_speak_against() -> None:
    found = _found("gemm_2048x2048x9728", tile_k_l2=256)["stride"]
    assert (found.severity, found.outcome) == ("hint", "hint")
    assert (found.value, found.limit) == (str(256 * 9728), "<= 1048576")
    assert found.remedy == "tile 64/64/32/128 herd 8x4"


def test_a_hint_that_no_tile_escapes_is_left_to_the_device() -> None:
    found = _found("flash_attention_2048x2048_d128x128_h16x8_causal")["head dimension"]
    assert (found.outcome, found.remedy) == ("hint", "none: the device decides")


def test_padding_is_recorded_with_the_length_that_was_there() -> None:
    found = _found("gemm_64x960x768", "O proj (seq 50 padded to 64, N 720 padded to 768)")
    assert found["padding"].remedy == "N 720 padded to 768"
    both = findings(
        PlannedCase(
            "eltwise_add",
            "245760",
            "eltwise_add_245760",
            "prefill",
            ("residual (seq 241 padded to 256)",),
            "harness",
        ),
        choose_spec(parse_case("eltwise_add_245760"), []),
    )
    assert (both[0].value, both[0].limit, both[0].outcome) == ("241", "-> 256", "padded")


def test_idle_tiles_say_why() -> None:
    found = _found("rmsnorm_1x2048")["herd fit"]
    assert (found.value, found.limit, found.outcome) == ("1", ">= 8", "idle tiles")
    assert found.remedy.startswith("M = 1 rows divide among 1 tile(s)")


def test_a_shape_without_a_tile_names_the_wall() -> None:
    planned = PlannedCase("gemv", "3584x18944", "gemv_3584x18944", "decode", ("Down proj",), "harness")
    (found,) = findings(planned, None)
    assert (found.constraint, found.outcome) == ("L1", "no legal tile")
    assert (found.limit, worth_a_look(found)) == ("<= 65536", True)


# Tiles that were silently wrong, and tiles of the same shape that were right (harness notes of upstream).
WRONG = [
    ("eltwise_add_245760", {"tile": 2048}),
    *(("gemm_256x960x" + n, {"tile_k_l2": 160, "tile_k_l1": 32}) for n in ("320", "960", "2560")),
    ("gemm_256x320x320", {"tile_k_l2": 160, "tile_k_l1": 32}),
    *(
        ("gemm_64x720x960", {"tile_k_l2": a, "tile_k_l1": b})
        for a, b in ((240, 48), (360, 40), (720, 48), (720, 80))
    ),
    *(("gemm_64x1440x720", {"tile_k_l2": a, "tile_k_l1": 32}) for a in (288, 480)),
    *(("gemm_192x320x64", {"tile_k_l2": a, "tile_k_l1": b}) for a, b in ((160, 32), (64, 64), (320, 64))),
]
RIGHT = [
    ("eltwise_add_245760", {"tile": 1920}),
    *(("gemm_256x960x320", {"tile_k_l2": a, "tile_k_l1": 32}) for a in (64, 192, 320, 960)),
    *(("gemm_64x720x960", {"tile_k_l2": a, "tile_k_l1": b}) for a, b in ((144, 48), (240, 80))),
    ("gemm_192x320x64", {"tile_k_l2": 320, "tile_k_l1": 32}),
]


def _speaks_against(case: str, tile: dict[str, int]) -> list[str]:
    parsed = parse_case(case)
    facts = load_kernel(parsed.kernel)
    defaults = {knob.name: knob.default for knob in facts.knobs}
    variables = {**parsed.dims, **dict.fromkeys(facts.method_flags, 0), **defaults, **tile}
    return [hint.says for hint in hints(facts, variables) if hint.severity == "known bad tile"]


@pytest.mark.parametrize(("case", "tile"), WRONG)
def test_a_tile_that_was_silently_wrong_is_known(case: str, tile: dict[str, int]) -> None:
    (says,) = _speaks_against(case, tile)
    assert says.startswith("silently wrong on a device (mean_rel_L1 0.")


@pytest.mark.parametrize(("case", "tile"), RIGHT)
def test_a_tile_that_was_right_is_not(case: str, tile: dict[str, int]) -> None:
    assert _speaks_against(case, tile) == []


def test_no_published_tile_is_a_known_bad_one() -> None:
    for row in published_rows():
        assert not _speaks_against(row.case.name, row.knobs), row


@pytest.mark.parametrize("case", sorted({case for case, _ in WRONG}))
def test_a_known_bad_tile_is_not_chosen(case: str) -> None:
    """Without any registry row, so that the search alone decides."""
    spec = choose_spec(parse_case(case), [])
    assert not _speaks_against(case, dict(spec.knobs))


def test_a_known_bad_tile_of_ones_own_is_a_hint_and_no_wall() -> None:
    found = _found("eltwise_add_245760", tile=2048)["known bad tile"]
    assert (found.severity, found.outcome, found.remedy) == (
        "known bad tile",
        "known bad tile",
        "tile 1920 herd 8x1",
    )


def test_only_gemm_and_add_have_known_bad_tiles() -> None:
    with_any = {name for name in harness_kernels() if load_kernel(name).known_bad_tiles}
    assert with_any == {"gemm", "eltwise_add"}
    assert known_bad(load_kernel("gemm"), {"M": 2048, "K": 2048, "N": 2048}) == []


def test_the_table_there_and_back(tmp_path: Path) -> None:
    found = list(_found("gemm_2048x2048x9728", tile_k_l2=256).values())
    path = tmp_path / "model.walls.tsv"
    path.write_text(table_text(found), encoding="utf-8")
    assert read_table(path) == found
    assert summary(found) == f"1 cases, {len(found)} limits: 1 hint"
    assert summary(list(_found("gemm_2048x2048x2048").values())).endswith(" limits: all hold")


@pytest.mark.parametrize(
    ("text", "complaint"), [("", "the header is not case"), ("HEADER\nx\ty\n", ":2: 2 columns")]
)
def test_not_a_table(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "model.walls.tsv"
    path.write_text(text.replace("HEADER\n", table_text([])), encoding="utf-8")
    with pytest.raises(InputError, match=complaint):
        read_table(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_table(tmp_path / "absent")
