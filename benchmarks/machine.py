"""Shared code of the programs: options, the name of the machine, commands as processes."""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vault_index import __version__

COMMAND = [sys.executable, "-m", "vault_index"]


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Return a parser that prints the docstring of a program as its help."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def describe() -> str:
    """One line that names the machine."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = (line.partition(":")[2] for line in lines if line.startswith("model name"))
            model = next(names, model).strip()
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
    median = statistics.median(ms)
    return f"median {median:7.0f} ms   (min {ms[0]:.0f}, max {ms[-1]:.0f}, n = {len(ms)})"


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a user: with a home, and with compiled modules."""
    mine = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return mine | {"VAULT_INDEX_HOME": str(home)}


class Run(NamedTuple):
    """A command as a whole process, with the processes it started."""

    seconds: float
    processor: float
    peak_mb: float
    """The most memory of all of them at one moment, mapped pages of the database included."""
    answer: dict[str, Any]


def run(home: Path, *given: str) -> Run:
    """Run a command as a process; exit if it fails."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [*COMMAND, *given, "--json"], env=environment(home), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    peak = 0.0
    os.set_blocking(process.stdout.fileno(), False)
    output = b""
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        output += process.stdout.read() or b""
        if pid:
            break
        peak = max(peak, _resident_mb(process.pid))
        time.sleep(0.01)
    process.returncode = status
    if status:
        raise SystemExit(f"{' '.join(given)} failed: {status}")
    seconds, processor = time.perf_counter() - started, usage.ru_utime + usage.ru_stime
    return Run(seconds, processor, peak, json.loads(output or b"{}"))


def _resident_mb(pid: int) -> float:
    """Return the resident memory of a process and its children; an ended process has none."""
    kilobytes, waiting = 0, [str(pid)]
    while waiting:
        folder = Path("/proc", waiting.pop())
        try:
            status = (folder / "status").read_text().partition("VmRSS:")[2].split()
            kilobytes += int(status[0]) if status else 0
            for task in (folder / "task").iterdir():
                waiting += (task / "children").read_text().split()
        except (FileNotFoundError, ProcessLookupError):
            continue
    return kilobytes / 1024
