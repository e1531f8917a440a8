"""The device's lock: one run at a time, for device time only, and nobody gets in while something is left."""

import fcntl
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from scripts.targets.npu2.device_lock import is_free

GEMM = "gemm_256x256x256"


def test_a_device_that_others_hold_is_no_failure(ready) -> None:
    ready.compile(GEMM)
    with ready.lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        ready.run(GEMM, "--lock-wait", "0.5")
    verdict = ready.verdict(GEMM)
    assert verdict["verdict"] == verdict["status"] == "NOT_RUN" and verdict["evidence"]["attempts"] == 0
    assert f"held by pid {os.getpid()} (" in verdict["reason"] and "0.5 s" in verdict["reason"]
    assert ready.device_uses() == []


@pytest.mark.parametrize(("number", "free_at_once"), [(signal.SIGKILL, False), (signal.SIGTERM, True)])
def test_the_lock_is_held_until_nothing_is_left_on_the_device(ready, number: int, free_at_once: bool) -> None:
    """A step that is killed cannot end its children; they have the lock until they are done."""
    ready.compile(GEMM)
    step = ready.start_run(GEMM, STAND_IN_DEVICE_SECONDS="2")
    while "start gemm" not in ready.device_log():
        assert step.poll() is None
        time.sleep(0.05)
    step.send_signal(number)
    step.wait()
    assert is_free(ready.lock) == free_at_once
    while not is_free(ready.lock):
        time.sleep(0.1)
    assert ("end gemm" in ready.device_log()) != free_at_once


@pytest.mark.parametrize("cases", [4, pytest.param(16, marks=pytest.mark.slow)])
def test_two_runs_at_once_share_the_device(stand_in, project_copy, tmp_path, cases: int) -> None:
    """One device run at a time, in two Snakemake processes, and the lock is held for device time only."""
    seconds, first, second = 8, stand_in, stand_in.beside(project_copy(tmp_path / "other"))
    names = [f"eltwise_add_{65536 * number}" for number in range(1, cases + 1)]
    shares = ((first, names[: cases // 2]), (second, names[cases // 2 :]))
    environment = {"STAND_IN_COMPILE_SECONDS": str(seconds), "STAND_IN_DEVICE_SECONDS": "0.05"}
    with ThreadPoolExecutor() as both:
        runs = [
            both.submit(
                each.snakemake, *(f"results/{case}.verdict" for case in share), "--cores", "9", **environment
            )
            for each, share in shares
        ]
    assert [run.result().returncode for run in runs] == [0, 0]
    uses = first.device_uses()
    assert len(uses) == 2 * cases + 2  # each case twice, and a canary for each process
    assert all(end <= start for (_, end, _), (start, _, _) in pairwise(uses))
    evidence = [each.verdict(case)["evidence"]["hardware"] for each, share in shares for case in share]
    held = sum(each["lock_held_seconds"] for each in evidence)
    # `flock make run` would hold it while it compiles, too.
    assert held < cases * seconds / 10, held
