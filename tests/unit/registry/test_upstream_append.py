"""A hardware row in mlir-air's own registry: what changes, and that nothing else does."""

import difflib
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.append_registry import registry_row
from scripts.cases.case import parse_case
from scripts.cases.kernel_facts import load_kernel
from scripts.errors import InputError
from scripts.precision.verdict import Perf, Verdict
from scripts.registry.rows import Row
from scripts.registry.upstream.append import append_upstream
from scripts.registry.upstream.proof import missing_upstream_row
from tests.unit.judged import passing_verdict
from tests.unit.registry.stand_in_registry import make_stand_in

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT.parent / "shared" / "upstream" / "kernel_registry"
MODEL = "newmodel-1b"

# Case that no registry has, case that both have, and its call site.
KERNELS = {
    "gemm": ("gemm_2048x2048x3072", "gemm_2048x2048x2048", "prefill Gate/Up proj"),
    "gemv": ("gemv_3072x2048", "gemv_2048x2048", "decode Q proj"),
    "rmsnorm": ("rmsnorm_512x2048", "rmsnorm_2048x2048", "prefill RMSNorm"),
    "layernorm": ("layernorm_512x768", "layernorm_1024x768", "prefill LayerNorm"),
    "rope": ("rope_128x64", "rope_8x64", "decode RoPE-K"),
    "silu_and_mul": ("silu_and_mul_524288", "silu_and_mul_2097152", "prefill SwiGLU"),
    "gelu": ("gelu_524288", "gelu_1048576", "prefill GELU"),
    "eltwise_add": ("eltwise_add_524288", "eltwise_add_1048576", "prefill residual"),
    "flash_attention": (
        "flash_attention_1024x1024_d64x64_h32x8_causal",
        "flash_attention_2048x2048_d64x64_h32x8_causal",
        "prefill attention",
    ),
}


