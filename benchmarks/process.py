"""Read the resources of a running process on Linux: memory, CPU time, wake-ups, open files."""

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Usage:
    """The resources at one moment."""

    seconds: float
    """Of the clock, when this was seen."""
    cpu_seconds: float
    wakeups: dict[str, int]
    """Voluntary context switches by thread."""
    resident_mb: float
    anonymous_mb: float
    """Without mapped files: pages of the database, libraries."""
    files: int
    threads: int


def usage(pid: int) -> Usage:
    """Return the resources of a process."""
    folder = Path(f"/proc/{pid}")
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    memory = _table(folder / "smaps_rollup")
    tasks = {
        task.name: table
        for task in (folder / "task").iterdir()
        if (table := _table(task / "status"))
    }
    return Usage(
        time.monotonic(),
        (int(fields[11]) + int(fields[12])) / _TICKS,
        {name: table["voluntary_ctxt_switches"] for name, table in tasks.items()},
        memory["Rss"] / 1024,
        memory["Anonymous"] / 1024,
        len(list((folder / "fd").iterdir())),
        len(tasks),
    )


def between(before: Usage, after: Usage) -> str:
    """What it did in the meantime."""
    seconds = after.seconds - before.seconds
    cpu = 100 * (after.cpu_seconds - before.cpu_seconds) / seconds
    wakeups = sum(count - before.wakeups.get(thread, 0) for thread, count in after.wakeups.items())
    return f"{cpu:.3f} % of a processor, {wakeups / seconds:.2f} wake-ups a second"


def _table(path: Path) -> dict[str, int]:
    """The lines `Name: 12 kB`."""
    found: dict[str, int] = {}
    try:
        lines = path.read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):  # a thread that just ended
        return found
    for line in lines:
        name, _, value = line.partition(":")
        if value.split()[:1] and value.split()[0].isdigit():
            found[name] = int(value.split()[0])
    return found


class Peak:
    """The maximum anonymous memory of a process since `with`, sampled ten times a second."""

    def __init__(self, pid: int) -> None:
        self.anonymous_mb = 0.0
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Peak":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.1):
            self.anonymous_mb = max(self.anonymous_mb, usage(self._pid).anonymous_mb)


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process and its children; an ended process has none."""
    kilobytes, waiting = 0, [str(pid)]
    while waiting:
        folder = Path("/proc", waiting.pop())
        try:
            kilobytes += _table(folder / "status").get("VmRSS", 0)
            for task in (folder / "task").iterdir():
                waiting += (task / "children").read_text().split()
        except (FileNotFoundError, ProcessLookupError):
            continue
    return kilobytes / 1024
