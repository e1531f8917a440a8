"""What the command line asks of Snakemake, read early so that a wrong name is refused in one line."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

# results/<case>.verdict and so on; the file names are those of the rules' outputs.
_CASE_FILE = re.compile(r"results/([^/]+)\.(?:log|verdict|row)")
_CASE_BUILD = re.compile(r"results/build/([^/]+)/build\.json")
_MODEL_FILE = re.compile(r"results/([^/]+)\.(?:gates\.json|diagnosis\.json|recorded|phase1_kernels\.md)")
_MODEL_PLAN = re.compile(r"results/plan/([^/]+?)(?:\.walls)?\.tsv")


@dataclass(frozen=True)
class Requested:
    """Targets that name a case or a model."""

    cases: tuple[str, ...]  # names of cases, as written
    models: tuple[str, ...]  # names of models, as written


def requested_targets(arguments: Iterable[str]) -> Requested:
    """The cases and models among Snakemake's command-line arguments."""
    paths = [str(PurePosixPath(argument)) for argument in arguments]
    return Requested(
        cases=_matches(paths, _CASE_FILE, _CASE_BUILD),
        models=_matches(paths, _MODEL_FILE, _MODEL_PLAN),
    )


def _matches(paths: Iterable[str], *patterns: re.Pattern[str]) -> tuple[str, ...]:
    found = (pattern.fullmatch(path) for path in paths for pattern in patterns)
    return tuple(dict.fromkeys(match[1] for match in found if match))
