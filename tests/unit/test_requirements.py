"""The pinned requirements, pyproject.toml and environment.yml name the same packages in the same versions."""

import re
import sys
import tomllib
from importlib.metadata import requires, version
from pathlib import Path

import pytest
import yaml
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
# conda's name of a package, where it is not pip's.
CONDA_NAMES = {"snakemake-minimal": "snakemake"}
# What conda brings and pip does not.
NOT_FROM_PIP = {"python", "make", "gxx"}


def pinned(file: str) -> dict[str, str]:
    """Package -> version of a requirements file; every line has to be an exact pin."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    requirements = [line for line in lines if line and not line.startswith(("#", "-r "))]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in requirements), file
    return {canonicalize_name(line.split("==")[0]): line.split("==")[1] for line in requirements}


def exact(requirements: list[str]) -> dict[str, str]:
    """Package -> version of requirements as pyproject.toml holds them."""
    parsed = [Requirement(text) for text in requirements]
    return {canonicalize_name(each.name): str(each.specifier).removeprefix("==") for each in parsed}


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def conda() -> dict[str, str]:
    packages = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    return dict(package.split(" ", 1) for package in packages if " " in package) | {
        package: "" for package in packages if " " not in package
    }


def test_pyproject_chooses_what_the_requirements_pin(project) -> None:
    runtime, development = pinned("requirements.txt"), pinned("requirements-dev.txt")
    chosen, tools = exact(project["dependencies"]), exact(project["optional-dependencies"]["dev"])
    assert chosen.items() <= runtime.items()
    assert tools.items() <= development.items()
    assert not set(runtime) & set(development)


def test_environment_holds_the_same_packages_in_the_same_versions(project, conda) -> None:
    chosen = exact(project["dependencies"]) | exact(project["optional-dependencies"]["dev"])
    packages = {
        canonicalize_name(CONDA_NAMES.get(name, name)): specifier.removeprefix("==")
        for name, specifier in conda.items()
        if name not in NOT_FROM_PIP
    }
    assert packages == chosen


def test_environment_brings_python_and_a_compiler(project, conda) -> None:
    assert conda["python"] == project["requires-python"]
    assert conda["gxx"] == ">=12"
    assert "make" in conda


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-dev.txt"])
def test_the_pins_are_what_is_installed(file: str) -> None:
    """The tests speak for the versions that a fresh set-up gets."""
    found = {name: version(name) for name in pinned(file)}
    assert found == pinned(file)


def test_everything_that_a_pinned_package_needs_is_pinned() -> None:
    pins = {**pinned("requirements.txt"), **pinned("requirements-dev.txt")}
    for package in pins:
        for text in requires(package) or []:
            needed = Requirement(text)
            if needed.marker is None or _applies(needed.marker):
                name = canonicalize_name(needed.name)
                assert name in pins and needed.specifier.contains(pins[name]), f"{package} needs {text}"


def _applies(marker: Marker) -> bool:
    return marker.evaluate({"extra": ""})


def test_every_third_party_import_is_a_chosen_package(project) -> None:
    """Code imports no package that is there by chance only, as a dependency of another one."""
    extras = project["optional-dependencies"]
    optional = exact(extras["plots"]) | exact(extras["diagnosis"])
    chosen = set(exact(project["dependencies"])) | set(optional) | {"yaml", "snakemake"}
    imports = re.compile(r"^\s*(?:from|import) (\w+)", re.MULTILINE)
    ours = {"scripts", "kernels", "benchmarks"}
    for folder in ("scripts", "kernels", "benchmarks"):
        for path in (ROOT / folder).rglob("*.py"):
            names = (
                set(imports.findall(path.read_text(encoding="utf-8"))) - ours - set(sys.stdlib_module_names)
            )
            assert {canonicalize_name(name) for name in names} <= chosen, path


def test_ci_runs_the_readme_s_test_command() -> None:
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "exec make test\n" in ci and "\nmake test " in readme and "\nmake run " in readme
