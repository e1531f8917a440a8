"""The plan at parse time: which cases a run holds, with which tile each, and who needs them.

Pure and without a checkpoint, so that a dry run shows everything. Paths are relative to the project.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from scripts.cases.case import Case, parse_case
from scripts.cases.kernel_facts import harness_kernels, load_kernel
from scripts.cases.tile_choice import CaseSpec, choose_spec
from scripts.derive_shapes import plan_model
from scripts.errors import InputError
from scripts.limits.findings import findings
from scripts.limits.table import summary
from scripts.models.plan import PlannedCase
from scripts.registry.store import load_rows
from scripts.workflow.requested import Requested
from scripts.workflow.settings import Settings

MODEL_FOLDER = "config/models"


@dataclass(frozen=True)
class Plan:
    """What a run may build, run and judge."""

    settings: Settings
    models: Mapping[str, tuple[PlannedCase, ...]]  # model -> its cases, diagnosis-only ones too
    specs: Mapping[str, CaseSpec]  # every case of the models, and those asked for by name -> its tile

    def cases(self, model: str) -> list[str]:
        """Names of the model's cases, in order of the plan."""
        return [planned.case for planned in self.models[model]]

    def harness_cases(self, model: str) -> list[str]:
        """Names of the model's cases that have a harness, in order of the plan."""
        return [planned.case for planned in self.models[model] if planned.source == "harness"]

    def has_diagnosis(self, model: str) -> bool:
        """Whether the model calls a kernel that only the diagnosis judges."""
        return len(self.harness_cases(model)) < len(self.cases(model))

    def diagnosed_models(self, case: str) -> list[str]:
        """The models that call `case`."""
        return [model for model in self.models if case in self.cases(model)]

    def preflight(self, model: str) -> str:
        """What is known of the model's cases before a compile, in a few words."""
        return summary(
            [found for case in self.models[model] for found in findings(case, self.specs[case.case])]
        )

    def used_by(self, case: str) -> list[str]:
        """Call sites of `case`, e.g. "llama-3.2-1b prefill Gate/Up proj"; none for a case no model needs."""
        return [
            label
            for model, cases in self.models.items()
            for planned in cases
            if planned.case == case
            for label in planned.used_by(model)
        ]


def make_plan(settings: Settings, requested: Requested) -> Plan:
    """The plan for the configured models, and for what the command line asks by name.

    Raises InputError for an unknown model or case, a config that is not supported, a shape without a
    legal tile, or an illegal tile override.
    """
    names = dict.fromkeys((*settings.models, *requested.models))
    models = {model: _model_cases(model, settings) for model in names}
    wanted = dict.fromkeys(planned.case for cases in models.values() for planned in cases)
    canary = [settings.canary] if settings.target == "npu2" else []
    asked = [_asked_case(name, wanted) for name in (*requested.cases, *settings.tiles, *canary)]
    return Plan(settings, models, _specs([*map(parse_case, wanted), *asked], settings))


def _model_cases(model: str, settings: Settings) -> tuple[PlannedCase, ...]:
    path = Path(MODEL_FOLDER, f"{model}.json")
    if not path.is_file():
        known = ", ".join(known_models()) or "none"
        raise InputError(f"models: found {model!r}; no file {path}; there are: {known}")
    return tuple(plan_model(path, settings.seq_len, Path(settings.registry)))


def known_models() -> list[str]:
    """Names of the model configs that are there, sorted."""
    return sorted(path.stem for path in Path(MODEL_FOLDER).glob("*.json"))


def known_row_files(registry: str) -> list[str]:
    """The registry's JSON files, sorted. Raises InputError when the folder is missing or holds none."""
    files = sorted(path.as_posix() for path in Path(registry).glob("*.json"))
    if not files:
        raise InputError(f"registry: found {registry!r}; a folder that holds <kernel>.json files is needed")
    return files


def _asked_case(name: str, planned: Container[str]) -> Case:
    """The case of that name. Raises InputError when it is unknown, or nothing could judge it."""
    case = parse_case(name)
    if load_kernel(case.kernel).signal != "harness" and case.name not in planned:
        raise InputError(
            f"case {name!r}: {case.kernel} has no harness, so the diagnosis of a model in 'models' that "
            f"calls this shape is needed; kernels with a harness: {', '.join(harness_kernels())}"
        )
    return case


def _specs(cases: Iterable[Case], settings: Settings) -> dict[str, CaseSpec]:
    """The tile of each case: the override, else chosen from the registry's rows."""

    @cache
    def rows(kernel: str) -> list:
        return load_rows(Path(settings.registry), kernel)

    return {
        case.name: _spec(case, rows(case.kernel), settings.tiles.get(case.name))
        for case in {case.name: case for case in cases}.values()
    }


def _spec(case: Case, rows: list, override: Mapping[str, int | str] | None) -> CaseSpec:
    try:
        return choose_spec(case, rows, override)
    except InputError as error:
        raise InputError(f"tiles.{case.name}: {error}" if override else str(error)) from None
