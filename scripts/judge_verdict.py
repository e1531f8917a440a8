"""Judge the log of a case: build record and log in, verdict out, the same for both targets."""

import argparse
import sys
from pathlib import Path

from scripts.atomic import write_text
from scripts.cases.case import Case, parse_case
from scripts.cases.kernel_facts import load_kernel
from scripts.errors import InputError, exit_status
from scripts.precision.build_record import BuildRecord, read_build
from scripts.precision.judge import judge


def checked_case(name: str, build: BuildRecord, build_path: Path) -> Case:
    """The case to judge. Raises InputError if it has no harness or the build record is of another case."""
    case = parse_case(name)
    if load_kernel(case.kernel).signal != "harness":
        raise InputError(f"{name}: {case.kernel} has no harness, so there is no log to judge")
    if build.case != case.name:
        raise InputError(f"{build_path}: field case is {build.case!r}; allowed: {case.name!r}")
    return case


def read_log(path: Path) -> str:
    """The log's text; bytes that are not UTF-8 (a device's garbage) are replaced, not refused."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; the log of a run is needed") from None


def main() -> None:
    """Command line of the step."""
    parser = argparse.ArgumentParser(prog="python -m scripts.judge_verdict", description=__doc__)
    parser.add_argument("case", metavar="CASE", help="<kernel>_<shape>, e.g. gemm_2048x2048x8192")
    parser.add_argument("--build", type=Path, required=True, help="results/build/<case>/build.json")
    parser.add_argument("--log", type=Path, required=True, help="results/<case>.log, or a bare harness log")
    parser.add_argument("--exit-status", type=int, help="exit status of a bare harness log")
    parser.add_argument("--used-by", nargs="+", default=[], metavar="TEXT", help="call sites of the case")
    parser.add_argument("--output", type=Path, required=True, help="results/<case>.verdict")
    options = parser.parse_args()
    build = read_build(options.build)
    case = checked_case(options.case, build, options.build)
    verdict = judge(case, build, read_log(options.log), options.used_by, options.exit_status)
    write_text(options.output, verdict.as_json())
    print(f"{verdict.case}: {verdict.status}: {verdict.reason}")


if __name__ == "__main__":
    sys.exit(exit_status(main))
