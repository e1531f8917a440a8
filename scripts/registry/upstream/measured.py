"""A measured case, ready to be written into the tables and the JSON of mlir-air's registry."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.cases.case import Case, parse_case
from scripts.cases.kernel_facts import KernelFacts, load_kernel
from scripts.errors import InputError
from scripts.registry.lookup import GEMM_CONTRACTS
from scripts.registry.rows import Row

INDEX = "supported_kernels.md"
DETAILS = "details"
_TIERS = {kernel: precision for (_, precision), kernel in GEMM_CONTRACTS.items()}
# What tables call the knobs where it is not the knob's own name, and the array's columns and rows.
_KNOBS = {"m": "tile_m", "kl2": "tile_k_l2", "kl1": "tile_k_l1", "n": "tile_n", "tile_n": "tile"}
_HERD_COLUMNS = ("hx", "herd_x", "cols", "herd_m")
_HERD_ROWS = ("hy", "herd_y", "rows", "herd_n")


@dataclass(frozen=True)
class Measured:
    """One case that a device has run, and the facts of its kernel."""

    case: Case
    facts: KernelFacts
    row: Row  # as scripts.append_registry makes it from the verdict

    @property
    def tier(self) -> str | None:
        """The precision tier of a GEMM, "high" or "low"; None for other kernels."""
        return tier_of(self.facts)

    @property
    def page(self) -> str:
        """Name of the detail page. Raises InputError when kernel.yaml names none."""
        return page_of(self.facts)

    def size_of(self, name: str) -> int:
        """The size that a config column's header calls `name`. Raises InputError for an unknown name."""
        herd, tile = self.row["herd"], self.row["tile"]
        if name in _HERD_COLUMNS:
            return herd[0]
        if name in _HERD_ROWS:
            return herd[1]
        knob = name if name in tile else _KNOBS.get(name, name)
        if knob not in tile:
            raise InputError(f"{self.case.name}: no tile size {name!r}; it has {', '.join(tile) or 'none'}")
        return tile[knob]

    def shows_herd(self, names: Sequence[str]) -> bool:
        """Whether a tile cell with these sizes has to add the herd: it is another than the kernel's usual."""
        named = set(names) & {*_HERD_COLUMNS, *_HERD_ROWS}
        return not named and self.facts.herd is not None and tuple(self.row["herd"]) != self.facts.herd.target


def measured(kernel: str, row: Row) -> Measured:
    """The measured case of a registry row. Raises InputError for a shape that is none of the kernel."""
    return Measured(parse_case(f"{kernel}_{row['shape']}"), load_kernel(kernel), row)


def tier_of(facts: KernelFacts) -> str | None:
    """The precision tier of a GEMM, "high" or "low"; None for other kernels, which have no JSON."""
    return _TIERS.get(facts.name)


def page_of(facts: KernelFacts) -> str:
    """Name of a kernel's detail page. Raises InputError when kernel.yaml names none."""
    page = facts.registry.get("page")
    if not page:
        raise InputError(
            f"kernels/{facts.name}/kernel.yaml: field registry.page is missing; no page to append to"
        )
    return page


def index_path(root: Path) -> Path:
    """The index of a registry as mlir-air keeps it."""
    return root / INDEX


def is_upstream_root(root: Path) -> bool:
    """Whether the folder is kept as mlir-air keeps its registry: it has the index, or the detail pages."""
    return index_path(root).exists() or (root / DETAILS).is_dir()


def page_path(root: Path, page: str) -> Path:
    """The detail page of that name."""
    return root / DETAILS / f"{page}.md"


def json_path(root: Path, page: str) -> Path:
    """The JSON beside a GEMM's detail page."""
    return root / DETAILS / f"{page}.json"
