"""Stand-ins for what mlir-air adds to MLIR's bindings."""
