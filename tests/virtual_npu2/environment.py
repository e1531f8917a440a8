"""The environment in which a real mlir-air checkout runs on the virtual NPU2."""

import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def checkout() -> Path | None:
    """The mlir-air checkout that MLIR_AIR_ROOT names, if it has what the proof needs."""
    root = Path(os.environ.get("MLIR_AIR_ROOT") or "/nonexistent")
    return root.resolve() if (root / "python" / "air" / "backend" / "xrt_runner.py").is_file() else None


def virtual_environment(folder: Path, root: Path) -> dict[str, str]:
    """Variables that put the stand-ins in front of `root`, with the device's files in `folder`.

    The Python that runs the harness is the one that runs this.
    """
    peano, node, temporary = folder / "peano", folder / "accel0", folder / "tmp"
    shutil.copytree(HERE / "peano", peano, dirs_exist_ok=True)
    temporary.mkdir(parents=True, exist_ok=True)
    node.touch()
    return {
        "MLIR_AIR_ROOT": str(root),
        "PYTHONPATH": str(HERE / "stand_in"),
        "PYTHONDONTWRITEBYTECODE": "1",  # nothing is written into the checkout
        "PEANO_INSTALL_DIR": str(peano),
        "MLIR_AIE_INSTALL_DIR": str(peano),
        "VIRTUAL_NPU2_DEVICE": str(node),
        "TMPDIR": str(temporary),  # the harness's own npu.lock, apart from a real device's
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
    }
