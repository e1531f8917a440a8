"""What the stand-in keeps of a module: the calls that built it, in a text form that survives stitching."""

import inspect
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

_CALL_LINE = re.compile(r'"virtual\.build_call"\(\) \{call = "([0-9a-f]+)"\}')


class Anything:
    """A value of the MLIR bindings that nothing asks about: every operation on it gives another one."""

    def __getattr__(self, name: str) -> "Anything":
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()

    def __call__(self, *arguments: Any, **options: Any) -> "Anything":
        return Anything()

    def __getitem__(self, key: Any) -> "Anything":
        return Anything()

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        pass

    __iter__ = None  # or Python would take __getitem__ for an endless sequence

    def _combined(self, other: Any) -> "Anything":
        return Anything()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __mod__ = _combined


@dataclass(frozen=True)
class BuildCall:
    """One call of a function that builds a module."""

    file: str  # name of the Python file that defines it
    function: str  # its name
    arguments: dict[str, Any]  # by parameter, defaults included; numpy types by name
    objects: list[str]  # object files that the module's external functions are linked with

    def line(self) -> str:
        """The call as an operation of the module's text."""
        return f'    "virtual.build_call"() {{call = "{json.dumps(vars(self)).encode().hex()}"}} : () -> ()'


@dataclass
class Module:
    """A module: the calls that built it and the name of its function."""

    calls: list[BuildCall]
    function: str = "main"
    context: Anything = field(default_factory=Anything)

    def __str__(self) -> str:
        calls = "\n".join(call.line() for call in self.calls)
        return f"module {{\n  func.func @{self.function}() {{\n{calls}\n    return\n  }}\n}}\n"

    @classmethod
    def parse(cls, text: str, context: Any = None) -> Self:
        """The module of `text`: every build call that is in it."""
        calls = [BuildCall(**json.loads(bytes.fromhex(call))) for call in _CALL_LINE.findall(text)]
        names = re.findall(r"func\.func @(\w+)\(", text)
        return cls(calls, names[0] if names else "main")


def plain(value: Any) -> Any:
    """`value` as JSON holds it; a numpy type by its name."""
    if isinstance(value, type):
        return np.dtype(value).name
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


# Object files and the function's name of the module that is being built.
_open_objects: list[str] = []
_open_names: list[str] = []


def link_object(name: str) -> None:
    """Note that the module being built is linked with the object file `name`."""
    if name not in _open_objects:
        _open_objects.append(name)


def name_function(name: str) -> None:
    """Note the name of the module's public function."""
    _open_names.append(name)


def take_objects() -> list[str]:
    """The object files noted since the last module."""
    taken = list(_open_objects)
    _open_objects.clear()
    return taken


def module_builder(build: Callable[..., Any]) -> Callable[..., Module]:
    """mlir-air's decorator: the decorated function gives a module."""

    def built(*arguments: Any, **options: Any) -> Module:
        bound = inspect.signature(build).bind(*arguments, **options)
        bound.apply_defaults()
        take_objects()
        _open_names.clear()
        build(*arguments, **options)
        given = {name: plain(value) for name, value in bound.arguments.items()}
        call = BuildCall(Path(build.__code__.co_filename).name, build.__name__, given, take_objects())
        return Module([call], _open_names[-1] if _open_names else "main")

    return built