@pytest.fixture(params=["stand-in", "mlir-air's"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of a registry that a test may change."""
    if request.param == "stand-in":
        return make_stand_in(tmp_path / "kernel_registry")
    return copy_of_shared(tmp_path)


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A copy of mlir-air's own registry."""
    return copy_of_shared(tmp_path)


def copy_of_shared(tmp_path: Path) -> Path:
    if not SHARED.is_dir():
        pytest.skip("mlir-air's registry files are not there (../shared/upstream/kernel_registry)")
    shutil.copytree(SHARED, tmp_path / "kernel_registry", copy_function=shutil.copyfile)
    return tmp_path / "kernel_registry"


def hardware_verdict(case: str, site: str, mean: str = "9.700e-03", **perf: float) -> Verdict:
    """A verdict as a device gives it."""
    verdict = passing_verdict(case, mean, (f"{MODEL} {site}",), target="npu2", device="NPU2")
    timing = {"latency_us": 437.2, "gflops": 5802.0, "gbps": 57.71, **perf}
    return replace(verdict, perf=Perf(**timing), evidence=replace(verdict.evidence, kind="hardware"))


def hardware_row(case: str, site: str, **figures: float) -> Row:
    verdict = hardware_verdict(case, site)
    row = registry_row(verdict, load_kernel(verdict.kernel))
    return {**row, **figures}


def texts(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_bytes().decode()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def changes(before: dict[str, str], after: dict[str, str]) -> dict[str, tuple[list[str], list[str]]]:
    """File -> (lines that went, lines that came)."""
    assert before.keys() == after.keys()
    found = {}
    for name in before:
        lines = list(difflib.ndiff(before[name].splitlines(True), after[name].splitlines(True)))
        gone = [line[2:] for line in lines if line.startswith("- ")]
        come = [line[2:] for line in lines if line.startswith("+ ")]
        if gone or come:
            found[name] = (gone, come)
    return found


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_new_shape_is_one_line_more_in_each_table(root: Path, kernel: str) -> None:
    case, _, site = KERNELS[kernel]
    row, before = hardware_row(case, site), texts(root)
    edit = append_upstream(root, kernel, row)
    after = texts(root)
    found = changes(before, after)
    page = f"details/{load_kernel(kernel).registry['page']}"
    assert edit.appended and not edit.disagreements
    assert set(found) == {
        "supported_kernels.md",
        f"{page}.md",
        *([f"{page}.json"] if kernel == "gemm" else []),
    }
    for name, (gone, come) in found.items():
        if name.endswith(".md"):
            assert not gone and len(come) == 1, name
        else:
            _one_more_entry(before[name], after[name], gone)
    assert any(MODEL.lower() in line.lower() for line in found["supported_kernels.md"][1])
    append_upstream(root, kernel, row)
    assert texts(root) == after


def _one_more_entry(before: str, after: str, gone: list[str]) -> None:
    """The JSON has one shape more; of what was there, only the comma after the last entry is new."""
    old, new = json.loads(before), json.loads(after)
    added = [shape for shape in new["shapes"] if shape not in old["shapes"]]
    assert len(added) == 1 and {**new, "shapes": old["shapes"]} == old
    assert [shape for shape in new["shapes"] if shape in old["shapes"]] == old["shapes"]
    assert added[0]["methods"]["fused-cast"]["gflops"] == 5802 and added[0]["best"] == {"high": "fused-cast"}
    assert all(line.strip() == "}" for line in gone)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_model_joins_the_row_that_is_there(root: Path, kernel: str) -> None:
    _, case, site = KERNELS[kernel]
    row, before = hardware_row(case, site), texts(root)
    edit = append_upstream(root, kernel, row)
    after = texts(root)
    assert not edit.appended
    for name, (gone, come) in changes(before, after).items():
        assert len(gone) == len(come) == 1, name
        cells = zip(gone[0].split(" | "), come[0].split(" | "), strict=True)
        differ = [(old, new) for old, new in cells if old != new]
        assert len(differ) == 1 and MODEL.lower() in differ[0][1].lower()
    assert missing_upstream_row(root, parse_case(case), row["method"], MODEL) is None
    append_upstream(root, kernel, row)
    assert texts(root) == after


# The page and the table, by a heading above it, that each contract of a GEMM has in mlir-air's files.
CONTRACTS = {
    "gemm_2048x2048x3072": ("GEMM_bf16_in_bf16_out", "fused-cast", "fused-cast"),
    "gemm_512x2048x1024": ("GEMM_bf16_in_bf16_out", "drain", "drain"),
    "gemm_low_2048x2048x3072": ("GEMM_bf16_in_bf16_out", "direct", "low-precision"),
    "gemm_f32_2048x2048x3072": ("GEMM_bf16_in_fp32_out", "external", "EXTERNAL"),
}


@pytest.mark.parametrize("case", CONTRACTS)
def test_each_contract_of_a_gemm_goes_to_its_own_page_and_table(shared: Path, case: str) -> None:
    page, method, heading = CONTRACTS[case]
    row, before = hardware_row(case, "prefill Gate/Up proj"), texts(shared)
    assert row["method"] == method
    append_upstream(shared, parse_case(case).kernel, row)
    found = changes(before, texts(shared))
    assert set(found) == {"supported_kernels.md", f"details/{page}.md", f"details/{page}.json"}
    (line,) = found[f"details/{page}.md"][1]
    lines = texts(shared)[f"details/{page}.md"].splitlines(True)
    above = [text for text in lines[: lines.index(line)] if text.startswith("### ")]
    assert heading in above[-1]
    filed = json.loads(texts(shared)[f"details/{page}.json"])["shapes"]
    dims = [int(size) for size in row["shape"].split("x")]
    (entry,) = [each for each in filed if [each["M"], each["K"], each["N"]] == dims]
    assert list(entry["methods"]) == [method]


def test_the_style_is_that_of_the_neighbours(root: Path) -> None:
    append_upstream(
        root, "rmsnorm", hardware_row("rmsnorm_512x2048", "prefill RMSNorm", mean_rel_L1=0.0041666)
    )
    page = (root / "details" / "RMSNorm_bf16.md").read_text(encoding="utf-8")
    (line,) = [line for line in page.splitlines() if line.startswith("| 512×2048 |")]
    assert line.startswith("| 512×2048 | 8 | 437 µs | 57.7 GB/s | 4.2e-3 | 7.8e-3 | 3.1")
    assert line.endswith(" prefill RMSNorm | ✅ |") and "ewmodel-1B" in line


def test_simulated_evidence_is_refused(root: Path) -> None:
    row, before = hardware_row("rmsnorm_512x2048", "prefill RMSNorm"), texts(root)
    row = {**row, "evidence": {**row["evidence"], "kind": "simulated"}}
    with pytest.raises(InputError, match="found simulated evidence; allowed: hardware"):
        append_upstream(root, "rmsnorm", row)
    assert texts(root) == before


def test_a_figure_that_disagrees_is_reported_and_replaced_only_when_asked(root: Path) -> None:
    figures = {"mean_rel_L1": 0.0052, "latency_us": 600.0, "gbps": 28.0}
    row = hardware_row("rmsnorm_2048x2048", "prefill RMSNorm", **figures)
    edit = append_upstream(root, "rmsnorm", row)
    told = [str(each) for each in edit.disagreements]
    assert any("regression of mean_rel_L1" in text and "4.2e-3, measured 5.2e-3" in text for text in told)
    assert any(
        "improvement of gbps" in text and "left as it is; --accept replaces it" in text for text in told
    )
    page = root / "details" / "RMSNorm_bf16.md"
    assert "18.4 GB/s | 4.2e-3" in page.read_text(encoding="utf-8")
    accepted = append_upstream(root, "rmsnorm", row, accept=True)
    assert all(each.accepted for each in accepted.disagreements)
    (line,) = [
        text for text in page.read_text(encoding="utf-8").splitlines() if text.startswith("| 2048×2048 |")
    ]
    assert "| 600 µs | 28.0 GB/s | 5.2e-3 |" in line
    assert not append_upstream(root, "rmsnorm", row).disagreements


def test_what_confirms_the_row_is_no_disagreement(root: Path) -> None:
    figures = {"mean_rel_L1": 0.004224, "latency_us": 850.0, "gbps": 19.7}
    row = hardware_row("rmsnorm_2048x2048", "prefill RMSNorm", **figures)
    assert append_upstream(root, "rmsnorm", row).disagreements == ()


def _append(root: Path, row: Row) -> None:
    append_upstream(root, "gemm", row)


def _gemm_rows(count: int) -> list[Row]:
    return [hardware_row(f"gemm_2048x2048x{1024 * (13 + i)}", "prefill proj") for i in range(count)]


def _states(root: Path, row: Row) -> set[bool]:
    """In which of its three files a GEMM stands."""
    m, k, n = row["shape"].split("x")
    index = (root / "supported_kernels.md").read_text(encoding="utf-8")
    page = (root / "details" / "GEMM_bf16_in_bf16_out.md").read_text(encoding="utf-8")
    shapes = json.loads((root / "details" / "GEMM_bf16_in_bf16_out.json").read_text(encoding="utf-8"))[
        "shapes"
    ]
    in_json = any([str(shape[dim]) for dim in "MKN"] == [m, k, n] for shape in shapes)
    return {f"| {m}×{k}×{n} |" in index, f"| {m}×{k}×{n} |" in page, in_json}


def test_eight_processes_lose_nothing(root: Path) -> None:
    rows = _gemm_rows(8)
    fork = multiprocessing.get_context("fork")
    processes = [fork.Process(target=_append, args=(root, row)) for row in rows]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 8
    assert all(_states(root, row) == {True} for row in rows)


def test_killed_at_any_moment_it_is_before_or_after_and_the_next_run_completes_it(root: Path) -> None:
    rows, last = _gemm_rows(50), hardware_row("gemm_2048x2048x8192", "prefill Up proj")
    begin = time.monotonic()
    _append(root, rows[0])
    one_append = time.monotonic() - begin
    moments = random.Random(0)
    killed = 0
    for row in rows[1:]:
        child = os.fork()
        if child == 0:
            _append(root, row)
            os._exit(0)
        time.sleep(moments.uniform(0, one_append * 1.2))
        os.kill(child, signal.SIGKILL)
        killed += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        # Whoever comes next finishes or drops what was left.
        _append(root, last)
        assert len(_states(root, row)) == 1, row["shape"]
        _append(root, row)
        assert _states(root, row) == {True}
    assert killed > 10
    assert not list(root.glob(".*"))


def _cut(text: str, heading: str) -> str:
    """The text up to the middle of the first table row after a heading."""
    start = text.index("| ---" if "| ---" in text else "|---", text.index(heading))
    row = text.index("\n| ", start) + 3
    return text[: row + 12]


MALFORMED = {
    "a table cut short": ("supported_kernels.md", lambda text: _cut(text, "RMSNorm — tested"), "line "),
    "a header that lost a column": (
        "details/RMSNorm_bf16.md",
        lambda text: text.replace("| mean_rel_L1 | rel_err max ", "| rel_err max ", 1),
        "line ",
    ),
    "CRLF line ends": ("supported_kernels.md", lambda text: text.replace("\n", "\r\n"), "line 1"),
    "a missing file": ("details/RMSNorm_bf16.md", None, "RMSNorm_bf16.md"),
}


@pytest.mark.parametrize("damage", MALFORMED)
def test_malformed_input_is_one_line_and_changes_nothing(root: Path, damage: str, tmp_path: Path) -> None:
    name, damaged, where = MALFORMED[damage]
    if damaged is None:
        (root / name).unlink()
    else:
        (root / name).write_bytes(damaged((root / name).read_bytes().decode()).encode())
    _refused(root, tmp_path, hardware_verdict("rmsnorm_512x2048", "prefill RMSNorm"), Path(name).name, where)


def test_json_that_does_not_parse_is_one_line_and_changes_nothing(root: Path, tmp_path: Path) -> None:
    path = root / "details" / "GEMM_bf16_in_bf16_out.json"
    path.write_text(
        path.read_text(encoding="utf-8").replace('"shapes": [', '"shapes": ', 1), encoding="utf-8"
    )
    verdict = hardware_verdict("gemm_2048x2048x3072", "prefill Gate/Up proj")
    _refused(root, tmp_path, verdict, path.name, "line ")


def _refused(root: Path, tmp_path: Path, verdict: Verdict, *parts: str) -> None:
    before = texts(root)
    path, receipt = tmp_path / "case.verdict", tmp_path / "case.row"
    path.write_text(verdict.as_json(), encoding="utf-8")
    files = ("--verdict", str(path), "--registry-root", str(root), "--receipt", str(receipt))
    command = [sys.executable, "-m", "scripts.append_registry", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert all(part in done.stderr for part in parts), done.stderr
    assert texts(root) == before and not receipt.exists()
