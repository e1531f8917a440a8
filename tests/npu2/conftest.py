"""Fixtures of the tests that run a real mlir-air checkout on the virtual NPU2."""

import importlib.util
from pathlib import Path

import pytest

_FILE = Path(__file__).resolve().parents[1] / "virtual_npu2" / "environment.py"
_SPEC = importlib.util.spec_from_file_location("virtual_npu2_environment", _FILE)
_ENVIRONMENT = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_ENVIRONMENT)


@pytest.fixture
def mlir_air() -> Path:
    """The mlir-air checkout."""
    root = _ENVIRONMENT.checkout()
    if root is None:
        pytest.skip("MLIR_AIR_ROOT does not name an mlir-air checkout")
    return root


@pytest.fixture
def virtual_npu2(mlir_air: Path, tmp_path: Path) -> dict[str, str]:
    """Environment variables with which that checkout's harnesses run on the virtual NPU2."""
    return _ENVIRONMENT.virtual_environment(tmp_path / "virtual_npu2", mlir_air)
