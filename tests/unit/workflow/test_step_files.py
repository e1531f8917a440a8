"""The files a rule depends on, found by reading imports."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.cases.kernel_facts import harness_kernels
from scripts.workflow.step_files import facts_file, module_files, source_files

ROOT = Path(__file__).resolve().parents[3]
STEPS = sorted(path.stem for path in (ROOT / "rules").glob("*.smk") if path.stem != "common")


def test_direct_and_indirect_imports_and_the_packages() -> None:
    files = module_files("scripts.run_kernel")
    for file in (
        "scripts/run_kernel.py",
        "scripts/__init__.py",
        "scripts/precision/judge.py",
        "scripts/targets/host.py",
        "scripts/cases/formula.py",
    ):
        assert file in files


def test_data_beside_a_module_belongs_to_it() -> None:
    assert "scripts/precision/known_failures.yaml" in module_files("scripts.precision.known_failures")


def test_a_kernel_s_reference_brings_what_it_imports() -> None:
    assert {"kernels/gemm_low/reference.py", "kernels/gemm/reference.py"} <= set(
        module_files("kernels.gemm_low.reference")
    )


def test_steps_do_not_depend_on_what_they_do_not_import() -> None:
    assert not any(file.startswith("scripts/report/") for file in module_files("scripts.run_kernel"))
    assert not any(file.startswith("scripts/models/") for file in module_files("scripts.compile_elf"))


def test_a_module_that_does_not_exist() -> None:
    with pytest.raises(FileNotFoundError, match=r"scripts\.nothing"):
        module_files("scripts.nothing")


@pytest.mark.parametrize("step", STEPS)
def test_the_list_holds_every_module_that_python_loads(step: str) -> None:
    """The proof that reading import statements misses nothing: ask the interpreter."""
    code = (
        f"import sys, scripts.{step};"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.split('.')[0] in ('scripts', 'kernels')"
        " and getattr(m, '__file__', None)), sep='\\n')"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = {Path(line).relative_to(ROOT).as_posix() for line in loaded.stdout.splitlines()}
    assert files <= set(module_files(f"scripts.{step}"))


@pytest.mark.parametrize("kernel", harness_kernels())
def test_a_kernel_s_files_are_there(kernel: str) -> None:
    sources = source_files(kernel)
    assert any(source.endswith(".cc") for source in sources)
    assert any(source.startswith("kernels/aie_host/") for source in sources)
    for file in (*sources, facts_file(kernel)):
        assert (ROOT / file).is_file()


def test_a_kernel_with_another_one_s_source_depends_on_it() -> None:
    assert "kernels/gemm/gemm.cc" in source_files("gemm_low")
    assert "kernels/gemm/gemm.cc" not in source_files("rope")
