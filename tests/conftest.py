"""Fixtures that tests of every part share."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
_TOY_KERNEL = ROOT / "tests" / "fixtures" / "toy_kernel"
_STAND_IN = ROOT / "tests" / "fixtures" / "npu2_stand_in"
_NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", ".snakemake", "results", "__pycache__", ".pytest_cache", ".ruff_cache"
)


class Project:
    """A copy of the project that a test may change and run."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(
        self, *command: str, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run `command` in the project with this Python first on PATH; stdout and stderr as text."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        return subprocess.run(
            command,
            cwd=self.root,
            env={**os.environ, "PATH": path, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def step(self, name: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run `python -m scripts.<name>`."""
        return self.run(sys.executable, "-m", f"scripts.{name}", *arguments, **options)

    def snakemake(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run Snakemake, with the project's own profile."""
        return self.run(sys.executable, "-m", "snakemake", *arguments, **options)

    def text(self, path: str) -> str:
        """The text of a file of the project."""
        return (self.root / path).read_text(encoding="utf-8")

    def replace(self, path: str, old: str, new: str) -> None:
        """Change a file of the project; `old` has to be in it exactly once."""
        text = self.text(path)
        assert text.count(old) == 1, f"{path} holds {old!r} {text.count(old)} times"
        (self.root / path).write_text(text.replace(old, new), encoding="utf-8")

    def append(self, path: str, text: str) -> None:
        """Add text to the end of a file of the project."""
        with (self.root / path).open("a", encoding="utf-8") as stream:
            stream.write(text)


def _tracked_files() -> list[str] | None:
    """Files of the project as git knows them, new ones too; None outside of a checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return listed.stdout.split("\0")[:-1] if listed.returncode == 0 else None


def _copy_project(target: Path) -> None:
    files = _tracked_files()
    if files is None:
        shutil.copytree(ROOT, target, ignore=_NOT_COPIED)
        return
    for file in files:
        if (ROOT / file).is_file():
            (target / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, target / file)


@pytest.fixture(scope="session")
def project_copy() -> Callable[[Path], Project]:
    """Makes a copy of the project, with the toy kernel added as kernels/toy_copy."""

    def make(target: Path) -> Project:
        _copy_project(target)
        shutil.copytree(_TOY_KERNEL, target / "kernels" / "toy_copy")
        return Project(target)

    return make


@pytest.fixture
def project(project_copy: Callable[[Path], Project], tmp_path: Path) -> Project:
    """A copy of the project for one test."""
    return project_copy(tmp_path / "project")


class StandIn:
    """A copy of the stand-in for a mlir-air checkout, and a project that drives it."""

    def __init__(self, root: Path, project: Project) -> None:
        self.root, self.project = root, project
        self.restore()
        shutil.copy(root / "split_harness.py", project.root / "scripts" / "targets" / "npu2")
        self.lock = root / "npu.outer.lock"
        path = os.pathsep.join([str(root / "bin"), os.environ["PATH"]])
        self.environment = {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), path]),
            "PEANO_INSTALL_DIR": str(root / "peano"),
            "MLIR_AIR_PYTHON": sys.executable,
        }

    def restore(self) -> None:
        """The checkout as it comes."""
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(_STAND_IN, self.root)

    def beside(self, project: Project) -> "StandIn":
        """The same checkout and device, driven by another project."""
        return StandIn(self.root, project)

    def snakemake(self, *targets: str, config: Sequence[str] = (), **environment: str) -> Any:
        """Run Snakemake for the npu2 target; `environment` is added to the stand-in's."""
        settings = ["target=npu2", f"mlir_air={self.root}", f"lock={self.lock}", *config]
        return self.project.snakemake(
            *targets, "--config", *settings, environment={**self.environment, **environment}
        )

    def compile(self, case: str, **environment: str) -> dict[str, Any]:
        """Run the compile step; the build record."""
        folder = f"results/build/{case}"
        self._step("compile_elf", case, "--target", "npu2", "--output-dir", folder, **environment)
        return json.loads(self.project.text(f"{folder}/build.json"))

    def run(self, case: str, *options: str, **environment: str) -> str:
        """Run and judge a case that was compiled; what its log says."""
        build, log, verdict = self._build(case), f"results/{case}.log", f"results/{case}.verdict"
        self._step("run_kernel", case, *self._places(case), *options, **environment)
        self.project.step("judge_verdict", case, "--build", build, "--log", log, "--output", verdict)
        return self.project.text(log)

    def start_run(self, case: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start the run step of a case that was compiled."""
        command = [sys.executable, "-m", "scripts.run_kernel", case, *self._places(case)]
        return subprocess.Popen(
            [*command, "--mlir-air", str(self.root)],
            cwd=self.project.root,
            env={**os.environ, **self.environment, **environment},
        )

    def _places(self, case: str) -> list[str]:
        """Options that say where the run step reads and writes."""
        canary = ["--canary", self._build("rmsnorm_256x960"), "--device-state", "results/device.json"]
        log = ["--log", f"results/{case}.log", "--attempts", f"results/attempts/{case}"]
        return ["--build", self._build(case), *log, *canary, "--lock", str(self.lock)]

    def _build(self, case: str) -> str:
        return f"results/build/{case}/build.json"

    def _step(self, name: str, case: str, *options: str, **environment: str) -> None:
        finished = self.project.step(
            name,
            case,
            "--mlir-air",
            str(self.root),
            *options,
            environment={**self.environment, **environment},
        )
        assert finished.returncode == 0, finished.stdout + finished.stderr

    def verdict(self, case: str) -> dict[str, Any]:
        """The verdict on a case, from the project's results."""
        return json.loads(self.project.text(f"results/{case}.verdict"))

    def fails(self, **faults: list[str]) -> None:
        """What goes wrong on the device: for each harness one fault a run, the last one for good."""
        (self.root / "faults.json").write_text(json.dumps(faults))

    def device_log(self) -> str:
        """Who came to the device and left it, as the harnesses wrote it down."""
        log = self.root / "device.log"
        return log.read_text() if log.exists() else ""

    def device_uses(self) -> list[tuple[float, float, str]]:
        """(start, end, harness) of every process that was on the device and came back, by start."""
        started: dict[str, float] = {}
        uses = []
        for line in self.device_log().splitlines():
            at, pid, what, harness = line.split()
            if what == "start":
                started[pid] = float(at)
            else:
                uses.append((started.pop(pid), float(at), harness))
        return sorted(uses)


@pytest.fixture(scope="session")
def make_stand_in() -> Callable[[Path, Project], StandIn]:
    """Makes a stand-in checkout, and has a project split its harnesses as they are made for."""
    return StandIn


@pytest.fixture
def stand_in(project: Project, make_stand_in: Callable[[Path, Project], StandIn], tmp_path: Path) -> StandIn:
    """A stand-in checkout for one test."""
    return make_stand_in(tmp_path / "mlir-air", project)
