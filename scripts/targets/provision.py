"""What a target needs on this machine, as findings for a person."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass

from scripts.errors import InputError

_MARKS = {True: "ok", False: "MISSING", None: "note"}


@dataclass(frozen=True)
class Finding:
    """One thing a target needs, or should be known of."""

    what: str  # e.g. "compiler"
    there: bool | None  # None: good to know, and no reason not to run
    says: str  # what was found, or what to do

    def line(self) -> str:
        """For a person."""
        return f"  {_MARKS[self.there]:8}{self.what:16}{self.says}"


def asked(what: str, ask: Callable[[], str]) -> Finding:
    """The finding of a question that either has an answer or raises InputError saying what to do."""
    try:
        return Finding(what, True, ask())
    except InputError as error:
        return Finding(what, False, str(error))


def program(name: str) -> str:
    """The place of a program on PATH. Raises InputError when there is none."""
    found = shutil.which(name)
    if found is None:
        raise InputError(f"not on PATH ({len(os.environ.get('PATH', '').split(os.pathsep))} folders)")
    return found
