"""A kernel that was made wrong is caught, and only it runs again once it is right."""

import json

import pytest

SOUND = "gemv_256x512"
# One line of a real kernel each: case, the line, and what someone may turn it into by mistake.
MISTAKES = {
    "skips the last K tile": (
        "gemm_256x2048x512",
        "for (unsigned k = 0; k < GEMM_K; k += DIM_K_L2)",
        "for (unsigned k = 0; k < GEMM_K - DIM_K_L2; k += DIM_K_L2)",
    ),
    "forgets the causal mask": (
        "flash_attention_256x256_d64x64_h4x2_causal",
        "if (ATTN_CAUSAL && key + lkp > first_query) apply_causal_mask(first_query, key, scores);",
        "",
    ),
    "swaps K/V heads": (
        "flash_attention_256x256_d64x64_h4x2_causal",
        "kv[head / queries_per_kv_head]",
        "kv[ATTN_KV_HEADS - 1 - head / queries_per_kv_head]",
    ),
}


def verdict(project, case: str) -> dict:
    return json.loads(project.text(f"results/{case}.verdict"))


# FlashAttention takes long to build, and each mistake is built twice.
QUICK = "skips the last K tile"
CHOSEN = [
    mistake if mistake == QUICK else pytest.param(mistake, marks=pytest.mark.slow) for mistake in MISTAKES
]


@pytest.mark.parametrize("mistake", CHOSEN)
def test_a_wrong_kernel_fails_and_the_right_one_passes_again(project, planned, mistake: str) -> None:
    case, line, wrong_line = MISTAKES[mistake]
    kernel = case.split("_2")[0]
    source = f"kernels/{kernel}/{kernel}.cc"
    targets = [f"results/{name}.verdict" for name in (case, SOUND)]
    only_it = sorted(f"{step} {case}" for step in ("Compile", "Run", "Judge"))

    right = project.text(source)
    project.replace(source, line, wrong_line)
    assert project.snakemake(*targets).returncode == 0
    wrong = verdict(project, case)
    assert (wrong["verdict"], verdict(project, SOUND)["verdict"]) == ("FAIL", "PASS")
    assert wrong["precision"]["mismatches"] > 0
    assert str(wrong["precision"]["mismatches"]) in wrong["reason"]

    (project.root / source).write_text(right, encoding="utf-8")
    assert planned(project.snakemake("-n", *targets)) == only_it
    assert project.snakemake(*targets).returncode == 0
    assert verdict(project, case)["verdict"] == "PASS"
    assert planned(project.snakemake("-n", *targets)) == []
