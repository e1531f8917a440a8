"""Element types: what the harness asks of them is their width."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ElementType:
    """A scalar type of MLIR."""

    name: str  # as MLIR writes it
    width: int  # bits

    @property
    def itemsize(self) -> int:
        """Bytes."""
        return self.width // 8

    @property
    def default_vector_width(self) -> int:
        """Lanes of a vector operation when the harness names none."""
        return 16

    def __str__(self) -> str:
        return self.name


_WIDTHS = {"f16": 16, "f32": 32, "f64": 64, "bf16": 16, "index": 64}
_WIDTHS |= {f"{kind}{bits}": bits for kind in ("i", "ui") for bits in (8, 16, 32, 64)}
ELEMENT_TYPES = {name: ElementType(name, width) for name, width in _WIDTHS.items()}


class T:
    """Makers of element types, T.bf16() and so on."""


for _name, _type in ELEMENT_TYPES.items():
    setattr(T, _name, staticmethod(lambda _type=_type: _type))
