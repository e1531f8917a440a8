"""The registry as mlir-air keeps it: Markdown tables for people, and JSON beside those of the GEMM.

A `kernel_registry/` holds `supported_kernels.md`, the index, with one table per kernel; `details/<page>.md`,
with the same shapes in more columns; and `details/<page>.json` for the GEMMs. Each table says its own
columns.
"""
