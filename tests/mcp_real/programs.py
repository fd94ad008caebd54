"""The programs that npm and pip installed, each in a home of its own."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.waiting import PATIENCE

TOOLS = Path(os.environ["MCP_TOOLS"])
SERVER = [sys.executable, "-m", "vault_index", "mcp", "--home"]


def run(name: str, *words: str | Path, home: Path, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """Run a program to its end; `name` is that of its file."""
    programs = (TOOLS / "node_modules/.bin", TOOLS / "python/bin")
    (program,) = (folder / name for folder in programs if (folder / name).exists())
    path = f"{TOOLS / 'node_modules/.bin'}:{os.environ['PATH']}"
    env = {**os.environ, "HOME": str(home), "PATH": path, "NO_COLOR": "1"}
    command = [str(program), *map(str, words)]
    return subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, check=False)


def inspect(target: Sequence[str], method: str, *words: str, home: Path, code: int = 0) -> dict[str, Any]:
    """Return the result that the inspector gets from a server; `code` is its exit code."""
    options = ("--method", method, "--format", "json", "--quiet", *words)
    done = run("mcp-inspector", "--cli", *target, *options, home=home)
    assert done.returncode == code, f"{method} {words}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    result: dict[str, Any] = json.loads(done.stdout)["result"]
    return result


Checks = dict[str, list[dict[str, Any]]]


def conform(url: str, revision: str, *, home: Path) -> Checks:
    """The checks of all scenarios of a protocol revision."""
    results = home / "results"
    words = ("--url", url, "--output-dir", results, "--requirements", revision)
    done = run("conformance", "server", *words, home=home)
    assert "Running" in done.stdout, done.stderr
    return {_scenario(file.parent): json.loads(file.read_text("utf-8")) for file in results.glob("*/checks.json")}


def _scenario(folder: Path) -> str:
    """`server-tools-list-2026-11-23T04-09-48-402Z` is a result of tools-list."""
    found = re.fullmatch(r"server-(.+?)-\d{4}-\d\d-\d\dT.*", folder.name)
    assert found, folder
    return found[1]
