"""The search for a legal tile: values a knob may take, and the nearest assignment that breaks no wall."""

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby, product
from math import inf, isqrt, log, prod

from scripts.cases.kernel_facts import Constraint, KernelFacts, Knob

Assignment = dict[str, int]

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<=": lambda left, right: left <= right,
    ">=": lambda left, right: left >= right,
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
}


def holds(constraint: Constraint, variables: Mapping[str, float]) -> bool:
    """Whether the constraint holds for the values of dims, knobs and method flags."""
    return _COMPARE[constraint.relation](constraint.left(variables), constraint.right(variables))


def walls(facts: KernelFacts) -> tuple[Constraint, ...]:
    """The kernel's hard constraints."""
    return tuple(constraint for constraint in facts.constraints if constraint.severity == "wall")


def method_flags(facts: KernelFacts, method: str | None) -> Assignment:
    """The flags a constraint may use: 1 for the chosen method's, else 0."""
    return {flag: int(name == method) for flag, name in facts.method_flags.items()}


def herd_knobs(facts: KernelFacts) -> frozenset[str]:
    """Knobs that set the herd's extent."""
    return frozenset().union(*(extent.names for extent in facts.herd.extent))


def herd_extent(facts: KernelFacts, knobs: Mapping[str, int]) -> tuple[int, int]:
    """Columns and rows of tiles that `knobs` use."""
    columns, rows = (int(extent(knobs)) for extent in facts.herd.extent)
    return columns, rows


def knob_values(knob: Knob, dims: Mapping[str, int]) -> tuple[int, ...]:
    """Values a search tries for `knob`, ascending; its default where the dims allow none."""
    if knob.candidates is not None:
        return tuple(sorted(knob.candidates))
    if knob.range is not None:
        return tuple(range(knob.range[0], knob.range[1] + 1))
    divisors = [value for value in _divisors(dims[knob.divides]) if value % knob.multiple_of == 0]
    return tuple(divisors) or (knob.default,)


def _divisors(number: int) -> list[int]:
    low = [value for value in range(1, isqrt(number) + 1) if number % value == 0]
    return sorted({*low, *(number // value for value in low)})


def nearest_legal(
    facts: KernelFacts,
    fixed: Mapping[str, int],
    wanted: Mapping[str, int],
    keep_herd: bool = False,
    constraints: Iterable[Constraint] | None = None,
) -> Assignment | None:
    """The legal knobs nearest to `wanted`, by the sum of squared log ratios; None when there are none.

    `fixed` holds the dims and method flags. Only assignments that fill the most tiles of the kernel's
    target are considered, because an idle tile costs more than a smaller one; with `keep_herd`, first
    those that keep the herd of `wanted`. `constraints` defaults to the kernel's walls.
    """
    checks = tuple(walls(facts) if constraints is None else constraints)
    domains = {knob.name: knob_values(knob, fixed) for knob in facts.knobs}
    kept = [[{name: wanted[name] for name in herd_knobs(facts)}]] if keep_herd else []
    for herds in (*kept, *_herds_by_tiles(facts, domains)):
        found = _nearest_of(domains, fixed, wanted, checks, herds)
        if found is not None:
            return found
    return None


def _herds_by_tiles(facts: KernelFacts, domains: Mapping[str, tuple[int, ...]]) -> list[list[Assignment]]:
    """Herd knob assignments, grouped by the tiles of the target they fill, most first."""
    names = [name for name in domains if name in herd_knobs(facts)]
    herds = [dict(zip(names, values, strict=True)) for values in product(*(domains[name] for name in names))]

    def idle(herd: Assignment) -> int:
        return -min(prod(herd_extent(facts, herd)), prod(facts.herd.target))

    return [list(group) for _, group in groupby(sorted(herds, key=idle), key=idle)]


def _nearest_of(
    domains: Mapping[str, tuple[int, ...]],
    fixed: Mapping[str, int],
    wanted: Mapping[str, int],
    checks: tuple[Constraint, ...],
    starts: Iterable[Assignment],
) -> Assignment | None:
    """The nearest legal completion of any of `starts` (knobs already set)."""
    best, best_cost = None, inf
    for start in starts:
        cost = sum(_distance(value, wanted[name]) for name, value in start.items())
        free = [name for name in domains if name not in start]
        search = _Search(domains, wanted, checks, free, {*fixed, *start})
        found, found_cost = search.run({**fixed, **start}, cost, best_cost)
        if found is not None:
            best, best_cost = {name: found[name] for name in domains}, found_cost
    return best


def _distance(value: int, wanted: int) -> float:
    return log(value / wanted) ** 2


class _Search:
    """Depth-first search with a bound: each constraint is checked as soon as its last knob is set."""

    def __init__(
        self,
        domains: Mapping[str, tuple[int, ...]],
        wanted: Mapping[str, int],
        checks: tuple[Constraint, ...],
        free: list[str],
        known: set[str],
    ) -> None:
        self.free = free
        self.options = [_by_distance(domains[name], wanted[name]) for name in free]
        self.checks: list[list[Constraint]] = [[] for _ in range(len(free) + 1)]
        for constraint in checks:
            unset = (constraint.left.names | constraint.right.names) - known
            self.checks[max((free.index(name) + 1 for name in unset), default=0)].append(constraint)
        self.best: Assignment | None = None
        self.best_cost = inf

    def run(self, variables: Assignment, cost: float, bound: float) -> tuple[Assignment | None, float]:
        """The nearest legal completion cheaper than `bound` and its cost, or None and infinity."""
        self.best_cost = bound
        self._descend(0, dict(variables), cost)
        return (self.best, self.best_cost) if self.best is not None else (None, inf)

    def _descend(self, depth: int, variables: Assignment, cost: float) -> None:
        if cost >= self.best_cost or not all(holds(check, variables) for check in self.checks[depth]):
            return
        if depth == len(self.free):
            self.best, self.best_cost = dict(variables), cost
            return
        for step, value in self.options[depth]:
            if cost + step >= self.best_cost:
                return  # the options are in order of distance: no later one is cheaper
            variables[self.free[depth]] = value
            self._descend(depth + 1, variables, cost + step)


def _by_distance(values: tuple[int, ...], wanted: int) -> list[tuple[float, int]]:
    """(distance, value), from the nearest on."""
    return sorted((_distance(value, wanted), value) for value in values)


def unmet_constraints(facts: KernelFacts, fixed: Mapping[str, int]) -> list[Constraint]:
    """Why no tile is legal: the walls no value can meet, else those without which a tile would be legal."""
    domains = {knob.name: knob_values(knob, fixed) for knob in facts.knobs}
    alone = [wall for wall in walls(facts) if not _satisfiable(wall, domains, fixed)]
    return alone or [wall for wall in walls(facts) if _legal_without(facts, fixed, wall)]


def _satisfiable(wall: Constraint, domains: Mapping[str, tuple[int, ...]], fixed: Mapping[str, int]) -> bool:
    """Whether some assignment of the constraint's own knobs meets it."""
    names = [name for name in domains if name in wall.left.names | wall.right.names]
    assignments = product(*(domains[name] for name in names))
    return any(holds(wall, {**fixed, **dict(zip(names, values, strict=True))}) for values in assignments)


def _legal_without(facts: KernelFacts, fixed: Mapping[str, int], dropped: Constraint) -> bool:
    others = [wall for wall in walls(facts) if wall is not dropped]
    defaults = {knob.name: knob.default for knob in facts.knobs}
    return nearest_legal(facts, fixed, defaults, constraints=others) is not None
