"""The doctor: one screen, and exit status 0 only if the asked target can run."""

import sys
from pathlib import Path

import pytest

from scripts import doctor
from scripts.targets.npu2 import device, provision

STAND_IN = Path(__file__).resolve().parents[3] / "fixtures" / "npu2_stand_in"


@pytest.fixture
def sound_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine that seems to have everything: the stand-in's tools, and a node that is an empty file."""
    (tmp_path / "accel0").touch()
    monkeypatch.setenv("PATH", f"{STAND_IN / 'bin'}:{Path(sys.executable).parent}:/usr/bin:/bin")
    monkeypatch.setenv("PEANO_INSTALL_DIR", str(STAND_IN / "peano"))
    monkeypatch.setenv("MLIR_AIE_INSTALL_DIR", str(tmp_path))
    monkeypatch.setenv("MLIR_AIR_PYTHON", sys.executable)
    monkeypatch.setenv("MLIR_AIR_ROOT", str(STAND_IN))
    monkeypatch.setattr(device, "NODE_FOLDER", tmp_path)
    monkeypatch.setattr(provision, "NODE_FOLDER", tmp_path)
    monkeypatch.setattr(provision, "python_facts", lambda python: {"air": True, "pyxrt": True})
    device.find_device.cache_clear()
    yield tmp_path
    device.find_device.cache_clear()


def examined(lock: Path) -> doctor.Examination:
    return doctor.examinations("npu2", None, lock)[0]


def test_a_machine_with_everything_can_run(sound_machine: Path) -> None:
    found = examined(sound_machine / "lock")
    assert found.can_run, found.text()
    text = found.text()
    assert text.startswith("npu2: can run") and "STAND-IN (tests)" in text and "lock: free" in text
    assert "stand-in clang 1.0" in text
    assert len(text.splitlines()) <= 24  # one screen
    # The stand-in has four harnesses, which is no reason not to run what they can.
    assert "tried: programming_examples/gelu" in text and "note    harnesses" in text


@pytest.mark.parametrize(
    ("spoilt", "missing"),
    [
        ({"PEANO_INSTALL_DIR": ""}, "Peano"),
        ({"PEANO_INSTALL_DIR": "/nowhere"}, "Peano"),
        ({"MLIR_AIR_ROOT": ""}, "mlir-air"),
        ({"MLIR_AIR_ROOT": "/nowhere"}, "mlir-air"),
        ({"MLIR_AIE_INSTALL_DIR": "/nowhere"}, "mlir-aie"),
    ],
)
def test_what_is_missing_is_named(sound_machine, monkeypatch, spoilt: dict[str, str], missing: str) -> None:
    for name, value in spoilt.items():
        monkeypatch.setenv(name, value)
    found = examined(sound_machine / "lock")
    assert not found.can_run
    assert found.text().startswith(f"npu2: cannot run: {missing} missing")


def test_without_a_node_there_is_no_device(sound_machine: Path) -> None:
    (sound_machine / "accel0").unlink()
    found = examined(sound_machine / "lock")
    assert [each.what for each in found.findings if each.there is False] == ["device node"]


def test_the_command_line_answers_by_its_exit_status(project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLIR_AIR_ROOT", raising=False)
    sound = project.step("doctor", "--target", "host")
    assert sound.returncode == 0 and sound.stdout.startswith("host: can run")
    broken = project.step("doctor", "--target", "host", environment={"CXX": "no-such-compiler"})
    assert broken.returncode == 1 and "host: cannot run: compiler missing" in broken.stdout
    npu2 = project.step("doctor", "--target", "npu2")
    assert npu2.returncode == 1 and "mlir_air: not set" in npu2.stdout
    unknown = project.step("doctor", "--target", "gpu")
    assert unknown.returncode == 2 and "known targets: host, npu2" in unknown.stderr
