"""Stand-in for mlir-air's XRTBackend: compiles a module to this project's host ELF and runs that.

Which options its constructor takes is read from the checkout's own source, so a harness that passes another
one fails here as it would there.
"""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from air.backend import CHECKOUT, virtual_device
from air.backend.host_build import BuildFailed, build, check_objects, layout_of
from air.backend.host_case import UnknownModule, host_case
from air.records import Module


class AirBackendError(Exception):
    """What goes wrong in a backend."""


class XRTCompileArtifact:
    """What compile() gives to load(): file names and the kernel's."""

    def __init__(self, output_binary: str, kernel: str, insts: str | None, txn_header: str | None = None):
        self.output_binary = output_binary
        self.kernel = kernel
        self.insts = insts
        self.txn_header = txn_header


def _constructor_options() -> dict[str, Any]:
    """Options of the checkout's XRTBackend and their defaults."""
    tree = ast.parse((CHECKOUT / "xrt.py").read_text(encoding="utf-8"))
    (backend,) = (node for node in tree.body if getattr(node, "name", None) == "XRTBackend")
    (constructor,) = (node for node in backend.body if getattr(node, "name", None) == "__init__")
    names = [argument.arg for argument in constructor.args.args[1:]]
    return dict(zip(names, map(ast.literal_eval, constructor.args.defaults), strict=True))


class XRTBackend:
    """Compile without a device, load and run with one."""

    def __init__(self, **options: Any) -> None:
        known = _constructor_options()
        unknown = options.keys() - known.keys()
        if unknown:
            raise TypeError(f"XRTBackend.__init__() got unexpected options {sorted(unknown)}")
        for name, value in {**known, **options}.items():
            setattr(self, name, value)
        self.last_latency_us: float | None = None

    def compile(
        self,
        air_module: Module,
        output_binary_name: str = "air",
        kernel: str = "MLIR_AIE",
        insts: str = "air.insts.bin",
    ) -> XRTCompileArtifact:
        """Build the host ELF of `air_module` in this folder. Raises AirBackendError if it can't be built."""
        binary = Path(f"{output_binary_name}.{'elf' if self.output_format == 'elf' else 'xclbin'}")
        objects = [name for call in air_module.calls for name in call.objects]
        try:
            case = host_case(air_module.calls)
            check_objects(objects, case)
            build(case, binary)
        except (BuildFailed, UnknownModule) as error:
            raise AirBackendError(f"aircc compilation failed:\n{error}") from None
        if self.output_format == "elf":
            return XRTCompileArtifact(str(binary), f"main:{self.instance_name or kernel}", None)
        Path(insts).write_bytes(b"\0" * 4)
        return XRTCompileArtifact(str(binary), kernel, insts)

    def load(self, artifact: XRTCompileArtifact) -> Callable[..., tuple[np.ndarray, ...]]:
        """A function that runs `artifact` on given buffers. Raises AirBackendError without a device."""
        binary = Path(artifact.output_binary)
        for name in (artifact.output_binary, *([artifact.insts] if binary.suffix != ".elf" else [])):
            if not name or not Path(name).is_file():
                raise AirBackendError(f"Cannot load XRTCompileArtifact because {name} does not exist")
        try:
            virtual_device.device_node()
            layout = layout_of(binary)
        except (virtual_device.NoDevice, BuildFailed) as error:
            raise AirBackendError(str(error)) from None

        def invoker(*buffers: np.ndarray) -> tuple[np.ndarray, ...]:
            output, seconds = virtual_device.run(binary, layout, buffers)
            if self.n_perf_iters > 0:
                self.last_latency_us = seconds * 1e6  # one run stands for all iterations
            # The buffers come back flat, as from the device.
            return (*(array.reshape(-1) for array in buffers[:-1]), output.reshape(-1))

        return invoker

    def compile_and_load(self, module: Module) -> Callable[..., tuple[np.ndarray, ...]]:
        """Both, one after the other."""
        return self.load(self.compile(module))

    def unload(self) -> None:
        """Nothing is held between runs."""
