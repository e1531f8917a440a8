"""The npu2 target: mlir-air's own harnesses, on the device."""
