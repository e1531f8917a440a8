"""Building the host ELF of a case, and the file that plays the device's binary."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from air.backend.host_case import HostCase

PROJECT = Path(__file__).resolve().parents[5]
# Follows the ELF in the binary: a loader ignores what stands after the last section.
TRAILER = b"\nvirtual npu2: "


class BuildFailed(Exception):
    """The case could not be built."""


def check_objects(objects: Sequence[str], case: HostCase) -> None:
    """Raise BuildFailed unless every object file is in this folder and was compiled for this tile."""
    for name in objects:
        try:
            built = json.loads(Path(name).read_text(encoding="utf-8"))
        except OSError:
            raise BuildFailed(f"cannot open {name}: no such file in {Path.cwd()}") from None
        for macro, value in (case.macros or {}).items():
            found = built["macros"].get(macro)
            if found != str(value):
                raise BuildFailed(f"{name} was compiled with {macro}={found}, the module has {value}")


def build(case: HostCase, binary: Path) -> None:
    """Write `binary`: the ELF the host target builds for `case`, and how its buffers are laid out.

    Raises BuildFailed when it cannot be built, or VIRTUAL_NPU2_COMPILER says there is no compiler.
    """
    if os.environ.get("VIRTUAL_NPU2_COMPILER") == "absent":
        raise BuildFailed("no aircc: VIRTUAL_NPU2_COMPILER is absent")
    with tempfile.TemporaryDirectory() as folder:
        record = _compile(case, Path(folder))
        if record["status"] != "OK":
            raise BuildFailed(f"{record['status']}: {record['reason']}")
        layout = {"case": case.case, "inputs": case.inputs, "slices": case.slices}
        elf = (Path(folder) / record["elf"]).read_bytes()
    binary.write_bytes(elf + TRAILER + json.dumps(layout).encode())


def _compile(case: HostCase, folder: Path) -> dict[str, Any]:
    tile = ",".join(f"{name}={value}" for name, value in case.knobs.items())
    command = [sys.executable, "-m", "scripts.compile_elf", case.case, "--target", "host"]
    command += ["--output-dir", str(folder), "--tile", tile]
    if case.method:
        command += ["--method", case.method]
    # Without the stand-ins on the path: the step is this project's own.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildFailed(done.stderr.strip())
    return json.loads((folder / "build.json").read_text(encoding="utf-8"))


def layout_of(binary: Path) -> dict[str, Any]:
    """How the buffers of `binary` are laid out. Raises BuildFailed if it is no binary of this device."""
    _, found, layout = binary.read_bytes().rpartition(TRAILER)
    if not found:
        raise BuildFailed(f"{binary}: not a binary of the virtual device")
    return json.loads(layout)
