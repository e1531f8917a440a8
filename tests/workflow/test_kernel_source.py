"""A kernel source from outside of the project: built instead of ours, and what depends on it rebuilt."""

import json
from pathlib import Path

# Written for the test against the AIE API, with the function that the launch loop of rope calls.
ROPE_SOURCE = """
#include <aie_api/aie.hpp>
extern "C" void rope(bfloat16 *input, bfloat16 *lut, bfloat16 *output, int32_t dims) {
  event0();
  const int half = dims / 2;
  for (int v = 0; v < half; v += 16)
    chess_prepare_for_pipelining {
      aie::vector<bfloat16, 16> x1 = aie::load_v<16>(input + v), x2 = aie::load_v<16>(input + half + v);
      aie::vector<bfloat16, 16> c = aie::load_v<16>(lut + v), s = aie::load_v<16>(lut + half + v);
      aie::vector<bfloat16, 16> y1 = aie::sub(aie::mul(x1, c), aie::mul(x2, s));
      aie::vector<bfloat16, 16> y2 = aie::add(aie::mul(x1, s), aie::mul(x2, c));
      aie::store_v(output + v, y1);
      aie::store_v(output + half + v, y2);
    }
  event1();
}
"""
CASE, OTHER = "rope_64x64", "rmsnorm_8x128"
TARGETS = [f"results/{case}.verdict" for case in (CASE, OTHER)]


def config_of(source: Path) -> list[str]:
    return ["--config", f"kernels={{rope: {{source: {source}}}}}"]


def verdict(project, case: str) -> dict:
    return json.loads(project.text(f"results/{case}.verdict"))


def test_a_given_source_is_built_and_an_edit_rebuilds_its_cases(project, planned, tmp_path: Path) -> None:
    source = tmp_path / "my_rope.cc"
    source.write_text(ROPE_SOURCE, encoding="utf-8")
    assert project.snakemake(*TARGETS, *config_of(source)).returncode == 0
    assert verdict(project, CASE)["verdict"] == "PASS"
    build = json.loads(project.text(f"results/build/{CASE}/build.json"))
    assert [entry["file"] for entry in build["source"]] == ["my_rope.cc", "kernels/rope/upstream_launch.cc"]
    assert planned(project.snakemake("-n", *TARGETS, *config_of(source))) == []

    source.write_text(ROPE_SOURCE.replace("aie::sub(", "aie::add("), encoding="utf-8")
    assert planned(project.snakemake("-n", *TARGETS, *config_of(source))) == [
        f"{step} {CASE}" for step in ("Compile", "Judge", "Run")
    ]
    assert project.snakemake(*TARGETS, *config_of(source)).returncode == 0
    assert verdict(project, CASE)["verdict"] == "FAIL"


def test_what_the_host_api_lacks_is_a_compile_error_that_names_it(project, tmp_path: Path) -> None:
    source = tmp_path / "my_rope.cc"
    source.write_text(
        ROPE_SOURCE.replace("aie::load_v<16>(lut + v)", "aie::log2(aie::load_v<16>(lut + v))"),
        encoding="utf-8",
    )
    assert project.snakemake(TARGETS[0], *config_of(source)).returncode == 0
    reason = verdict(project, CASE)["reason"]
    assert "log2" in reason
    assert "aie_api/" in reason


def test_a_source_that_cannot_be_used_is_refused_in_one_line(project, tmp_path: Path) -> None:
    missing = project.snakemake("-n", TARGETS[0], *config_of(tmp_path / "nowhere.cc"))
    assert missing.returncode == 2
    assert "kernel source of rope: no file or folder" in missing.stderr
    taken_by_none = project.snakemake("-n", "--config", "kernels={gelu: {source: README.md}}")
    assert taken_by_none.returncode == 2
    assert "kernel source of gelu" in taken_by_none.stderr
