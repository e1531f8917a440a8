"""A measured figure that contradicts the one on file is reported, and replaced only when asked to."""

import json
from pathlib import Path

import pytest

from scripts.append_registry import record
from scripts.precision.verdict import Perf
from scripts.registry.disagreement import IMPROVEMENT, REGRESSION, change_of
from tests.unit.registry.upstream.cases import device_verdict

RMSNORM, RMSNORM_MEAN = "rmsnorm_2048x2048", 0.0042  # 911 µs and 18.4 GB/s on file
GEMM, GEMM_MEAN = "gemm_f32_2048x2048x2048", 0.0093  # 8508 GFLOP/s on file
KNOWN_USER = ("llama-3.2-1b prefill Q proj",)


@pytest.mark.parametrize(
    "figure, on_file, value, change",
    [
        ("mean_rel_L1", "9.7e-3", 0.00974, None),  # rounds to what is on file
        ("mean_rel_L1", "9.7e-3", 0.0098, REGRESSION),
        ("mean_rel_L1", "9.7e-3", 0.0096, IMPROVEMENT),
        ("mean_rel_L1", "0.0", 1e-9, REGRESSION),
        ("mean_rel_L1", "0.0", 0.0, None),
        ("mean_rel_L1", "—", 0.5, None),
        ("mean_rel_L1", "max_abs 1.22e-3", 0.5, None),
        ("gflops", "**6215**", 5000, None),
        ("gflops", "**6215**", 4900, REGRESSION),
        ("gflops", "6215", 7500, IMPROVEMENT),
        ("gflops", "**1065–1116**", 1330, None),
        ("gflops", "**1065–1116**", 1350, IMPROVEMENT),
        ("gbps", "18.4 GB/s", 14.0, REGRESSION),
        ("latency_us", "17.6 ms", 17_600.0, None),
        ("latency_us", "17.6 ms", 30_000.0, REGRESSION),
        ("latency_us", "911 µs", 600.0, IMPROVEMENT),
        ("gflops", "6215", None, None),
    ],
)
def test_what_contradicts_what(figure, on_file, value, change):
    assert change_of(figure, on_file, value) == change


def _rmsnorm(mean=RMSNORM_MEAN, latency=911.0, gbps=18.4):
    return device_verdict(RMSNORM, mean, KNOWN_USER, Perf(latency_us=latency, gflops=None, gbps=gbps))


def _gemm(mean=GEMM_MEAN, gflops=8508.0):
    return device_verdict(GEMM, mean, KNOWN_USER, Perf(latency_us=2019.0, gflops=gflops, gbps=None))


def _told(receipt):
    return {(each["figure"], each["change"]) for each in receipt["disagreements"]}


def test_figures_that_agree_are_not_spoken_of(registry, contents):
    before = contents(registry)
    assert _told(record(_rmsnorm(), registry, None)) == set()
    assert _told(record(_gemm(gflops=8000.0), registry, None)) == set()
    assert contents(registry) == before


def test_a_disagreement_is_reported_and_nothing_is_replaced(registry, contents):
    before = contents(registry)
    receipt = record(_rmsnorm(mean=0.0051, latency=1400.0, gbps=12.0), registry, None)
    assert _told(receipt) == {("gbps", REGRESSION), ("mean_rel_L1", REGRESSION)}
    assert _told(record(_gemm(gflops=12_000.0), registry, None)) == {("gflops", IMPROVEMENT)}
    assert contents(registry) == before
    assert not any(each["accepted"] for each in receipt["disagreements"])


def test_each_file_that_disagrees_is_named_with_its_line(stand_in):
    named = [each["where"] for each in record(_gemm(gflops=5000.0), stand_in, None)["disagreements"]]
    names = ("supported_kernels.md", "details/GEMM_bf16_in_fp32_out.md", "details/GEMM_bf16_in_fp32_out.json")
    assert [where.rpartition(" line ")[0] for where in named] == [str(stand_in / name) for name in names]
    for where in named:
        path, _, line = where.rpartition(" line ")
        text = Path(path).read_text(encoding="utf-8").splitlines()[int(line) - 1]
        assert "8508" in text


def test_accept_replaces_the_figures_of_that_row_only(registry, contents, changes):
    before = contents(registry)
    verdict = _rmsnorm(mean=0.0051, latency=1400.0, gbps=12.0)
    receipt = record(verdict, registry, None, accept=True)
    assert all(each["accepted"] for each in receipt["disagreements"])
    after = contents(registry)
    for gone, new in changes(before, after).values():
        assert len(gone) == len(new) == 1
        assert "18.4 GB/s" in gone[0] and "12.0 GB/s" in new[0]
        assert "911 µs" in gone[0] and "1400 µs" in new[0]
        assert "4.2e-3" in gone[0] and "5.1e-3" in new[0]
        assert gone[0].split("|")[-3:] == new[0].split("|")[-3:]
    assert len(changes(before, after)) == 2
    again = record(verdict, registry, None, accept=True)
    assert again["disagreements"] == [] and contents(registry) == after


def test_accept_replaces_the_json_too_and_the_best_with_it(stand_in):
    receipt = record(_gemm(gflops=5000.0), stand_in, None, accept=True)
    assert _told(receipt) == {("gflops", REGRESSION)}
    text = (stand_in / "details" / "GEMM_bf16_in_fp32_out.json").read_text(encoding="utf-8")
    entry = json.loads(text)["shapes"][0]
    assert entry["methods"]["external"]["gflops"] == 5000
    # The tile is the one that this speed was reached with.
    assert entry["methods"]["external"]["tile"] == dict(_gemm().tile)
    assert entry["best"] == {"high": "direct"}  # 5516 GFLOP/s


def test_accept_with_figures_that_agree_changes_nothing(registry, contents):
    before = contents(registry)
    record(_rmsnorm(), registry, None, accept=True)
    assert contents(registry) == before
