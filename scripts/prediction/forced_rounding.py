"""The host target with every narrowing in one mode, to see what another rounding would buy."""

from pathlib import Path

from scripts.cases.kernel_facts import KernelFacts
from scripts.cases.tile_choice import CaseSpec
from scripts.targets.host import HostTarget

ROUNDING_MODES = ("conv_even", "floor")
# Read by kernels/aie_host/include/aie_api/rounding.hpp alone.
_MACRO = "AIE_HOST_FORCE_ROUNDING"


class ForcedRounding(HostTarget):
    """Builds as the host target does, but whatever a kernel sets, FP32 narrows to bf16 in `mode`."""

    def __init__(self, mode: str) -> None:
        self.mode = mode

    def build_command(self, facts: KernelFacts, spec: CaseSpec, elf: Path) -> list[str]:
        """The host target's argument list, with the macro that overrules the control register."""
        return [*super().build_command(facts, spec, elf), f"-D{_MACRO}={self.mode}"]
