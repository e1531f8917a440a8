"""The registry's command line: seed, render, lookup, check."""

import argparse
import json
import sys
from pathlib import Path

from scripts.errors import InputError, exit_status
from scripts.registry.lookup import UnmeasuredShape, kernel_config
from scripts.registry.roots import SHARED_REGISTRY

# The other commands import pandas or YAML, so they are imported where they are asked for.


def _seed(options: argparse.Namespace) -> int:
    from scripts.registry.seed import seed
    from scripts.registry.tables import render

    counts = seed(options.csv, options.root, replace=options.replace)
    render(options.root)
    print(
        f"{sum(counts.values())} rows: " + ", ".join(f"{kernel} {count}" for kernel, count in counts.items())
    )
    return 0


def _render(options: argparse.Namespace) -> int:
    from scripts.registry.tables import render

    print("\n".join(str(path) for path in render(options.root)))
    return 0


def _lookup(options: argparse.Namespace) -> int:
    facts = dict(_assignment(text) for text in options.facts)
    try:
        print(json.dumps(kernel_config(options.kernel, root=options.root, **facts)))
    except UnmeasuredShape as error:
        raise InputError(str(error)) from None
    return 0


def _assignment(text: str) -> tuple[str, int | str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier() or name in ("root", "kernel"):
        raise InputError(f"{text!r}: allowed: a dim or contract as NAME=VALUE, e.g. M=2048 precision=high")
    return name, int(value) if value.isascii() and value.isdigit() else value


def _check(options: argparse.Namespace) -> int:
    from scripts.registry.check import findings
    from scripts.registry.upstream.check import upstream_findings
    from scripts.registry.upstream.measured import is_upstream_root

    look = upstream_findings if is_upstream_root(options.root) else findings
    found = look(options.root)
    print("\n".join(found) or f"{options.root}: no findings")
    return 1 if found else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m scripts.registry", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    seed = commands.add_parser("seed", help="write a registry folder from the published rows")
    seed.add_argument("csv", type=Path, help="CSV of published rows")
    seed.add_argument("--replace", action="store_true", help="drop every row the folder holds")
    seed.set_defaults(command=_seed)
    render = commands.add_parser("render", help="write the Markdown pages from the JSON files")
    render.set_defaults(command=_render)
    lookup = commands.add_parser("lookup", help="print the best measured configuration of a shape")
    lookup.add_argument("kernel")
    lookup.add_argument(
        "facts", nargs="+", metavar="NAME=VALUE", help="dims; for gemm also output_dtype, precision"
    )
    lookup.set_defaults(command=_lookup)
    for command in (seed, render, lookup):
        command.add_argument("--root", type=Path, default=SHARED_REGISTRY, help="registry folder")
    check = commands.add_parser(
        "check", help="say what in a registry folder contradicts itself; exit 1 if anything"
    )
    check.add_argument("root", type=Path)
    check.set_defaults(command=_check)
    return parser


def main() -> None:
    """Run one command. Exit status 1 when `check` found something."""
    options = _parser().parse_args()
    status = options.command(options)
    if status:
        sys.exit(status)


if __name__ == "__main__":
    sys.exit(exit_status(main))
