"""A case with its build, ready for the device."""

from dataclasses import dataclass
from pathlib import Path

from scripts.cases.case import Case, parse_case
from scripts.cases.tile_choice import choose_spec
from scripts.errors import InputError
from scripts.precision.build_record import BuildRecord, read_build
from scripts.targets.build_folder import RECORD_NAME, file_sha256
from scripts.targets.npu2.checkout import Checkout
from scripts.targets.npu2.commands import PERF_ITERS, HarnessCase, labelled


@dataclass(frozen=True)
class BuiltCase:
    """A case, the record of its build, and how its harness is called."""

    case: Case
    build: BuildRecord
    harness: HarnessCase | None  # None where there is no build to run

    @classmethod
    def read(cls, record: Path, checkout: Checkout) -> "BuiltCase":
        """The case whose build record is `record`. Raises InputError when that is not one."""
        build = read_build(record)
        case = parse_case(build.case)
        if build.status != "OK":
            return cls(case, build, None)
        method = {"method": build.method} if build.method else {}
        spec = choose_spec(case, [], {**build.knobs, **method})
        folder = record.resolve().parent
        return cls(case, build, HarnessCase(spec, checkout, folder, PERF_ITERS))

    def check_artifacts(self) -> None:
        """Raises InputError when a stored file is missing, or not the one the record describes."""
        if self.harness is None:
            return
        for name, sha256 in self.build.artifacts.items():
            file = self.harness.folder / name
            if not file.is_file() or file_sha256(file) != sha256:
                raise InputError(
                    f"{file}: missing, or not the one of {RECORD_NAME}; "
                    f"remove {self.harness.folder} and compile again"
                )

    def command(self) -> list[str]:
        """The command of one run, for the figures that count."""
        return self.harness.run_command() if self.build.split else self.harness.plain_command()

    def timing_command(self) -> list[str] | None:
        """The command of a run for its timing alone, where the case needs one and was split."""
        return self.harness.timing_command() if self.build.split else None

    def shown(self) -> str:
        """`command` for a record, with no folder of this machine."""
        return labelled(self.command(), self.harness.checkout)
