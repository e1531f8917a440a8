"""The device as xrt-smi describes it, its lock, and what a run of the workflow remembers of it."""

import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts.errors import InputError
from scripts.targets.npu2.device import Device, parse_report
from scripts.targets.npu2.device_lock import LockBusy, checked_lock, device_lock, holders_of, is_free
from scripts.targets.npu2.device_state import DeviceState, read_state, write_state

REPORT = """
System Configuration
  OS Name              : Linux
  Version              : #1 SMP

XRT
  Version              : 2.20.0
  Branch               : HEAD
  amdxdna Version      : 2.20.0_20250715, 1234567
  NPU Firmware Version : 1.0.0.166

Device(s) Present
|BDF             |Name       |
|----------------|-----------|
|[0000:c6:00.1]  |NPU Strix  |
"""


def test_a_report_of_xrt() -> None:
    assert parse_report(REPORT) == Device("NPU Strix", "2.20.0", "1.0.0.166", "2.20.0_20250715")
    older = REPORT.replace("|NPU Strix", "||NPU Strix").replace("  NPU Firmware Version : 1.0.0.166\n", "")
    assert parse_report(older) == Device("NPU Strix", "2.20.0", "unknown", "2.20.0_20250715")
    assert parse_report("") == Device(None, "unknown", "unknown", "unknown")


def test_the_inner_lock_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness takes it itself, so that it would wait for us, and we for it."""
    for path in ("/tmp/npu.lock", "/tmp/../tmp/npu.lock"):
        with pytest.raises(InputError, match="it would wait for itself"):
            checked_lock(Path(path))
    with pytest.raises(InputError, match="folder that exists"):
        checked_lock(tmp_path / "nowhere" / "lock")
    assert checked_lock(tmp_path / "npu.lock") == tmp_path / "npu.lock"


def test_flock_and_we_exclude_each_other(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with device_lock(lock, 1):
        assert not is_free(lock)
        busy = subprocess.run(["flock", "-n", "-x", str(lock), "true"], check=False)
        assert busy.returncode == 1
    assert is_free(lock)
    assert subprocess.run(["flock", "-n", "-x", str(lock), "true"], check=False).returncode == 0


def test_the_holder_is_named(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        whose = rf"within 0.1 s; held by pid {os.getpid()} \("
        with pytest.raises(LockBusy, match=whose) as refused, device_lock(lock, 0.1):
            pass
    assert str(lock) in str(refused.value)
    assert holders_of(lock) == [] and holders_of(tmp_path / "none") == []


def test_a_child_that_outlives_who_took_the_lock_is_named(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    script = "import fcntl,os,subprocess,sys; fd=os.open(sys.argv[1],os.O_RDWR|os.O_CREAT); "
    script += "fcntl.flock(fd,fcntl.LOCK_EX); "
    script += "print(subprocess.Popen(['sleep','5'],pass_fds=[fd],stdout=2).pid)"
    taken = subprocess.run(
        [sys.executable, "-c", script, str(lock)], stdout=subprocess.PIPE, text=True, check=True
    )
    child = int(taken.stdout)
    try:
        assert not is_free(lock)
        assert holders_of(lock)[0].startswith(f"pid {child} (sleep 5)")
    finally:
        os.kill(child, 9)


def test_the_lock_is_waited_for_in_the_queue(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with subprocess.Popen(["flock", "-o", "-x", str(lock), "sleep", "0.5"]):
        while is_free(lock):
            time.sleep(0.01)
        with device_lock(lock, 10) as held:
            assert 0 < held.waited < 5


def test_a_session_remembers_and_another_one_asks_again(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "device.json"
    monkeypatch.setenv("KERNEL_VALIDATION_SESSION", "one")
    assert read_state(path) == DeviceState("one", False, None, None)
    write_state(path, DeviceState("one", True, None, "gelu_1024"))
    assert read_state(path).healthy
    monkeypatch.setenv("KERNEL_VALIDATION_SESSION", "two")
    assert read_state(path) == DeviceState("two", False, None, "gelu_1024")
    path.write_text("{not json")
    assert read_state(path) == DeviceState("two", False, None, None)
