"""The host's comparison, in a process of its own: kernels on one side, the reference on the other.

`python -m scripts.diagnosis.host_layers CONFIG --builds DIR --plan TSV --output FILE` writes the layers'
records as JSON. `scripts.diagnose_layers` starts it, so that a kernel which crashes is a record, too.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from scripts.atomic import write_text
from scripts.cases.case import parse_case
from scripts.diagnosis.arithmetic import Arithmetic, arithmetic_of
from scripts.diagnosis.layer_run import LayerOutput, Prompt, prompt_of, run_layers
from scripts.diagnosis.numpy_operations import NumpyOperations
from scripts.diagnosis.records import LayerRecord, layer_record
from scripts.diagnosis.simulated_operations import SimulatedKernels, SimulatedOperations
from scripts.errors import exit_status
from scripts.models.config import ModelConfig, load_config
from scripts.models.plan import DECODE, PREFILL, PlannedCase, read_plan
from scripts.precision.build_record import read_build
from scripts.targets.build_folder import RECORD_NAME, checked_elf


def planned_kernels(plan: list[PlannedCase], builds: Path, threads: int) -> SimulatedKernels:
    """The ELFs of the plan's cases. Raises InputError when one is missing or not the one its record names."""
    elfs = {}
    for row in plan:
        folder = builds / row.case
        elfs[parse_case(row.case)] = checked_elf(folder, read_build(folder / RECORD_NAME).elf_sha256)
    return SimulatedKernels(elfs, threads)


def compare(actual: LayerOutput, expected: LayerOutput) -> list[LayerRecord]:
    """A layer's records, one for each phase that has tokens."""
    return [
        layer_record(phase, actual.layer, actual.phases[phase], expected.phases[phase])
        for phase in (PREFILL, DECODE)
        if len(actual.phases[phase])
    ]


def exercised_by_phase(kernels: SimulatedKernels, plan: list[PlannedCase]) -> dict[str, list[str]]:
    """Cases that ran, by the phases that the plan has them in."""
    phases = {row.case: row.phase.split("+") for row in plan}
    return {
        phase: [case for case in kernels.exercised if phase in phases[case]] for phase in (PREFILL, DECODE)
    }


def compare_layers(
    config: ModelConfig, kernels: SimulatedKernels, prompt: Prompt, layers: int, use_transformers: bool
) -> tuple[str, list[LayerRecord]]:
    """What the layers were compared with, and their records."""
    arithmetic = arithmetic_of(config)
    cpu = NumpyOperations(config, arithmetic.norm_eps)
    simulated = run_layers(
        config, arithmetic, lambda _: SimulatedOperations(config, kernels, cpu), prompt, layers
    )
    name, expected = _reference(config, arithmetic, cpu, prompt, layers, use_transformers)
    records = [record for pair in zip(simulated, expected, strict=True) for record in compare(*pair)]
    return name, records


def _reference(
    config: ModelConfig,
    arithmetic: Arithmetic,
    cpu: NumpyOperations,
    prompt: Prompt,
    layers: int,
    use_transformers: bool,
) -> tuple[str, Any]:
    if not use_transformers:
        return "numpy, FP32 rounded to bf16", run_layers(config, arithmetic, lambda _: cpu, prompt, layers)
    # Imported here: torch takes seconds to import, and is an optional extra.
    from scripts.diagnosis.transformers_layers import run_transformers, transformers_version

    return f"transformers {transformers_version()}, bf16", run_transformers(config, prompt, layers)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m scripts.diagnosis.host_layers", description=__doc__)
    parser.add_argument("config", type=Path, help="config/models/<model>.json")
    parser.add_argument("--plan", type=Path, required=True, help="results/plan/<model>.tsv")
    parser.add_argument("--builds", type=Path, required=True, help="folder of <case>/kernel.elf")
    parser.add_argument("--seq-len", type=int, required=True, help="positions of the prompt")
    parser.add_argument("--decode-tokens", type=int, required=True, help="tokens after the prompt")
    parser.add_argument("--layers", type=int, required=True, help="layers to compare, if it has as many")
    parser.add_argument("--threads", type=int, default=1, help="threads of a kernel (default 1)")
    parser.add_argument("--transformers", action="store_true", help="compare with transformers, not numpy")
    parser.add_argument("--output", type=Path, required=True, help="the records, JSON")
    options = parser.parse_args()
    config, plan = load_config(options.config), read_plan(options.plan)
    kernels = planned_kernels(plan, options.builds, options.threads)
    prompt = prompt_of(config, options.seq_len, options.decode_tokens)
    layers = min(options.layers, config.layers)
    name, records = compare_layers(config, kernels, prompt, layers, options.transformers)
    document = {
        "reference": name,
        "exercised": exercised_by_phase(kernels, plan),
        "per_layer": [record.as_json() for record in records],
    }
    write_text(options.output, json.dumps(document) + "\n")


if __name__ == "__main__":
    sys.exit(exit_status(main))
