"""The NPU as the driver and XRT describe it: what evidence names, and what a verdict depends on."""

import os
import re
import shutil
import subprocess
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

NODE_FOLDER = Path("/dev/accel")
_DRIVER_VERSION = Path("/sys/module/amdxdna/version")
_XRT_SMI = "/opt/xilinx/xrt/bin/xrt-smi"  # where XRT's package puts it
_SECONDS = 30
UNKNOWN = "unknown"
# The report of `xrt-smi examine`, one fact a line.
_SECTION = re.compile(r"^(\w[^:|]*?)\s*$")
_FACT = re.compile(r"^\s+(?P<name>[^:|]+?)\s*:\s*(?P<value>\S.*?)\s*$")
_DEVICE = re.compile(r"^\|\[[\da-fA-F:.]+\]\s*\|+\s*(?P<name>[^|]+?)\s*\|")


@dataclass(frozen=True)
class Device:
    """The NPU and what drives it; a version that nobody states is "unknown"."""

    name: str | None  # e.g. "NPU Strix"; None: no device is found
    xrt: str
    firmware: str
    driver: str

    def line(self) -> str:
        """As a run's log holds it."""
        return " | ".join(f"{key}={value}" for key, value in asdict(self).items())


def device_nodes() -> list[str]:
    """Device nodes of accelerators, sorted."""
    return sorted(str(node) for node in NODE_FOLDER.glob("accel*"))


def xrt_smi() -> str | None:
    """The path of xrt-smi, None when XRT is not installed."""
    return shutil.which("xrt-smi") or (_XRT_SMI if os.access(_XRT_SMI, os.X_OK) else None)


@cache
def find_device() -> Device:
    """The NPU that is there. Without xrt-smi, a device node alone is "unidentified NPU"."""
    report = _report(xrt_smi())
    found = parse_report(report)
    driver = found.driver if found.driver != UNKNOWN else _module_version()
    name = found.name or ("unidentified NPU" if device_nodes() else None)
    return Device(name, found.xrt, found.firmware, driver)


def parse_report(report: str) -> Device:
    """The facts in the text that `xrt-smi examine` prints; what it does not state is unknown."""
    facts: dict[str, str] = {}
    section, name = "", None
    for line in report.splitlines():
        heading, fact, device = _SECTION.match(line), _FACT.match(line), _DEVICE.match(line)
        if heading:
            section = heading[1]
        elif fact:
            facts.setdefault(f"{section}/{fact['name']}", fact["value"])
            facts.setdefault(fact["name"], fact["value"])
        elif device:
            name = name or device["name"]
    return Device(
        name=name,
        xrt=facts.get("XRT/Version", UNKNOWN),
        firmware=facts.get("NPU Firmware Version", facts.get("Firmware Version", UNKNOWN)),
        driver=facts.get("amdxdna Version", UNKNOWN).split(",")[0],
    )


def _report(tool: str | None) -> str:
    if tool is None:
        return ""
    try:
        return subprocess.run(
            [tool, "examine"], capture_output=True, text=True, timeout=_SECONDS, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return ""


def _module_version() -> str:
    try:
        return _DRIVER_VERSION.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return UNKNOWN
