"""Step `preflight`: every limit of every kernel a model calls, before anything is compiled.

python -m scripts.preflight config/models/llama-3.2-1b.json [--seq-len 2048] [--output FILE]
"""

import argparse
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from scripts.atomic import write_text
from scripts.cases.case import parse_case
from scripts.cases.overrides import parse_overrides
from scripts.cases.tile_choice import CaseSpec, IllegalTile, choose_spec
from scripts.derive_shapes import SEED_REGISTRY, SEQ_LEN, plan_model
from scripts.errors import InputError, exit_status
from scripts.limits.findings import Finding, findings
from scripts.limits.launches import launch_limits
from scripts.limits.table import summary, table_text
from scripts.models.config import load_config
from scripts.models.plan import PlannedCase
from scripts.registry.store import load_rows

Overrides = Mapping[str, Mapping[str, int | str]]


def check_model(config: Path, seq_len: int, registry: Path, tiles: Overrides) -> list[Finding]:
    """Every limit of the model's cases. Raises InputError for a refused model or an illegal override."""

    @cache
    def rows(kernel: str) -> list:
        return load_rows(registry, kernel) if registry.is_dir() else []

    plan = plan_model(config, seq_len, registry)
    specs = {row.case: _spec(row, rows(row.kernel), tiles.get(row.case)) for row in plan}
    of_cases = [found for row in plan for found in findings(row, specs[row.case])]
    return [*launch_limits(load_config(config)), *of_cases]


def _spec(row: PlannedCase, rows: list, override: Mapping[str, int | str] | None) -> CaseSpec | None:
    """How the case is built; None when no tile is legal. InputError for an override that can't be used."""
    try:
        return choose_spec(parse_case(row.case), rows, override)
    except IllegalTile:
        raise
    except InputError:
        if override:
            raise
        return None


def tile_overrides(texts: list[str]) -> dict[str, dict[str, int | str]]:
    """Case -> overrides, from texts such as `gemm_64x64x64:tile_m=32,method=drain`.

    Raises InputError for another form.
    """
    overrides = {}
    for text in texts:
        case, _, knobs = text.partition(":")
        parts = knobs.split(",")
        method = [part.partition("=")[2] for part in parts if part.startswith("method=")]
        tile = ",".join(part for part in parts if not part.startswith("method="))
        overrides[case] = parse_overrides(tile, method[0] if method else None)
    return overrides


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts.preflight", description=__doc__.splitlines()[0])
    parser.add_argument("config", type=Path, help="a model's Hugging Face config.json")
    parser.add_argument("--seq-len", type=int, default=SEQ_LEN, help="positions of the prompt (%(default)s)")
    parser.add_argument("--registry", type=Path, default=SEED_REGISTRY, help="kernel registry to look in")
    parser.add_argument("--tiles", nargs="*", default=[], metavar="CASE:KNOB=N,...", help="tiles of your own")
    parser.add_argument("--output", type=Path, help="file to write (standard output)")
    return parser.parse_args()


def main() -> None:
    """Write the table, or print it. Raises InputError for bad input."""
    arguments = _arguments()
    if arguments.seq_len < 1:
        raise InputError(f"--seq-len: found {arguments.seq_len}; a positive integer is needed")
    overrides = tile_overrides(arguments.tiles)
    found = check_model(arguments.config, arguments.seq_len, arguments.registry, overrides)
    if arguments.output is None:
        sys.stdout.write(table_text(found))
    else:
        write_text(arguments.output, table_text(found))
        print(f"{arguments.output}: {summary(found)}")


if __name__ == "__main__":
    sys.exit(exit_status(main))
