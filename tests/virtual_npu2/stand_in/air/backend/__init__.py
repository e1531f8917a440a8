"""The backends: XRTBackend is the stand-in beside this file, everything else is the checkout's own source."""

import os
from pathlib import Path

CHECKOUT = Path(os.environ["MLIR_AIR_ROOT"]) / "python" / "air" / "backend"
__path__.append(str(CHECKOUT))  # after this folder: xrt_runner.py is found in the checkout
