"""The Python that the rules' commands run on."""

import os
import sys
from pathlib import Path


def use_own_python() -> None:
    """Put the folder of this Python first on PATH.

    Rules call `python` and mean the one that runs Snakemake, whose environment may not be activated.
    """
    own = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join([own, os.environ.get("PATH", os.defpath)])
