"""Stand-in for MLIR's core bindings: permissive, but for modules and names of object files."""

from typing import Any

from air.records import Anything, Module

# ruff: noqa: F822 (most of these are answered by __getattr__)
__all__ = [
    "AffineConstantExpr", "AffineDimExpr", "AffineExpr", "AffineMap", "AffineMapAttr", "AffineSymbolExpr",
    "ArrayAttr", "Attribute", "BF16Type", "BoolAttr", "Context", "DenseElementsAttr", "F32Type",
    "FlatSymbolRefAttr", "FloatAttr", "FunctionType", "IndexType", "InsertionPoint", "IntegerAttr",
    "IntegerSet", "IntegerType", "Location", "MemRefType", "Module", "ShapedType", "StridedLayoutAttr",
    "StringAttr", "Type", "TypeAttr", "UnitAttr", "VectorType",
]  # fmt: skip


class StringAttr:
    """A string attribute."""

    @staticmethod
    def get(text: str) -> str:
        """The text itself."""
        return text


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything()
