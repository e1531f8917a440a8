"""A model's plan, verdicts and receipts on file, as the earlier steps leave them."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from scripts.append_registry import record
from scripts.models.plan import PlannedCase, plan_text
from scripts.precision.verdict import Verdict
from tests.unit.judged import passing_verdict

ROOT = Path(__file__).resolve().parents[3]
MODEL = "toy-1b"
GEMM, ROPE, FUSED = "gemm_512x512x512", "rope_512x64", "gemv_add_2048x2048"


def planned(case: str, source: str = "harness") -> PlannedCase:
    kernel, shape = case.rsplit("_", 1)
    return PlannedCase(kernel, shape, case, "prefill", ("Q proj",), source)


class Run:
    """Files of one run, and the gates' command line on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.gates = folder / f"{MODEL}.gates.json"
        self.plan = folder / "plan.tsv"
        self.verdicts: list[Path] = []
        self.receipts: list[Path] = []
        self.write_plan([planned(GEMM), planned(ROPE)])

    def write_plan(self, rows: Sequence[PlannedCase]) -> None:
        self.plan.write_text(plan_text(rows))

    def add(self, case: str, verdict: Verdict | None = None) -> dict[str, Any]:
        """A case's verdict (a pass by default) and the registry step's receipt for it, which is returned."""
        verdict = verdict or passing_verdict(case, used_by=(f"{MODEL} prefill Q proj",))
        registry, seed = self.folder / "registry", ROOT / "docs" / "kernel_registry"
        receipt = record(verdict, registry, seed)
        receipt["registry"] = str(registry / f"{verdict.kernel}.json")
        self.verdicts.append(self.folder / f"{case}.verdict")
        self.verdicts[-1].write_text(verdict.as_json())
        self.receipts.append(self.folder / f"{case}.row")
        self.receipts[-1].write_text(json.dumps(receipt))
        return receipt

    def apply(self) -> subprocess.CompletedProcess[str]:
        """Run the step on everything added."""
        files = ["--verdicts", *map(str, self.verdicts), "--receipts", *map(str, self.receipts)]
        return self.command(MODEL, "--plan", str(self.plan), *files, "--output", str(self.gates))

    def enforce(self, scope: str = "all") -> subprocess.CompletedProcess[str]:
        """Enforce what the gates said."""
        return self.command("--enforce", str(self.gates), "--scope", scope)

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "scripts.apply_gates", *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    def outcome(self) -> dict[str, Any]:
        """The gates' record."""
        return json.loads(self.gates.read_text())


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A run whose plan holds two harness cases, and nothing else yet."""
    return Run(tmp_path)
