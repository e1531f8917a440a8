"""What this machine has for each target, and what is missing.

Exit status 0 only if the asked target can run; without one asked, if any can.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from scripts.errors import InputError, exit_status
from scripts.targets.compiler import find_compiler
from scripts.targets.provision import Finding, asked

HOST, NPU2 = "host", "npu2"


@dataclass(frozen=True)
class Examination:
    """A target, and everything it needs."""

    target: str
    findings: tuple[Finding, ...]

    @property
    def can_run(self) -> bool:
        """Whether nothing is missing."""
        return all(finding.there is not False for finding in self.findings)

    def text(self) -> str:
        """For a person: the outcome, then what it rests on."""
        missing = [finding.what for finding in self.findings if finding.there is False]
        outcome = f"cannot run: {', '.join(missing)} missing" if missing else "can run"
        return "\n".join([f"{self.target}: {outcome}", *(finding.line() for finding in self.findings)])


def examine_host() -> Examination:
    """The host target needs a C++20 compiler, and nothing else."""
    return Examination(HOST, (asked("compiler", lambda: find_compiler().version),))


def examine_npu2(mlir_air: Path | None, lock: Path | None) -> Examination:
    """The npu2 target needs mlir-air, its toolchain, XRT and a device; the lock's state is good to know."""
    # Loaded by name, as the target is: the host's cases do not depend on it.
    return Examination(NPU2, tuple(import_module("scripts.targets.npu2.provision").findings(mlir_air, lock)))


def examinations(target: str | None, mlir_air: Path | None, lock: Path | None) -> list[Examination]:
    """Of the asked target, or of every one."""
    all_targets = {HOST: examine_host, NPU2: lambda: examine_npu2(mlir_air, lock)}
    if target is not None and target not in all_targets:
        raise InputError(f"--target: found {target!r}; known targets: {', '.join(all_targets)}")
    return [examine() for name, examine in all_targets.items() if target in (None, name)]


def able(found: Sequence[Examination], target: str | None) -> bool:
    """Whether the asked target can run; without one, whether any can."""
    return any(examination.can_run for examination in found if target in (None, examination.target))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.doctor", description=__doc__)
    parser.add_argument("--target", help="host or npu2 (default: both; then one that can run is enough)")
    parser.add_argument("--mlir-air", type=Path, metavar="DIR", help="checkout (default: $MLIR_AIR_ROOT)")
    parser.add_argument("--lock", type=Path, metavar="FILE", help="lock of the device (default: upstream's)")
    return parser.parse_args()


def main() -> None:
    """Command line."""
    options = _arguments()
    found = examinations(options.target, options.mlir_air, options.lock)
    print("\n\n".join(examination.text() for examination in found))
    if not able(found, options.target):
        sys.exit(1)


if __name__ == "__main__":
    sys.exit(exit_status(main))
