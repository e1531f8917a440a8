"""Runs an unmodified mlir-air harness script in two halves: compile now, without the device; run later.

`python split_harness.py compile --store DIR -- SCRIPT ARGS...` ends right after XRTBackend.compile() and
keeps what it returned in DIR. `python split_harness.py run --store DIR -- SCRIPT ARGS...` answers
XRTBackend.compile() from DIR; everything else is the harness's own.

Started with mlir-air's Python, which may not have this project's packages: nothing but the standard library.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import inspect
import json
import os
import runpy
import shutil
import sys
from pathlib import Path
from typing import Any, NoReturn

BACKEND_MODULE, BACKEND_CLASS, ARTIFACT_CLASS = "air.backend.xrt", "XRTBackend", "XRTCompileArtifact"
RECORD_NAME = "artifact.json"
UNKNOWN_BACKEND = 3  # exit status: this checkout's backend cannot be split; use the harness as it is
WRONG_STORE = 4  # exit status: the store does not hold what this run needs
# What of the backend and of the module decides whether a stored artifact is the one asked for.
_SETTINGS = ("output_format", "instance_name", "kernel_name")


def _leave(status: int, line: str) -> NoReturn:
    """Print `line` and end the process at once: a harness may catch SystemExit, or hold the device."""
    print(f"[split] {line}")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def unknown_backend(what: str) -> NoReturn:
    """End with exit status 3 and the line that says what of the backend is not as expected."""
    _leave(UNKNOWN_BACKEND, f"unknown backend: {what}")


def wrong_store(what: str) -> NoReturn:
    """End with exit status 4 and the line that says what of the store does not fit."""
    _leave(WRONG_STORE, f"wrong store: {what}")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def backend_module() -> Any:
    """mlir-air's backend module, its classes and signatures checked. Ends the process if they are others."""
    try:
        module = importlib.import_module(BACKEND_MODULE)
    except ImportError as error:
        unknown_backend(f"{BACKEND_MODULE} cannot be imported: {error}")
    for name in (BACKEND_CLASS, ARTIFACT_CLASS):
        if not inspect.isclass(getattr(module, name, None)):
            unknown_backend(f"{BACKEND_MODULE} has no class {name}")
    backend = getattr(module, BACKEND_CLASS)
    # Both take one thing besides self, the module and the artifact; what follows has to have defaults.
    for name in ("compile", "load"):
        _check_takes_one(backend, name)
    return module


def _check_takes_one(backend: type, name: str) -> None:
    method = getattr(backend, name, None)
    if not callable(method):
        unknown_backend(f"{BACKEND_CLASS} has no {name}()")
    signature = inspect.signature(method)
    try:
        signature.bind(None, None)
    except TypeError:
        unknown_backend(f"{BACKEND_CLASS}.{name}{signature}")


def _module_sha256(arguments: tuple[Any, ...], options: dict[str, Any]) -> str:
    """SHA-256 of the module's text: the first argument of compile(), however it is passed."""
    module = arguments[0] if arguments else next(iter(options.values()))
    return _sha256(str(module).encode())


def _settings(backend: Any) -> dict[str, Any]:
    return {name: getattr(backend, name, None) for name in _SETTINGS}


