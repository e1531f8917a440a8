"""Many writers at once lose nothing; a killed one leaves the registry before or after."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from scripts.append_registry import record
from scripts.errors import InputError
from scripts.registry.lock import checkout_lock
from scripts.registry.transaction import PENDING
from scripts.registry.upstream.json_text import read_json
from scripts.registry.upstream.pipe_table import read_page
from tests.unit.registry.upstream.cases import device_verdict

PROCESSES, ROWS_EACH = 8, 4
KILLS = 50
GEMM = "gemm_2048x2048x4096"  # three files
WRITER = """
import sys
from pathlib import Path
from scripts.append_registry import record
from scripts.precision.verdict import read_verdict

for path in sys.argv[2:]:
    record(read_verdict(Path(path)), Path(sys.argv[1]), None)
"""


def _writer(root, folder, verdicts):
    """A process that appends the verdicts, one after the other."""
    paths = []
    for verdict in verdicts:
        path = folder / f"{len(list(folder.iterdir()))}.verdict"
        path.write_text(verdict.as_json(), encoding="utf-8")
        paths.append(str(path))
    command = [sys.executable, "-c", WRITER, str(root), *paths]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _batch(process):
    """Rows of the process's own in GEMM and RMSNorm tables, and a shape that all processes use."""
    model = (f"model{process}-{process + 1}b prefill Q proj",)
    sizes = [640 * (number + 1) for number in range(ROWS_EACH // 2)]
    cases = [f"gemm_{64 * (process + 1)}x640x{size}" for size in sizes]
    cases += [f"rmsnorm_{64 * (process + 1)}x{size}" for size in sizes]
    own = [device_verdict(case, used_by=model) for case in cases]
    return [*own, device_verdict("gemv_2048x2048", mean=1.6e-9, used_by=model)]


def _lines(root):
    """The lines of every page that are rows of a table."""
    texts = [path.read_text(encoding="utf-8") for path in root.rglob("*.md")]
    return [line for text in texts for line in text.splitlines() if line.startswith("| ")]


def test_eight_processes_at_once_lose_nothing(registry, tmp_path):
    before = _lines(registry)
    (tmp_path / "verdicts").mkdir()
    writers = [_writer(registry, tmp_path / "verdicts", _batch(process)) for process in range(PROCESSES)]
    assert [(writer.wait(), writer.stderr.read()) for writer in writers] == [(0, "")] * PROCESSES
    after = _lines(registry)
    # Each new shape has a row in the index and one on its page.
    assert len(after) == len(set(after)) + len(before) - len(set(before))
    assert len(after) == len(before) + PROCESSES * ROWS_EACH * 2
    shared = [line for line in after if line.startswith("| 2048×2048 | 8/8/8 |")]
    assert len(shared) == 2
    for line in shared:
        assert all(f"Model{process}-{process + 1}B" in line for process in range(PROCESSES))


def _forked(act):
    """A copy of this process that does `act` and ends; its number."""
    process = os.fork()
    if process == 0:
        try:
            act()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return process


def _status(process):
    """Exit status of a copy, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _after(root, before, contents):
    """The files with the case in them."""
    record(device_verdict(GEMM), root, None)
    after = contents(root)
    assert after != before
    return after


def _restore(root, files):
    for name, content in files.items():
        (root / name).write_bytes(content)


def _left_by_a_kill(root, contents):
    """The files as the next run, and every reader that takes the lock, finds them."""
    with checkout_lock(root):
        return contents(root)


def test_killed_fifty_times_the_registry_is_before_or_after(registry, contents):
    chance, verdict = random.Random(5), device_verdict(GEMM)
    before = contents(registry)
    after = _after(registry, before, contents)
    _restore(registry, before)
    started = time.monotonic()
    assert _status(_forked(lambda: record(verdict, registry, None))) == 0
    whole = time.monotonic() - started
    ended = []
    for _ in range(KILLS):
        _restore(registry, before)
        writer = _forked(lambda: record(verdict, registry, None))
        time.sleep(chance.random() * whole)
        os.kill(writer, signal.SIGKILL)
        ended.append(_status(writer))
        assert _left_by_a_kill(registry, contents) in (before, after)
        record(verdict, registry, None)
        assert contents(registry) == after
    assert set(ended) <= {0, -signal.SIGKILL} and ended.count(-signal.SIGKILL) > KILLS // 4


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", ["replace", "mkdir", "fsync", "unlink", "rmdir"])
def test_killed_at_each_step_the_registry_is_before_or_after(stand_in, contents, name, when):
    verdict, before = device_verdict(GEMM), contents(stand_in)
    after = _after(stand_in, before, contents)
    for last in range(1, 30):
        _restore(stand_in, before)
        status = _status(_forked(lambda last=last: _dying(name, when, last, verdict, stand_in)))
        if status == 0:
            break
        assert status == -signal.SIGKILL
        assert _left_by_a_kill(stand_in, contents) in (before, after)
        record(verdict, stand_in, None)
        assert contents(stand_in) == after
        assert not (stand_in / PENDING).exists()
    assert 1 < last < 29, f"the writer calls os.{name} {last - 1} times"


def _dying(name, when, last, verdict, root):
    """Append the verdict, and die just before or after the call number `last` of that function of `os`."""
    real, calls = getattr(os, name), []

    def call(*arguments, **options):
        calls.append(name)
        if len(calls) == last and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        done = real(*arguments, **options)
        if len(calls) == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    setattr(os, name, call)
    record(verdict, root, None)


def test_readers_without_the_lock_find_every_file_whole(stand_in):
    verdicts = [device_verdict(f"gemm_{64 * number}x640x640") for number in range(1, 13)]
    writer = _forked(lambda: [record(verdict, stand_in, None) for verdict in verdicts])
    ended = 0
    while not ended:
        read_page(stand_in / "supported_kernels.md")
        read_json(stand_in / "details" / "GEMM_bf16_in_bf16_out.json")
        ended, status = os.waitpid(writer, os.WNOHANG)
    assert status == 0


def test_no_file_of_ours_stays_in_the_folder(registry):
    record(device_verdict(GEMM), registry, None)
    assert {path.name for path in registry.iterdir()} == {"supported_kernels.md", "details"}
    assert all(path.suffix in (".md", ".json") for path in (registry / "details").iterdir())


def test_a_lock_that_is_not_freed_is_named(stand_in):
    held = pytest.raises(InputError, match="kernel_registry: held by another process")
    with checkout_lock(stand_in), held, checkout_lock(stand_in, wait_seconds=0.05):
        pass
