"""Step `derive_shapes`: the working shape list of a model, as TSV.

python -m scripts.derive_shapes config/models/llama-3.2-1b.json [--seq-len 2048] [--tiles] [--output FILE]
"""

import argparse
import sys
from pathlib import Path

from scripts.atomic import write_text
from scripts.cases.case import parse_case
from scripts.cases.tile_choice import choose_spec
from scripts.errors import InputError, exit_status
from scripts.models.call_sites import derive
from scripts.models.config import load_config
from scripts.models.contracts import gemm_tiers
from scripts.models.plan import PlannedCase, plan_text
from scripts.registry.store import load_rows

SEQ_LEN = 2048
"""Prompt length of the published rows, and so of a plan unless another is asked for."""

SEED_REGISTRY = Path(__file__).resolve().parents[1] / "docs" / "kernel_registry"


def plan_model(config: Path, seq_len: int = SEQ_LEN, registry: Path = SEED_REGISTRY) -> list[PlannedCase]:
    """The plan of the model whose config is at `config`. Raises InputError for a model it must refuse."""
    return derive(load_config(config), seq_len, registry_tiers(registry))


def registry_tiers(registry: Path) -> dict[str, str]:
    """GEMM shape -> precision contract, from the registry folder; empty when there is none."""
    if not registry.is_dir():
        return {}
    return gemm_tiers(high=load_rows(registry, "gemm"), low=load_rows(registry, "gemm_low"))


def tile_columns(plan: list[PlannedCase], registry: Path) -> list[dict[str, str]]:
    """Tile and herd of each row of the plan.

    Raises InputError when no legal tile fits a shape.
    """
    return [_tile(row, registry) for row in plan]


def _tile(row: PlannedCase, registry: Path) -> dict[str, str]:
    spec = choose_spec(parse_case(row.case), load_rows(registry, row.kernel) if registry.is_dir() else [])
    return {"tile": spec.tile_text, "herd": f"{spec.herd[0]}x{spec.herd[1]}"}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts.derive_shapes", description=__doc__.splitlines()[0])
    parser.add_argument("config", type=Path, help="a model's Hugging Face config.json")
    parser.add_argument("--seq-len", type=int, default=SEQ_LEN, help="positions of the prompt (%(default)s)")
    parser.add_argument("--tiles", action="store_true", help="add the tile and the herd of each case")
    parser.add_argument("--registry", type=Path, default=SEED_REGISTRY, help="kernel registry to look in")
    parser.add_argument("--output", type=Path, help="file to write (standard output)")
    return parser.parse_args()


def main() -> None:
    """Write the plan. Raises InputError for bad input."""
    arguments = _arguments()
    if arguments.seq_len < 1:
        raise InputError(f"--seq-len: found {arguments.seq_len}; a positive integer is needed")
    plan = plan_model(arguments.config, arguments.seq_len, arguments.registry)
    text = plan_text(plan, tile_columns(plan, arguments.registry) if arguments.tiles else ())
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        write_text(arguments.output, text)


if __name__ == "__main__":
    sys.exit(exit_status(main))
