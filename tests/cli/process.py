"""Run the command line in this process or as a subprocess."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import PATIENCE
from vault_index.cli import main

Out = pytest.CaptureFixture[str]


def answer(capsys: Out, *words: str, code: int = 0) -> Any:
    """Return the JSON output of a command that runs in this process."""
    capsys.readouterr()
    assert main([*words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def vx(
    *arguments: str, environ: Mapping[str, str] | None = None, code: str = "", cwd: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run `vault-index` without a terminal; `code` runs instead, with the arguments in `sys.argv`."""
    start = ["-c", code] if code else ["-m", "vault_index"]
    env = {**os.environ, "PYTHONUTF8": "1", **(environ or {})}
    return subprocess.run(
        [sys.executable, *start, *arguments],
        capture_output=True, text=True, timeout=PATIENCE, env=env, check=False, cwd=cwd,
    )  # fmt: skip
