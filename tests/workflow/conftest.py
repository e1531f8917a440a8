"""Projects for the workflow's tests: one that has run to the end, and copies of it that a test may change."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

# Up to a colon: what follows tells more of the job.
_MESSAGE = re.compile(r"^Job \d+: ([^:\n]+)", re.MULTILINE)
_FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"

# The config's canary, a small case that is known to be good.
_CANARY = "rmsnorm_256x960"
# One small case of each kernel that the tiny model does not call, and two of the toy kernel.
EXTRA_CASES = (
    "gemm_f32_256x2048x256",
    "gemm_low_256x256x256",
    "layernorm_64x768",
    "gelu_65536",
    "toy_copy_1024",
    "toy_copy_2048",
)


def use_tiny_model(project) -> None:
    """Make the tiny model the default, at a short sequence."""
    shutil.copy(_FIXTURES / "models" / "tiny.json", project.root / "config" / "models")
    project.replace("config/config.yaml", "models: [llama-3.2-1b]", "models: [tiny]")
    project.replace("config/config.yaml", "seq_len: 2048", "seq_len: 256")


@pytest.fixture(scope="session")
def planned() -> Callable[[subprocess.CompletedProcess[str]], list[str]]:
    """Reads the jobs that a dry run lists, e.g. "Compile gemm_1x2x3", sorted."""

    def read(finished: subprocess.CompletedProcess[str]) -> list[str]:
        assert finished.returncode == 0, finished.stdout + finished.stderr
        return sorted(_MESSAGE.findall(finished.stdout))

    return read


@pytest.fixture(scope="session")
def finished_run(project_copy, tmp_path_factory):
    """The tiny model and the extra cases, run once for all tests: (project, what Snakemake printed)."""
    project = project_copy(tmp_path_factory.mktemp("finished") / "project")
    use_tiny_model(project)
    targets = ["all", *(f"results/{case}.row" for case in EXTRA_CASES)]
    return project, project.snakemake(*targets)


@pytest.fixture
def finished(finished_run, tmp_path: Path):
    """A copy, elsewhere, of the project that has run to the end."""
    project, _ = finished_run
    shutil.copytree(project.root, tmp_path / "project", symlinks=True)
    return type(project)(tmp_path / "project")


@pytest.fixture
def rerun(planned) -> Callable[..., list[str]]:
    """What a dry run of everything would do again, but for enforcing the gates, which it always does."""

    def ask(project, *options: str) -> list[str]:
        targets = ["all", *(f"results/{case}.row" for case in EXTRA_CASES)]
        jobs = planned(project.snakemake("-n", *targets, *options))
        assert "Enforce the gates" in jobs
        return [job for job in jobs if job != "Enforce the gates"]

    return ask


@pytest.fixture(scope="session")
def with_canary(project_copy, make_stand_in, tmp_path_factory):
    """A stand-in with the canary compiled, for all tests that call steps by hand."""
    folder = tmp_path_factory.mktemp("with_canary")
    stand_in = make_stand_in(folder / "mlir-air", project_copy(folder / "project"))
    stand_in.compile(_CANARY)
    return stand_in


@pytest.fixture
def ready(with_canary):
    """The same as new: whatever another test changed or left behind is gone."""
    with_canary.restore()
    results = with_canary.project.root / "results"
    for path in [*results.glob("build/*"), *results.glob("*")]:
        if path.name not in (_CANARY, "build"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return with_canary
