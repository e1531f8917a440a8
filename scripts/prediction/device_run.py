"""The process that runs the ELFs of one case and says how far each is from its tolerances.

`python -m scripts.prediction.device_run CASE ELF...` makes inputs and reference once, runs every ELF as
`scripts.targets.host_device` does, and prints one JSON record an ELF. No harness log: nothing is judged.
"""

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from scripts.cases.case import Case, parse_case
from scripts.cases.kernel_facts import load_kernel
from scripts.errors import InputError, exit_status
from scripts.prediction.margins import Prediction, predict
from scripts.targets.host_device import device_output, reference_module
from scripts.targets.interface import Target
from scripts.targets.process import project_path, run_limited

TIME_LIMIT_SECONDS = 600.0
_MARK = "[prediction] "
_MODULE = "scripts.prediction.device_run"


def run_elfs(
    target: Target, case: Case, elfs: Sequence[Path], rtol: float, atol: float, threads: int
) -> list[Prediction]:
    """Run `elfs` in a process of their own; a prediction for each.

    Raises InputError with the process's last words when it dies or takes too long.
    """
    paths = [project_path(elf) for elf in elfs]
    tolerances = ["--rtol", repr(rtol), "--atol", repr(atol)]
    command = [sys.executable, "-m", _MODULE, case.name, *paths, *tolerances, "--threads", str(threads)]
    finished = run_limited(command, TIME_LIMIT_SECONDS, target.run_environment(threads))
    lines = [line.removeprefix(_MARK) for line in finished.output.splitlines() if line.startswith(_MARK)]
    if finished.exit_status != 0 or len(lines) != len(elfs):
        last = (finished.output.splitlines() or ["no output"])[-1]
        raise InputError(
            f"{case.name}: the run ended with status {finished.exit_status} ({finished.state}): {last}"
        )
    return [Prediction.from_record(json.loads(line)) for line in lines]


def predictions(case: Case, elfs: Sequence[Path], rtol: float, atol: float, threads: int) -> list[Prediction]:
    """Run each ELF on the harness's inputs and compare its output with the FP32 reference."""
    facts, module = load_kernel(case.kernel), reference_module(case.kernel)
    inputs = [np.ascontiguousarray(array) for array in module.make_inputs(case.dims, facts.inputs)]
    expected = module.reference(case.dims, facts.inputs, inputs)
    return [predict(device_output(case, facts, elf, inputs, threads), expected, rtol, atol) for elf in elfs]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog=f"python -m {_MODULE}", description=__doc__)
    parser.add_argument("case", metavar="CASE", help="<kernel>_<shape>")
    parser.add_argument("elfs", nargs="+", type=Path, metavar="ELF", help="kernel.elf of the case")
    parser.add_argument("--rtol", type=float, required=True)
    parser.add_argument("--atol", type=float, required=True)
    parser.add_argument("--threads", type=int, default=1, help="threads of the kernel (default 1)")
    options = parser.parse_args()
    case = parse_case(options.case)
    for result in predictions(case, options.elfs, options.rtol, options.atol, options.threads):
        print(_MARK + json.dumps(dataclasses.asdict(result), allow_nan=False))


if __name__ == "__main__":
    sys.exit(exit_status(main))