class Store:
    """A folder with the files of one compiled artifact, and a record of them written last."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.record_file = folder / RECORD_NAME

    def write(self, artifact: Any, module_sha256: str, settings: dict[str, Any]) -> list[str]:
        """Keep `artifact`; the names of its files. Ends the process if it holds more than names and files."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.record_file.unlink(missing_ok=True)
        values, files = dict(vars(artifact)), {}
        for field, value in values.items():
            if not isinstance(value, (str, int, float, bool, type(None))):
                unknown_backend(f"{ARTIFACT_CLASS}.{field} is a {type(value).__name__}")
            if isinstance(value, str) and os.path.isfile(value):
                files[field] = self._keep(Path(value), files)
        if not files:
            unknown_backend(f"{ARTIFACT_CLASS} names no file that exists")
        record = {
            "files": files,
            "values": {field: value for field, value in values.items() if field not in files},
            "module_sha256": module_sha256,
            "settings": settings,
        }
        _write_atomically(self.record_file, (json.dumps(record, indent=2) + "\n").encode())
        return [entry["name"] for entry in files.values()]

    def _keep(self, source: Path, others: dict[str, dict[str, str]]) -> dict[str, str]:
        name = source.name
        if name == RECORD_NAME or any(entry["name"] == name for entry in others.values()):
            unknown_backend(f"{ARTIFACT_CLASS} names {name} twice")
        data = source.read_bytes()
        _write_atomically(self.folder / name, data)
        shutil.copymode(source, self.folder / name)
        return {"name": name, "sha256": _sha256(data)}

    def read(self, artifact_class: type, module_sha256: str, settings: dict[str, Any]) -> Any:
        """The artifact, with absolute file names. Ends the process if it is not the one of this module."""
        record = self._record()
        if record["module_sha256"] != module_sha256:
            wrong_store(f"{RECORD_NAME} is of another module")
        if record["settings"] != settings:
            wrong_store(f"{RECORD_NAME} was built with {record['settings']}, this run asks for {settings}")
        files = {field: self._checked(entry) for field, entry in record["files"].items()}
        try:
            return artifact_class(**record["values"], **files)
        except TypeError as error:
            unknown_backend(f"{ARTIFACT_CLASS}: {error}")

    def _record(self) -> dict[str, Any]:
        try:
            record = json.loads(self.record_file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            wrong_store(f"{RECORD_NAME} cannot be read: {error}")
        if not isinstance(record, dict) or not {"files", "values", "module_sha256", "settings"} <= set(
            record
        ):
            wrong_store(f"{RECORD_NAME} lacks a field")
        return record

    def _checked(self, entry: dict[str, str]) -> str:
        file = self.folder / entry["name"]
        try:
            found = _sha256(file.read_bytes())
        except OSError as error:
            wrong_store(f"{entry['name']} cannot be read: {error.strerror}")
        if found != entry["sha256"]:
            wrong_store(f"{entry['name']}: sha256 is {found}, not {entry['sha256']}")
        return str(file)


def _write_atomically(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}")
    with part.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    part.replace(path)


def cut_after_compile(module: Any, store: Store) -> None:
    """Make XRTBackend.compile() keep its result in `store` and end the process; load() is never reached."""
    backend = getattr(module, BACKEND_CLASS)
    compile_as_before = backend.compile

    def compile_and_leave(self: Any, *arguments: Any, **options: Any) -> NoReturn:
        module_sha256 = _module_sha256(arguments, options)  # before the compiler may change the module
        artifact = compile_as_before(self, *arguments, **options)
        names = store.write(artifact, module_sha256, _settings(self))
        _leave(0, f"compiled: {', '.join(names)}")

    def refuse(self: Any, *arguments: Any, **options: Any) -> NoReturn:
        unknown_backend("load() before compile()")

    backend.compile, backend.load = compile_and_leave, refuse


def answer_compile(module: Any, store: Store) -> None:
    """Make XRTBackend.compile() return the artifact in `store`, once."""
    backend = getattr(module, BACKEND_CLASS)
    answered = []

    def stored_artifact(self: Any, *arguments: Any, **options: Any) -> Any:
        if answered:
            unknown_backend("compile() is called twice")
        answered.append(True)
        return store.read(
            getattr(module, ARTIFACT_CLASS), _module_sha256(arguments, options), _settings(self)
        )

    backend.compile = stored_artifact


def run_script(script: Path, arguments: list[str]) -> None:
    """Run `script` as `python SCRIPT ARGUMENTS` would."""
    sys.argv = [str(script), *arguments]
    sys.path[0] = str(script.resolve().parent)
    runpy.run_path(str(script), run_name="__main__")


def _arguments() -> argparse.Namespace:
    """The command line, cut at its first `--`: what follows is the harness's own."""
    parser = argparse.ArgumentParser(
        usage="split_harness.py {compile,run} --store DIR -- SCRIPT ARGS...", description=__doc__
    )
    parser.add_argument("half", choices=("compile", "run"))
    parser.add_argument("--store", type=Path, required=True, metavar="DIR", help="where the artifact is kept")
    given = sys.argv[1:]
    cut = given.index("--") if "--" in given else len(given)
    arguments = parser.parse_args(given[:cut])
    harness = given[cut + 1 :]
    if not harness or not Path(harness[0]).is_file():
        parser.error(f"harness script: found {harness[:1] or 'none'}; a Python file after -- is needed")
    arguments.script, arguments.arguments = Path(harness[0]), harness[1:]
    return arguments


def main() -> None:
    """Command line."""
    arguments = _arguments()
    sys.path[0] = str(arguments.script.resolve().parent)  # what the harness imports is not looked for here
    module, store = backend_module(), Store(arguments.store.resolve())
    if arguments.half == "run":
        answer_compile(module, store)
        run_script(arguments.script, arguments.arguments)
        return
    cut_after_compile(module, store)
    run_script(arguments.script, arguments.arguments)
    unknown_backend(f"{arguments.script.name} ended without {BACKEND_CLASS}.compile()")


if __name__ == "__main__":
    main()
