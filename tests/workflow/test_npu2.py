"""The npu2 target end to end, on a stand-in for mlir-air: its figures are made up, its device is none."""

import json

GEMM, RMSNORM, ADD = "gemm_256x256x256", "rmsnorm_64x512", "eltwise_add_65536"
ATTENTION = "flash_attention_256x256_d64x64_h2x2_causal"
CANARY = "rmsnorm_256x960"


def verdict_files(*cases: str) -> list[str]:
    return [f"results/{case}.verdict" for case in cases]


def test_a_verdict_with_the_evidence_of_the_device(stand_in) -> None:
    finished = stand_in.snakemake(*verdict_files(GEMM))
    assert finished.returncode == 0, finished.stderr
    verdict = stand_in.verdict(GEMM)
    evidence, hardware = verdict["evidence"], verdict["evidence"]["hardware"]
    assert (verdict["verdict"], evidence["kind"], evidence["target"]) == ("PASS", "hardware", "npu2")
    assert evidence["device"] == "STAND-IN (tests)"
