"""Many writers at once, and writers that are killed, never lose a row or leave a file half-written."""

import json
import random
import signal
import subprocess
import sys
import time

import pytest

from scripts.errors import InputError
from scripts.registry.lock import registry_lock
from scripts.registry.store import append, load_rows

PROCESSES = 8
ROWS_EACH = 6

WRITER = """
import json, sys
from pathlib import Path
from scripts.registry.store import append

root, rows = Path(sys.argv[1]), json.loads(sys.stdin.read())
for row in rows:
    append(root, "gemm", row)
"""


def _writer(root, rows):
    command = [sys.executable, "-c", WRITER, str(root)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdin.write(json.dumps(rows))
    process.stdin.close()
    return process


def test_eight_processes_at_once_lose_nothing(working_copy, make_row):
    # Each process has rows of its own, and all share one row, which has to name every model in the end.
    batches = [
        [make_row(shape=f"{process + 1}x{number + 1}x8") for number in range(ROWS_EACH)]
        + [make_row(used_by=[f"model-{process} prefill Q proj"])]
        for process in range(PROCESSES)
    ]
    writers = [_writer(working_copy, batch) for batch in batches]
    while any(writer.poll() is None for writer in writers):
        load_rows(working_copy, "gemm")  # a reader without the lock never meets half a file
    assert [(writer.wait(), writer.stderr.read()) for writer in writers] == [(0, "")] * PROCESSES
    rows = {row["shape"]: row for row in load_rows(working_copy, "gemm")}
    assert len(rows) == PROCESSES * ROWS_EACH + 1
    assert {row["shape"] for batch in batches for row in batch} == set(rows)
    assert sorted(rows["512x512x512"]["used_by"]) == [
        f"model-{process} prefill Q proj" for process in range(PROCESSES)
    ]


def test_killed_at_random_points_the_file_is_before_or_after(working_copy, make_row):
    chance = random.Random(20)
    rows = [make_row(shape=f"{number + 1}x8x8") for number in range(400)]
    reached, kills = 0, 0
    for _ in range(20):
        writer = _writer(working_copy, rows)
        deadline = time.monotonic() + 10
        # Wait for it to be writing, then kill it anywhere within the next writes.
        while not (working_copy / ".lock").exists() and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(0.12 + chance.random() * 0.1)
        if writer.poll() is None:
            writer.send_signal(signal.SIGKILL)
            kills += 1
        writer.wait()
        held = load_rows(working_copy, "gemm")
        assert held == rows[: len(held)]
        assert len(held) >= reached
        reached = len(held)
    assert kills and reached
    append(working_copy, "gemm", rows[-1])
    assert not list(working_copy.glob(".gemm.json.*"))


@pytest.mark.parametrize(
    "replace, left", [("lambda *paths: die()", 1), ("lambda *paths: (move(*paths), die())", 2)]
)
def test_killed_before_or_after_the_replacing_of_the_file(working_copy, make_row, replace, left):
    first, second = make_row(shape="8x8x8"), make_row(shape="16x8x8")
    append(working_copy, "gemm", first)
    killed = f"""
import os, signal
move, die = os.replace, lambda: os.kill(os.getpid(), signal.SIGKILL)
os.replace = {replace}
{WRITER}"""
    command = [sys.executable, "-c", killed, str(working_copy)]
    done = subprocess.run(command, input=json.dumps([second]), text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert load_rows(working_copy, "gemm") == [first, second][:left]
    append(working_copy, "gemm", second)
    assert load_rows(working_copy, "gemm") == [first, second]


def test_a_lock_that_is_not_freed_is_named(working_copy):
    held = pytest.raises(InputError, match=r"\.lock: held by another process")
    with registry_lock(working_copy), held, registry_lock(working_copy, wait_seconds=0.05):
        pass


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"), registry_lock(tmp_path / "file" / "registry"):
        pass
