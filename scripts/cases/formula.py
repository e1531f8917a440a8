"""Arithmetic written as data: the formulas of kernel.yaml, checked and compiled once."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import TypeAlias

from scripts.errors import InputError

Number: TypeAlias = int | float | bool
_Evaluate: TypeAlias = Callable[[Mapping[str, float]], Number]

_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Number, Number], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ALLOWED = "allowed are numbers, names, + - * / // % **, comparisons, and/or/not"


class Formula:
    """One formula, e.g. `M % (tile_m * herd_m)`, called with the values of its names.

    `text` is the formula as written and `names` the variables it needs. Raises InputError for text that
    is not arithmetic on numbers and names.
    """

    def __init__(self, text: str) -> None:
        self.text = str(text).strip()
        try:
            tree = ast.parse(self.text, mode="eval")
        except (SyntaxError, ValueError):
            raise InputError(f"formula {self.text!r}: not an expression; {_ALLOWED}") from None
        self.names = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
        self._evaluate = _compiled(tree.body, self.text)

    def __call__(self, variables: Mapping[str, float]) -> Number:
        """The value for `variables`; InputError names a variable that is missing or a division by zero."""
        try:
            return self._evaluate(variables)
        except KeyError:
            missing = ", ".join(sorted(self.names - set(variables)))
            raise InputError(f"formula {self.text!r}: no value for {missing}") from None
        except ZeroDivisionError:
            raise InputError(f"formula {self.text!r}: division by zero") from None

    def __repr__(self) -> str:
        return f"Formula({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


def _compiled(node: ast.expr, text: str) -> _Evaluate:
    """The node as a function of the variables, or InputError when it is not arithmetic."""
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return lambda variables: value
        case ast.Name(id=name):
            return operator.itemgetter(name)
        case ast.UnaryOp(op=ast.USub() | ast.Not() as sign, operand=inner):
            return _unary(
                operator.neg if isinstance(sign, ast.USub) else operator.not_, _compiled(inner, text)
            )
        case ast.BinOp(op=symbol, left=left, right=right) if type(symbol) in _BINARY:
            return _binary(_BINARY[type(symbol)], _compiled(left, text), _compiled(right, text))
        case ast.Compare(ops=[symbol], left=left, comparators=[right]) if type(symbol) in _COMPARE:
            return _binary(_COMPARE[type(symbol)], _compiled(left, text), _compiled(right, text))
        case ast.BoolOp(op=symbol, values=values):
            return _connected(isinstance(symbol, ast.And), [_compiled(value, text) for value in values])
    raise InputError(f"formula {text!r}: holds {type(node).__name__}; {_ALLOWED}")


def _unary(operation: Callable[[Number], Number], inner: _Evaluate) -> _Evaluate:
    return lambda variables: operation(inner(variables))


def _binary(operation: Callable[[Number, Number], Number], left: _Evaluate, right: _Evaluate) -> _Evaluate:
    return lambda variables: operation(left(variables), right(variables))


def _connected(every: bool, parts: list[_Evaluate]) -> _Evaluate:
    """`and` or `or` of the parts, short-circuiting; always a bool."""
    quantifier = all if every else any
    return lambda variables: quantifier(part(variables) for part in parts)
