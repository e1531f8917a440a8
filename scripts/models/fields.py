"""A config's fields, read with a family's defaults and checked one by one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.errors import InputError


@dataclass(frozen=True)
class Fields:
    """The fields of one config object, with complaints that name the file and the field."""

    path: Path
    values: Mapping[str, Any]  # as in the file
    defaults: Mapping[str, Any] = field(default_factory=dict)  # what holds where a field is absent
    prefix: str = ""  # where in the file the fields stand, e.g. "text_config."

    def get(self, name: str) -> Any:
        """The field's value; the default when it is absent, None when there is none."""
        return self.values[name] if name in self.values else self.defaults.get(name)

    def error(self, name: str, found: str, allowed: str) -> InputError:
        """The complaint about one field."""
        return InputError(f"{self.path}: {self.prefix}{name}: {found}; {allowed} is needed")

    def size(self, name: str) -> int:
        """A required positive integer. Raises InputError when it is missing or something else."""
        if name not in self.values and self.defaults.get(name) is None:
            raise self.error(name, "missing", "a positive integer")
        value = self.get(name)
        # type() and not isinstance(): true is an int to Python, but not a size.
        if type(value) is not int or value < 1:
            raise self.error(name, f"found {value!r}", "a positive integer")
        return value

    def optional_size(self, name: str) -> int | None:
        """A positive integer, or None when the field is null, or absent without a default."""
        return None if self.get(name) is None else self.size(name)

    def number(self, name: str) -> float | None:
        """A positive number, or None when the field is null, or absent without a default."""
        value = self.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise self.error(name, f"found {value!r}", "a positive number")
        return float(value)

    def flag(self, name: str) -> bool:
        """True or false; the default, or else false, when the field is absent or null."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, bool):
            raise self.error(name, f"found {value!r}", "true or false")
        return bool(self.defaults.get(name)) if value is None else value

    def section(self, name: str, defaults: Mapping[str, Any]) -> "Fields":
        """The object below a field, {} for absent or null. Raises InputError when it is something else."""
        value = {} if self.values.get(name) is None else self.values[name]
        if not isinstance(value, Mapping):
            raise self.error(name, f"found {value!r}", "an object")
        return Fields(self.path, value, defaults, f"{self.prefix}{name}.")
