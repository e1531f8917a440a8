"""The commands of a case: what a person would type to build it, and to run it on the device.

A harness compiles and runs in one process, so its script is started twice by way of split_harness.py: once
cut off after compiling, once with the compile step answered from what the first one stored. Where make ends
in the script, that goes in through the Makefiles' own variable PYTHON.
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from scripts.cases.tile_choice import CaseSpec, spec_variables
from scripts.targets.npu2.adapter import Adapter, Call, adapter
from scripts.targets.npu2.checkout import Checkout, plain_path
from scripts.targets.process import PROJECT_ROOT

WRAPPER = Path(__file__).with_name("split_harness.py")
HARNESS_FOLDER = "harness"  # make's BUILD_DIR, in results/build/<case>
PERF_ITERS = 20  # iterations that a timing is the mean of: the Makefiles' own default
STORE_FOLDER = "artifact"  # what the wrapper stores, beside it
# AIR_TARGET_DEVICE: compiling asks no device. MAKEFLAGS: not those of a make that started us.
# PYTHONUNBUFFERED: what was printed before a crash is in the log, and in order.
_ENVIRONMENT = ("MAKEFLAGS=", "AIR_TARGET_DEVICE=npu2", "PYTHONUNBUFFERED=1")


@dataclass(frozen=True)
class HarnessCase:
    """A case, bound to a checkout and to the folder it is built in."""

    spec: CaseSpec
    checkout: Checkout
    folder: Path  # results/build/<case>, absolute
    perf_iters: int  # iterations that a timing is the mean of

    @property
    def adapter(self) -> Adapter:
        """How the kernel's harness is called."""
        return adapter(self.spec.case.kernel)

    @property
    def checked(self) -> Call:
        """The call whose figures count; without timing in a checkout whose Makefile has no target for it."""
        timed, plain = self.adapter.checked, self.adapter.plain
        if timed.run == plain.run or not self.checkout.seen:
            return timed
        makefile = self.checkout.harness_folder(self.adapter) / "Makefile"
        text = makefile.read_text(encoding="utf-8", errors="replace") if makefile.is_file() else ""
        return timed if re.search(rf"^{timed.run}\s*:", text, re.MULTILINE) else plain

    @property
    def build_dir(self) -> Path:
        """Where the harness builds: no two cases share it, or they would overwrite each other."""
        return self.folder / HARNESS_FOLDER

    @property
    def store(self) -> Path:
        """Where the split harness keeps what it compiled."""
        return self.folder / STORE_FOLDER

    def compile_commands(self) -> list[list[str]]:
        """Everything that needs no device: the kernel's object, then the harness up to its load step."""
        return [*self._object_commands(), self._harness(self.checked, self._split("compile"))]

    def run_command(self) -> list[str]:
        """The harness from its load step on, for the figures that count."""
        return self._harness(self.checked, self._split("run"), objects_made=True)

    def timing_command(self) -> list[str] | None:
        """The run that only a timing is read from; None where `run_command` prints it too."""
        if not self.adapter.keeps_state:
            return None
        return self._harness(self.adapter.timed, self._split("run"), objects_made=True)

    def plain_command(self) -> list[str]:
        """The harness as upstream starts it, compiling and running in one process."""
        return self._harness(self.checked, (self.checkout.python,))

    def dry_run_command(self) -> list[str] | None:
        """What make would do for the compile; None where make does not start the script."""
        call = self.checked
        if call.run is None:
            return None
        return [*self._harness(call, self._split("compile")), "--dry-run"]

    def _split(self, phase: str) -> tuple[str, ...]:
        wrapper, store = (plain_path(path, "the project's folder") for path in (WRAPPER, self.store))
        return (self.checkout.python, wrapper, phase, "--store", store, "--")

    def _object_commands(self) -> list[list[str]]:
        """The folder and, where the script is called by itself, the object that it links."""
        made = ["mkdir", "-p", plain_path(self.build_dir, "the project's folder")]
        call, objects = self.checked, self.adapter.objects
        return [made] if call.run or not objects else [made, self._make(call, objects, ())]

    def _harness(self, call: Call, python: tuple[str, ...], objects_made: bool = False) -> list[str]:
        if call.run:
            assumed = ["-o", self.adapter.objects] if objects_made and self.adapter.objects else []
            return [*self._make(call, call.run, assumed), f"PYTHON={shlex.join(python)}"]
        script = self.checkout.harness_folder(self.adapter) / self.adapter.script
        flags = [text(self._known()) for text in call.flags]
        return ["env", "-C", str(self.build_dir), *_ENVIRONMENT, *python, str(script), *flags]

    def _make(self, call: Call, goal: str, options: list[str] | tuple[str, ...]) -> list[str]:
        known = self._known()
        variables = [f"{name}={text(known)}" for name, text in call.variables.items()]
        folder = self.checkout.harness_folder(self.adapter)
        make = ["make", "--no-print-directory", "-C", str(folder), *options, goal]
        return ["env", *_ENVIRONMENT, *make, f"BUILD_DIR={self.build_dir}", *variables]

    def _known(self) -> dict[str, object]:
        """Everything that an adapter's texts may name."""
        return {
            **spec_variables(self.spec),
            "method": self.spec.method or "",
            "perf_iters": self.perf_iters,
        }


def under_lock(command: list[str], lock: Path, wait: float) -> list[str]:
    """`command` as a person runs it who shares the device: by flock, on the lock the workflow takes."""
    return ["flock", "-x", "-w", f"{wait:g}", str(lock), *command]


def labelled(command: list[str], checkout: Checkout) -> str:
    """`command` for a record: shell-quoted, with no folder of this machine."""
    return without_places(shlex.join(command), checkout)


def without_places(text: str, checkout: Checkout) -> str:
    """`text` with folders of this machine written as what they are."""
    names = (
        (str(checkout.root), "$MLIR_AIR_ROOT"),
        (str(PROJECT_ROOT), "$PWD"),
        (checkout.python, "python3"),
    )
    for place, name in sorted(names, key=lambda pair: -len(pair[0])):
        text = text.replace(place, name)
    return text
