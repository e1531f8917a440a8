"""The split harness on small backends of our own: what it keeps, what it answers, what it refuses."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SPLIT = Path(__file__).resolve().parents[2] / "scripts" / "targets" / "npu2" / "split_harness.py"
BACKEND = """
class XRTCompileArtifact:
    def __init__(self, output_binary, kernel, insts):
        self.output_binary, self.kernel, self.insts = output_binary, kernel, insts

class XRTBackend:
    def __init__(self, output_format="xclbin"):
        self.output_format = output_format

    def compile(self, air_module, kernel="MLIR_AIE"):
        print("compiling")
        open("air.xclbin", "w").write(air_module)
        return XRTCompileArtifact("air.xclbin", kernel, None)

    def load(self, artifact):
        print("loading", artifact.kernel, open(artifact.output_binary).read())

    def compile_and_load(self, air_module):
        return self.load(self.compile(air_module))
"""
SCRIPT = """
import sys
from air.backend.xrt import XRTBackend
XRTBackend().compile_and_load(sys.argv[1])
print("PASS!", __name__, sys.argv[1:])
"""


@pytest.fixture
def harness(tmp_path: Path) -> Path:
    """A folder with a harness script and a backend, both of our own."""
    package = tmp_path / "air" / "backend"
    package.mkdir(parents=True)
    (package / "xrt.py").write_text(BACKEND, encoding="utf-8")
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    return tmp_path


def split(harness: Path, half: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one half of the harness script in `harness`, with its store beside it."""
    command = [sys.executable, str(SPLIT), half, "--store", str(harness / "store"), "--", "script.py"]
    return subprocess.run(
        [*command, *arguments], cwd=harness, capture_output=True, text=True, timeout=60, check=False
    )


def test_compile_ends_before_load_and_run_starts_there(harness: Path) -> None:
    compiled = split(harness, "compile", "module")
    assert (compiled.returncode, compiled.stdout) == (0, "compiling\n[split] compiled: air.xclbin\n")
    (harness / "air.xclbin").unlink()
    ran = split(harness, "run", "module", "--perf-iters", "3")
    assert ran.stdout == "loading MLIR_AIE module\nPASS! __main__ ['module', '--perf-iters', '3']\n"
    assert ran.returncode == 0


def test_the_record_names_what_the_artifact_holds(harness: Path) -> None:
    split(harness, "compile", "module")
    record = json.loads((harness / "store" / "artifact.json").read_text())
    assert record["files"]["output_binary"]["name"] == "air.xclbin"
    assert record["values"] == {"kernel": "MLIR_AIE", "insts": None}


def test_a_changed_artifact_is_refused(harness: Path) -> None:
    split(harness, "compile", "module")
    (harness / "store" / "air.xclbin").write_text("other", encoding="utf-8")
    ran = split(harness, "run", "module")
    assert ran.returncode == 4
    assert ran.stdout.startswith("[split] wrong store: air.xclbin: sha256 is ")


def test_an_artifact_of_another_module_is_refused(harness: Path) -> None:
    split(harness, "compile", "module")
    ran = split(harness, "run", "other")
    assert (ran.returncode, ran.stdout) == (4, "[split] wrong store: artifact.json is of another module\n")


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("class XRTBackend", "class Backend", "air.backend.xrt has no class XRTBackend"),
        ("def load(", "def open(", "XRTBackend has no load()"),
        ('kernel="MLIR_AIE"', "kernel", "XRTBackend.compile(self, air_module, kernel)"),
        ('"air.xclbin", kernel, None', '"air.xclbin", kernel, [1]', "XRTCompileArtifact.insts is a list"),
    ],
)
def test_an_unknown_backend_is_named_in_one_line(harness: Path, old: str, new: str, what: str) -> None:
    assert old in BACKEND
    (harness / "air" / "backend" / "xrt.py").write_text(BACKEND.replace(old, new), encoding="utf-8")
    done = split(harness, "compile", "module")
    assert done.returncode == 3
    assert done.stdout.splitlines()[-1] == f"[split] unknown backend: {what}"
    assert done.stderr == ""


def test_a_script_that_compiles_nothing_is_unknown(harness: Path) -> None:
    (harness / "script.py").write_text("print('hello')", encoding="utf-8")
    done = split(harness, "compile")
    assert done.returncode == 3
    assert "script.py ended without XRTBackend.compile()" in done.stdout


def test_a_missing_script_is_one_line(harness: Path) -> None:
    (harness / "script.py").unlink()
    done = split(harness, "run")
    assert done.returncode == 2
    assert "harness script: found ['script.py']" in done.stderr
