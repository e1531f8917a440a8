"""How a step refuses bad input: one line for a person, exit status 2."""

import sys
from collections.abc import Callable


class InputError(Exception):
    """Bad input. The message names the file, field or flag, what was found and what is allowed."""


def exit_status(main: Callable[[], None]) -> int:
    """Run a step's `main` and return its exit status: 0, or 2 after printing an `InputError`."""
    try:
        main()
    except InputError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0
