"""What an ELF of the host target depends on besides its sources: compiler, flags, instruction set."""

import hashlib
import platform
from pathlib import Path

from scripts.targets.compiler import find_compiler

# No -ffast-math, ever: the datapath's roundings are the point of the host target.
COMPILE_FLAGS = ("-std=c++20", "-O3", "-march=native", "-fPIC", "-fno-math-errno", "-pthread")
LINK_FLAGS = ("-shared", "-pthread")
FLAGS = (*COMPILE_FLAGS, "-shared")
_CPU_FACTS = Path("/proc/cpuinfo")


def host_fingerprint() -> str:
    """Compiler version, flags and instruction set in one line; holds no path and no time.

    Raises InputError when there is no compiler.
    """
    return f"{find_compiler().version}; {' '.join(FLAGS)}; {instruction_set()}"


def instruction_set() -> str:
    """Machine and a digest of the CPU's features, which `-march=native` compiles for."""
    try:
        lines = _CPU_FACTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    # "flags" on x86, "Features" on Arm.
    features = next((line.split(":")[1] for line in lines if line.startswith(("flags", "Features"))), "")
    digest = hashlib.sha256(" ".join(sorted(features.split())).encode()).hexdigest()[:8]
    return f"{platform.machine()} cpu features {digest}"
