"""Stand-in for the bindings of MLIR's dialect `func`: functions, and what external ones are linked with."""

from collections.abc import Callable
from typing import Any

from air.records import Anything, link_object, name_function


class Attributes(dict[str, Any]):
    """A function's attributes; `link_with` is the one that matters to the build."""

    def __setitem__(self, name: str, value: Any) -> None:
        if name == "link_with":
            link_object(value)
        super().__setitem__(name, value)


class FuncOp:
    """A function."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.attributes = Attributes()

    @staticmethod
    def from_py_func(*types: Any, **options: Any) -> Callable[[Callable[..., Any]], Anything]:
        """The decorator of a module's public function, whose body is not traced."""

        def named(body: Callable[..., Any]) -> Anything:
            name_function(body.__name__)
            return Anything()

        return named


class CallOp(Anything):
    """A call of a function."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        pass
