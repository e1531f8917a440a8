"""The table of known failures: every entry fires on its own text, and on nothing else's."""

import pytest

from scripts.cases.kernel_facts import load_kernel
from scripts.precision.known_failures import explain, known_failures, recognise
from scripts.precision.verdict import Status

TEXTS = {
    "stride": "error: 'aie.dma_bd' op Stride 2490368 exceeds the [1:1048576] range",
    "buffer descriptors": "error: op Allocator exhausted available buffer descriptor IDs",
    "repeat count": "'aiex.npu.push_queue' op Repeat count exceeds [0:255]",
    "L2 capacity": "ValueError: L2 capacity exceeded: per-col=1B x 8 cols",
    "L1 capacity": "error: allocated buffers exceeded available memory",
    "shim DMA": "error: 'air.channel.put' op failed to map to shim dma channels: out of channels",
    "device time-out": "NPU kernel run did not complete: ert_cmd_state.ERT_CMD_STATE_TIMEOUT",
    "command state": "RuntimeError: qds_device::wait() unexpected command state",
    "device lost": "what():  DRM_IOCTL_AMDXDNA_EXEC_CMD IOCTL failed (err=-5): Input/output error",
    "command not completed": "NPU kernel run did not complete: ert_cmd_state.ERT_CMD_STATE_ABORT",
    "artifact not loaded": "AirBackendError: Failed to load ELF kernel for XRT from 'air.elf'",
    "XRT missing": "AirBackendError: XRT runtime (pyxrt) is not available. The compile() method can",
    "no device": "RuntimeError: No such device with index '0'",
    "stored artifact": "[split] wrong store: air.xclbin is not the file that was stored",
}
GEMM_KNOBS = {
    "tile_m": 64,
    "tile_k_l2": 256,
    "tile_k_l1": 32,
    "tile_n": 64,
    "herd_m": 8,
    "herd_n": 4,
    "drain": 0,
}


def test_every_entry_has_a_text() -> None:
    assert [failure.name for failure in known_failures()] == list(TEXTS)


@pytest.mark.parametrize("name", TEXTS)
def test_an_entry_is_recognised_and_explained(name: str) -> None:
    sighting = recognise(f"some line\n{TEXTS[name]}\nanother line")
    assert sighting.failure.name == name
    assert Status(sighting.failure.status) in (Status.COMPILE_WALL, Status.TIMEOUT, Status.RUNTIME)
    line = explain(sighting, load_kernel("gelu"), {"N": 1})
    assert line.startswith(f"{name}: ") and "{" not in line and "\n" not in line


@pytest.mark.parametrize(
    "text",
    [
        "",
        "warning: Bank-aware allocation failed, trying basic sequential allocation.",
        "PASS!",
        "Segmentation fault",
    ],
)
def test_other_texts_are_not_walls(text: str) -> None:
    assert recognise(text) is None


def test_the_stride_wall_names_the_next_tile_that_is_legal_too() -> None:
    """K = 2048: 96 and 80 are small enough, but do not divide; 64 does."""
    variables = {**GEMM_KNOBS, "M": 2048, "K": 2048, "N": 9728}
    line = explain(recognise(TEXTS["stride"]), load_kernel("gemm"), variables)
    assert "tile_k_l2 * N = 256 * 9728 = 2490368 exceeds the limit 1048576; next legal tile_k_l2: 64" in line


def test_a_stride_of_something_else_is_reported_as_it_is() -> None:
    variables = {**GEMM_KNOBS, "M": 2048, "K": 2048, "N": 2048}
    line = explain(recognise(TEXTS["stride"]), load_kernel("gemm"), variables)
    assert line == "stride: DMA stride 2490368 exceeds the limit 1048576; a smaller tile_k_l2"


def test_no_smaller_tile_is_said() -> None:
    text = TEXTS["stride"].replace("2490368", str(256 * 50176))
    variables = {**GEMM_KNOBS, "M": 2048, "K": 2048, "N": 50176}
    line = explain(recognise(text), load_kernel("gemm"), variables)
    assert line.endswith("no smaller tile_k_l2 is legal")
