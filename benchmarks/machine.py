"""What the figures were measured on, and how a series of them is summed up."""

import os
import platform
import statistics
import sys
from collections.abc import Sequence

from vault_index import __version__


def describe() -> str:
    """One line that names the machine."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            model = next(
                (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
                model,
            )
        memory = f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    except (OSError, ValueError):
        memory = "unknown memory"
    return (
        f"{os.cpu_count()} x {model}, {memory}, {platform.system()} {platform.release()}, "
        f"Python {sys.version.split()[0]}, vault-index {__version__}"
    )


def summary(seconds: Sequence[float]) -> str:
    """Median, and the range, in milliseconds."""
    ms = sorted(value * 1000 for value in seconds)
    return (
        f"median {statistics.median(ms):7.0f} ms   (min {ms[0]:.0f}, "
        f"max {ms[-1]:.0f}, n = {len(ms)})"
    )
