"""The judgement: not one threshold over all layers, but the layer where the cosine falls off a cliff."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scripts.diagnosis.records import LayerRecord


@dataclass(frozen=True)
class Thresholds:
    """What is allowed; config/config.yaml says where the numbers come from."""

    min_cosine: float  # whole-tensor cosine that each layer must reach
    max_step: float  # by how much it may be below the layer before


@dataclass(frozen=True)
class Cliff:
    """The first layer of a phase that breaks."""

    phase: str
    layer: int
    cosine: float
    before: float  # the cosine of the layer before; 1 before the first

    def text(self) -> str:
        """One line for a person."""
        return f"{self.phase} layer {self.layer}: ffn_out cosine {self.cosine:.6f} after {self.before:.6f}"


def find_cliff(records: Sequence[LayerRecord], thresholds: Thresholds) -> Cliff | None:
    """The first break among the records of one phase, in order of layers; None when there is none."""
    before = 1.0
    for record in records:
        cosine = record.whole_cosine
        if cosine < thresholds.min_cosine or before - cosine > thresholds.max_step:
            return Cliff(record.phase, record.layer, cosine, before)
        before = cosine
    return None


def find_cliffs(records: Sequence[LayerRecord], thresholds: Thresholds) -> Mapping[str, Cliff | None]:
    """The break of each phase."""
    phases = dict.fromkeys(record.phase for record in records)
    return {
        phase: find_cliff([record for record in records if record.phase == phase], thresholds)
        for phase in phases
    }
