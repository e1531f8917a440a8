"""A command with a time limit leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts.targets.process import PROJECT_ROOT, run_limited


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def is_running(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def wait_until_gone(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_running(pid)


def test_an_ordinary_end() -> None:
    finished = run_limited(
        python("print('hello', flush=True); import sys; print('oops', file=sys.stderr); sys.exit(3)"), 20
    )
    assert (finished.exit_status, finished.state) == (3, "ok")
    assert finished.output.splitlines() == ["hello", "oops"]
    assert finished.started.endswith("Z")


def test_the_environment_is_added_and_the_folder_is_the_root() -> None:
    finished = run_limited(python("import os; print(os.environ['TOY'], os.getcwd())"), 20, {"TOY": "x"})
    assert finished.output.split() == ["x", str(PROJECT_ROOT)]


def test_a_signal_is_a_state_of_its_own() -> None:
    finished = run_limited(python("import os; os.kill(os.getpid(), 11)"), 20)
    assert (finished.exit_status, finished.state) == (-signal.SIGSEGV, "signal")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_time_limit_ends_the_whole_group_and_keeps_the_output() -> None:
    code = (
        "import subprocess, sys; child = subprocess.Popen(['sleep', '60']);"
        "print(child.pid, flush=True); child.wait()"
    )
    begin = time.monotonic()
    finished = run_limited(python(code), 0.5)
    assert finished.state == "timeout"
    assert time.monotonic() - begin < 10
    assert wait_until_gone(int(finished.output))


@pytest.mark.skipif(sys.platform != "linux", reason="needs PR_SET_PDEATHSIG")
def test_the_command_dies_with_the_step(tmp_path: Path) -> None:
    """As after `kill -9` of the step: the command must not keep the machine, or a device, busy."""
    note = tmp_path / "pid"
    inner = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    outer = (
        "import sys; from scripts.targets.process import run_limited;"
        f"run_limited([sys.executable, '-c', {inner!r}], 60)"
    )
    step = subprocess.Popen(python(outer), cwd=PROJECT_ROOT)
    while not (note.exists() and note.read_text()):
        time.sleep(0.02)
    pid = int(note.read_text())
    assert is_running(pid)
    os.kill(step.pid, signal.SIGKILL)
    step.wait()
    assert wait_until_gone(pid)


def test_a_missing_command_is_an_error() -> None:
    with pytest.raises(OSError, match="no-such-command"):
        run_limited(["no-such-command"], 5)
