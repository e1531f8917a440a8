"""How a registry figure is written: 9.7e-3, 437 µs, 57.7 GB/s."""

from decimal import Decimal

from scripts.registry.rows import Row

_UNITS = {"latency_us": " µs", "gbps": " GB/s", "gflops": ""}
_NOTHING = "-"


def figure_text(row: Row, figure: str) -> str:
    """The figure of a row as the tables write it, "-" when the row has none.

    A published figure keeps the digits that were published, trailing zeros and ranges included.
    """
    printed, value = row["printed"].get(figure), row[figure]
    if printed is None and value is None:
        return _NOTHING
    if figure in _UNITS:
        return f"{printed or _plain(value)}{_UNITS[figure]}"
    return scientific(printed if printed is not None else _digits(value))


def scientific(number: str) -> str:
    """A decimal number with a one-digit mantissa and all its digits, at least two: "0.0097" is "9.7e-3"."""
    value = Decimal(number)
    if value.is_zero():
        return "0"
    digits = "".join(map(str, value.as_tuple().digits)).ljust(2, "0")
    return f"{'-' if value.is_signed() else ''}{digits[0]}.{digits[1:]}e{value.adjusted()}"


def _digits(value: float) -> str:
    """The shortest text of a number, without the zeros that Python adds to it."""
    return str(Decimal(repr(value)).normalize())


def _plain(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}"
