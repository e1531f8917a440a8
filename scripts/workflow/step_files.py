"""Which project files a module depends on: the inputs of a rule, found by reading import statements.

Snakemake tracks a rule's own text and nothing that the command imports.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from scripts.cases.kernel_facts import FACTS_FILE, KERNELS_ROOT, load_kernel

_ROOT = KERNELS_ROOT.parent
_HOST_API = KERNELS_ROOT / "aie_host"
_CPP_SUFFIXES = (".cc", ".h", ".hpp")
_PACKAGES = ("scripts", "kernels")


@cache
def facts_file(kernel: str) -> str:
    """The kernel's kernel.yaml, from the root on. Raises InputError for an unknown kernel."""
    return (load_kernel(kernel).folder / FACTS_FILE).relative_to(_ROOT).as_posix()


@cache
def source_files(kernel: str) -> tuple[str, ...]:
    """C++ files that an ELF of `kernel` may be made of, from the root on, sorted.

    They are those beside its sources and the host AIE API. Raises InputError for an unknown kernel.
    """
    folders = {source.parent for source in load_kernel(kernel).sources}
    files = {path for folder in folders for path in folder.iterdir()} | set(_HOST_API.rglob("*"))
    return tuple(sorted(path.relative_to(_ROOT).as_posix() for path in files if path.suffix in _CPP_SUFFIXES))


@cache
def module_files(*modules: str) -> tuple[str, ...]:
    """Files of `modules` and of every project module they import, directly or not; sorted, from the root on.

    An import inside of a function counts too, and so does the data that stands beside a module as
    <module>.yaml. Raises FileNotFoundError for a module that does not exist.
    """
    found: dict[str, str] = {}
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found:
            path = _file(module)
            if path is None:
                raise FileNotFoundError(f"no module {module}")
            found[module] = path
            waiting += _imports(path)
    files = set(found.values()) - {""}
    data = {Path(file).with_suffix(".yaml").as_posix() for file in files}
    return tuple(sorted(files | {file for file in data if (_ROOT / file).is_file()}))


@cache
def _file(module: str) -> str | None:
    """The file of `module`, from the root on; "" for a package without __init__.py, None for no module."""
    path = _ROOT.joinpath(*module.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate.relative_to(_ROOT).as_posix()
    return "" if path.is_dir() else None


@cache
def _imports(path: str) -> tuple[str, ...]:
    """Project modules that the file imports, and the packages that they lie in."""
    if not path:
        return ()
    tree = ast.parse((_ROOT / path).read_text(encoding="utf-8"), filename=path)
    names = {name for node in ast.walk(tree) for name in _imported(node)}
    return tuple(sorted(package for name in names for package in _with_packages(name)))


def _imported(node: ast.AST) -> Iterator[str]:
    """Modules that a statement imports. The project imports by absolute names only."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        yield node.module
        # `from package import module`: what is no module of its own is a name in the package.
        submodules = (f"{node.module}.{alias.name}" for alias in node.names)
        yield from (name for name in submodules if _is_ours(name) and _file(name))


def _with_packages(module: str) -> list[str]:
    """`scripts.a.b` as [scripts, scripts.a, scripts.a.b]; nothing for a module of somebody else."""
    parts = module.split(".")
    return [".".join(parts[: end + 1]) for end in range(len(parts))] if _is_ours(module) else []


def _is_ours(module: str) -> bool:
    return module.split(".")[0] in _PACKAGES
