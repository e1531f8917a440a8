"""Stand-in for mlir-air's Python package `air`, as far as its programming examples import it.

Builders of modules are called as they are, their bodies are not traced: what is kept is which builder was
called with which arguments. The device that runs the result is this project's host ELF for that call.
"""
