"""Compare vault-index with other programs that index or search markdown, on the same vault.

    python benchmarks/compare.py VAULT [--runs 5] [--query "four words" ...] >> figures.jsonl

The programs on the PATH take part: qmd (`npm install @tobilu/qmd`, Node 22; its BM25 needs no
model) and ripgrep (without an index, it reads everything for each search). Commands are timed as
whole processes. The programs take turns, so that a machine with changing speed does not decide.
Prints wall and CPU seconds, and the median ratio of the pairs to vault-index. Nothing is written
next to VAULT.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.machine import describe
from benchmarks.scale import compiled
from vault_index.config import find_home
from vault_index.config.edit import create_config

Command = Sequence[str]


class Spent(NamedTuple):
    """Wall and CPU seconds of one run."""

    seconds: float
    processor: float


class Tool(ABC):
    """A program to compare."""

    name: str

    def __init__(self, vault: Path, folder: Path) -> None:
        self.vault = vault
        self._folder = folder
        self._fresh = 0
        self.environment = compiled()

    def renew(self) -> None:
        """Create a new, empty index."""
        self._fresh += 1
        self.empty(self._folder / f"{self.name} {self._fresh}")

    @abstractmethod
    def empty(self, folder: Path) -> None:
        """Set up a new, empty index in `folder`."""

    @abstractmethod
    def commands(self, query: str) -> dict[str, Command]:
        """Return the commands of `first index`, `nothing changed` and `search`."""

    def run(self, command: Command) -> Spent:
        """Run a command and return its seconds."""
        started = time.perf_counter()
        with subprocess.Popen(
            command,
            env=self.environment,
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):  # ripgrep that finds nothing
            raise SystemExit(f"{command} failed: {process.returncode}")
        return Spent(time.perf_counter() - started, usage.ru_utime + usage.ru_stime)


class Ours(Tool):
    """vault-index."""

    name = "vault-index"

    def empty(self, folder: Path) -> None:
        """Set up a new, empty index in `folder`."""
        create_config(find_home(folder), self.vault, provider="none", memory_dir=None)
        self.environment["VAULT_INDEX_HOME"] = str(folder)

    def commands(self, query: str) -> dict[str, Command]:
        """Return the commands to time."""
        program = [sys.executable, "-m", "vault_index"]
        sync = [*program, "sync", "--no-embed", "--json"]
        return {
            "first index": sync,
            "nothing changed": sync,
            "search": [*program, "search", query, "--mode", "text"],
        }


class Qmd(Tool):
    """The program qmd."""

    name = "qmd"

    def empty(self, folder: Path) -> None:
        """Set up a new, empty index in `folder`."""
        self.environment |= {
            name: str(folder / name) for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME")
        }
        for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
            (folder / name).mkdir(parents=True)

    def commands(self, query: str) -> dict[str, Command]:
        """Return the commands to time."""
        add = ["qmd", "collection", "add", str(self.vault), "--name", "bench"]
        return {
            "first index": add,
            "nothing changed": ["qmd", "update"],
            "search": ["qmd", "search", query],
        }


class Ripgrep(Tool):
    """The program ripgrep."""

    name = "rg"

    def empty(self, folder: Path) -> None:
        """Do nothing: it has no index."""

    def commands(self, query: str) -> dict[str, Command]:
        """Return the command to time."""
        return {"search": ["rg", "-il", "|".join(query.split()), str(self.vault)]}


def measure(
    tools: Sequence[Tool], queries: Sequence[str], runs: int
) -> Iterator[tuple[str, str, list[Spent]]]:
    """Yield each operation with its tool and the seconds of every run; the first tool begins."""

    def turns(name: str, queries: Sequence[str], before: Callable[[Tool], object]) -> Iterator[Any]:
        taking = [tool for tool in tools if name in tool.commands("")]
        spent: dict[str, list[Spent]] = {tool.name: [] for tool in taking}
        for query in queries:
            for tool in taking:
                before(tool)
                spent[tool.name].append(tool.run(tool.commands(query)[name]))
        yield from ((name, tool, values) for tool, values in spent.items())

    yield from turns("first index", [""] * runs, Tool.renew)
    yield from turns("nothing changed", [""] * runs, lambda _tool: None)
    yield from turns("search", [*queries] * runs, lambda _tool: None)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vault", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument(
        "--query", nargs="+", default=["sync settings between devices", "notes and folders"]
    )
    options = parser.parse_args()
    vault = options.vault.absolute()
    about = {"machine": describe(), "notes": sum(1 for _ in vault.rglob("*.md"))}
    with tempfile.TemporaryDirectory() as folder:
        kinds = [Ours, *(kind for kind in (Qmd, Ripgrep) if shutil.which(kind.name))]
        tools = [kind(vault, Path(folder)) for kind in kinds]
        ours: list[Spent] = []
        for name, tool, spent in measure(tools, options.query, options.runs):
            ours = spent if tool == Ours.name else ours
            ratio = Spent(
                *(
                    statistics.median(a / b for a, b in zip(mine, other, strict=True))
                    for mine, other in zip(
                        zip(*ours, strict=True), zip(*spent, strict=True), strict=True
                    )
                ),
            )  # fmt: skip
            median = Spent(*(statistics.median(values) for values in zip(*spent, strict=True)))
            line = {
                **about,
                "load": os.getloadavg()[0],
                "name": name,
                "tool": tool,
                "runs": len(spent),
            }
            line |= {"ratio": round(ratio.seconds, 3), "ratio_processor": round(ratio.processor, 3)}
            print(
                json.dumps(
                    line | {key: round(value, 4) for key, value in median._asdict().items()}
                ),
                flush=True,
            )


if __name__ == "__main__":
    main()
