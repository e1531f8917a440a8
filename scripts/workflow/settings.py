"""The workflow's settings: config/config.yaml with `--config` on top, checked against its schema."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.cases.kernel_facts import load_kernel
from scripts.errors import InputError
from scripts.targets.kernel_source import KernelSource, kernel_source

SCHEMA = Path(__file__).resolve().parents[2] / "config" / "config.schema.json"
_WHERE = "config/config.yaml (or --config)"

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?", re.ASCII)
# Keys that hold mappings to numbers.
_WITH_NUMBERS = ("tiles", "minutes", "diagnosis")


@dataclass(frozen=True)
class Settings:
    """The checked config."""

    models: tuple[str, ...]  # names of config/models/<name>.json to validate
    seq_len: int  # positions in the prefill
    target: str  # where cases are built and run, e.g. "host"
    gate_scope: str  # which cases the rule `all` enforces the gates for: "all" or "harness"
    tiles: Mapping[str, Mapping[str, int | str]]  # case -> knobs (and method) that replace the chosen ones
    registry: str  # folder of known rows that tiles are chosen from
    registry_root: str | None  # folder that rows of hardware evidence go to; None: the working copy
    record: str  # folder of a model's record, with {model} for its name
    minutes: Mapping[str, int]  # time limit of a step, in minutes: "compile", "run", "diagnose"
    diagnosis: Mapping[str, Any]  # layers, decode_tokens, reference, min_cosine, max_step
    mlir_air: str | None = None  # checkout that the npu2 target drives; None: $MLIR_AIR_ROOT
    repeats: int = 2  # runs of each ELF on npu2, whose figures are compared
    canary: str = "rmsnorm_256x960"  # small known-good case that tells whether the device is sound
    lock: str = "/tmp/mlir-air-npu.lock"  # file of the device's lock
    lock_wait_seconds: int = 1800  # how long a run waits for it
    kernel_source: str | None = None  # mlir-air checkout whose kernel sources are built instead of our own
    kernels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # kernel -> {"source": C++ file}

    def record_folder(self, model: str) -> str:
        """Where the record of `model` is kept."""
        return self.record.replace("{model}", model)

    def source_of(self, kernel: str) -> KernelSource | None:
        """The source that replaces our own for `kernel`, None for our own.

        Raises InputError when the checkout or the file that was named is not there.
        """
        given = self.kernels.get(kernel, {}).get("source") or self.kernel_source
        return kernel_source(load_kernel(kernel), Path(given)) if given else None


def read_settings(config: Mapping[str, Any], schema: Path = SCHEMA) -> Settings:
    """The settings in `config`. Raises InputError naming the key, what it holds and what is allowed."""
    # Imported here: a tenth of the time that everything else at parse time takes.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    config = {**config, **{key: _numbers(config[key]) for key in _WITH_NUMBERS if key in config}}
    rules = json.loads(schema.read_text(encoding="utf-8"))
    error = best_match(Draft202012Validator(rules).iter_errors(config))
    if error is not None:
        raise InputError(f"{_WHERE}: {_complaint(error)}")
    settings = Settings(**{**config, "models": tuple(config["models"])})
    if settings.target == "npu2" and (settings.kernel_source or settings.kernels):
        found = "kernel_source" if settings.kernel_source else "kernels"
        raise InputError(
            f"{_WHERE}: {found}: set, with target npu2, which builds the sources of mlir_air; edit them there"
        )
    for kernel in settings.kernels:
        settings.source_of(kernel)
    return settings


def _numbers(value: Any) -> Any:
    """`value` with the numbers below it as such: Snakemake's `--config` passes them as text."""
    if isinstance(value, Mapping):
        return {key: _numbers(below) for key, below in value.items()}
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        return value
    return int(value) if value.isdecimal() else float(value)


def _complaint(error: Any) -> str:
    """A jsonschema error as one line that names the key, what was found and what is allowed."""
    key = ".".join(map(str, error.absolute_path))
    inside = f" in {key}" if key else ""
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = ", ".join(sorted(set(error.instance) - set(known)))
        return f"unknown key {unknown}{inside}; allowed: {', '.join(known)}"
    if error.validator == "required":
        needed = error.schema["required"]
        missing = ", ".join(sorted(set(needed) - set(error.instance)))
        return f"key {missing}{inside} is missing; needed: {', '.join(needed)}"
    says = error.schema.get("description", error.schema.get("type", "see config.schema.json"))
    allowed = ", ".join(map(str, error.schema.get("enum", ()))) or says
    return f"{key}: found {error.instance!r}; allowed: {allowed}"
