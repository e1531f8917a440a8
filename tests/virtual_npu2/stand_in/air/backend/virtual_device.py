"""The virtual device: one program at a time, on the buffers it is given.

VIRTUAL_NPU2_DEVICE names the file that plays its node; without it there is no device. Each run leaves a line
`<case> <begin> <end>` in it, seconds since the epoch, so that a test can see who ran when.
"""

import ctypes
import fcntl
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

NODE_VARIABLE = "VIRTUAL_NPU2_DEVICE"


class NoDevice(Exception):
    """There is no device, or another program is on it."""


def device_node() -> Path:
    """The file that plays the device node. Raises NoDevice when there is none."""
    node = Path(os.environ.get(NODE_VARIABLE, ""))
    if not node.is_file():
        raise NoDevice(f"no device: {NODE_VARIABLE} is {str(node)!r}")
    return node


def run(binary: Path, layout: dict[str, Any], buffers: Sequence[np.ndarray]) -> tuple[np.ndarray, float]:
    """The output that `binary` computes from `buffers`, the last of them being it, and the seconds taken.

    Raises NoDevice when another process is on the device at this moment.
    """
    inputs = [_plain_layout(buffers[index], index, layout["slices"]) for index in layout["inputs"]]
    output = np.ascontiguousarray(buffers[-1]).copy()
    entry = ctypes.CDLL(str(binary.resolve())).air_launch
    entry.argtypes = (ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_uint)
    pointers = (ctypes.c_void_p * len(inputs))(*(array.ctypes.data for array in inputs))
    with device_node().open("a", encoding="utf-8") as node:
        try:
            fcntl.flock(node, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NoDevice("the device is busy: two programs at a time") from None
        started, begin = time.time(), time.perf_counter()
        status = entry(pointers, output.ctypes.data, os.cpu_count() or 1)
        seconds = time.perf_counter() - begin
        node.write(f"{layout['case']} {started:.6f} {time.time():.6f}\n")
    if status != 0:
        raise RuntimeError(f"air_launch returned {status}")
    return _sliced_layout(output, layout["slices"]), seconds


def _plain_layout(array: np.ndarray, index: int, slices: int) -> np.ndarray:
    """Attention's values, buffer 2: [heads * slices, rows, columns] as [heads, rows, slices * columns]."""
    if slices == 1 or index != 2:
        return np.ascontiguousarray(array)
    heads, rows, columns = array.shape[0] // slices, *array.shape[1:]
    parts = array.reshape(heads, slices, rows, columns).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(parts)


def _sliced_layout(output: np.ndarray, slices: int) -> np.ndarray:
    """The other way round, for attention's output as the ELF wrote it."""
    if slices == 1:
        return output
    heads, rows, columns = output.shape[0] // slices, *output.shape[1:]
    parts = output.reshape(heads, rows, slices, columns).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(parts).reshape(output.shape)
