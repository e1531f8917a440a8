"""Sliding windows: which layers use one, by the rules of the family."""

from scripts.models.families import Family
from scripts.models.fields import Fields


def window_of(fields: Fields, family: Family, layers: int) -> tuple[int | None, tuple[int, ...]]:
    """The window's length and the layers that use it; None and () for full attention everywhere.

    Raises InputError when a field that says so has the wrong type or length.
    """
    if family.window is None or not _switched_on(fields, family):
        return None, ()
    window = fields.optional_size("sliding_window")
    sliding = () if window is None else _sliding_layers(fields, family, layers)
    return (window, sliding) if sliding else (None, ())


def _switched_on(fields: Fields, family: Family) -> bool:
    """Families whose window starts in an upper layer have a switch for it, which is off by default."""
    return family.window != "upper layers" or fields.flag("use_sliding_window")


def _sliding_layers(fields: Fields, family: Family, layers: int) -> tuple[int, ...]:
    kinds = fields.values.get("layer_types")
    if family.window == "every layer":
        return tuple(range(layers))
    if kinds is not None:
        if not isinstance(kinds, list) or len(kinds) != layers:
            raise fields.error("layer_types", f"found {str(kinds)[:40]}", f"a list of {layers} names")
        return tuple(layer for layer, kind in enumerate(kinds) if kind == "sliding_attention")
    if family.window == "upper layers":
        return tuple(range(fields.size("max_window_layers"), layers))
    name = family.full_every_field
    every = (fields.optional_size(name) if name else None) or family.full_every
    return tuple(layer for layer in range(layers) if (layer + 1) % every)


def layers_text(sliding: tuple[int, ...], layers: int) -> str:
    """The layers for a person, e.g. `layers 0-4, 6-10`, or `every layer`."""
    if len(sliding) in (0, layers):
        return "every layer"
    runs: list[list[int]] = []
    for layer in sliding:
        if runs and layer == runs[-1][-1] + 1:
            runs[-1].append(layer)
        else:
            runs.append([layer])
    return "layers " + ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
