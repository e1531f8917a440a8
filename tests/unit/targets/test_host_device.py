"""The device process: poison, entry point, exit status."""

from pathlib import Path

import numpy as np
import pytest
from ml_dtypes import bfloat16

from scripts.errors import InputError
from scripts.targets.compiler import find_compiler
from scripts.targets.host_device import clear_unwritten, launch, poisoned
from scripts.targets.process import run_limited
from scripts.targets.toolchain import FLAGS


def built(
    folder: Path, body: str, signature: str = "int air_launch(const void *const *in, void *out, unsigned n)"
):
    source, elf = folder / "toy.cc", folder / "toy.elf"
    source.write_text(f'#include <cstdint>\nextern "C" {signature} {{ {body} }}\n')
    finished = run_limited([*find_compiler().command, *FLAGS, str(source), "-o", str(elf)], 60)
    assert finished.exit_status == 0, finished.output
    return elf


@pytest.mark.parametrize(("dtype", "value_type"), [("bf16", bfloat16), ("f32", np.float32)])
def test_elements_that_are_never_written_are_counted_and_become_zero(dtype: str, value_type: type) -> None:
    output = poisoned((2, 3), dtype)
    assert output.dtype == value_type and output.shape == (2, 3)
    output[0] = [1, np.nan, -2]  # a NaN that a kernel computed is no poison
    assert clear_unwritten(output, dtype) == 3
    assert output[1].astype(float).tolist() == [0, 0, 0]
    assert np.isnan(output[0, 1].astype(float))
    assert clear_unwritten(output, dtype) == 0


def test_the_entry_point_gets_buffers_and_threads(tmp_path: Path) -> None:
    elf = built(
        tmp_path, "*(float *)out = *(const float *)in[0] * 10 + *(const float *)in[1] + n * 1000; return 0;"
    )
    output = poisoned((1,), "f32")
    launch(elf, [np.float32([3]), np.float32([4])], output, threads=2)
    assert output.tolist() == [2034]


def test_a_launch_that_reports_an_error(tmp_path: Path) -> None:
    elf = built(tmp_path, "return 7;")
    with pytest.raises(RuntimeError, match="air_launch returned 7"):
        launch(elf, [], poisoned((1,), "f32"), threads=1)


def test_an_elf_without_the_entry_point(tmp_path: Path) -> None:
    elf = built(tmp_path, "return 0;", signature="int something_else()")
    with pytest.raises(InputError, match="air_launch"):
        launch(elf, [], poisoned((1,), "f32"), threads=1)


def test_a_file_that_is_no_elf(tmp_path: Path) -> None:
    (tmp_path / "kernel.elf").write_text("no ELF")
    with pytest.raises(InputError, match=r"kernel\.elf: cannot be loaded"):
        launch(tmp_path / "kernel.elf", [], poisoned((1,), "f32"), threads=1)
