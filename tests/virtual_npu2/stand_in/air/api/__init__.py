"""Stand-in for mlir-air's array language: a launch is known by the function that builds it."""

import math
import sys
from pathlib import Path
from typing import Any

from air.records import Anything, BuildCall, Module, link_object, plain, take_objects
from air.types import ELEMENT_TYPES

bf16, f32, i32 = (ELEMENT_TYPES[name] for name in ("bf16", "f32", "i32"))


class Operations(Anything):
    """Operations on arrays, and the constants of the tanh form of GELU that a harness's reference takes."""

    GELU_SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)
    GELU_BETA = 0.044715


ops = Operations()


class Symbol(int):
    """A tile size: the number it was given as a hint."""


def symbol(hint: int, name: str) -> Symbol:
    """A tile size called `name`, of `hint` elements."""
    return Symbol(hint)


def extern(name: str, object: str, scalars: Any = ()) -> Anything:
    """A function of the object file `object`."""
    link_object(object)
    return Anything()


class Launch:
    """A launch, its body untraced."""

    def __init__(self, call: BuildCall, name: str) -> None:
        self._call, self._name = call, name
        self.target = "npu2"
        self.search_space: dict[str, int] = {}

    def __enter__(self) -> "Launch":
        return self

    def __exit__(self, *details: object) -> None:
        pass

    def body(self, traced: Any) -> Any:
        """The decorator of the body."""
        return traced

    def build(self, target: str = "auto") -> Module:
        """The module of this launch. Raises ValueError for another device than npu2."""
        if target not in ("auto", "npu2"):
            raise ValueError(f"target {target}: the virtual device is an npu2")
        return Module([self._call], self._name)

    def mlir(self) -> str:
        """The module's text."""
        return str(self.build())


def launch(grid: Any = None, name: str = "launch") -> Launch:
    """A launch, built by the function that calls this one: its arguments say which."""
    frame = sys._getframe(1)
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    arguments = {key: plain(frame.f_locals[key]) for key in names}
    return Launch(BuildCall(Path(code.co_filename).name, code.co_name, arguments, take_objects()), name)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything()
