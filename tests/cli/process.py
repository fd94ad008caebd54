"""The command line as a process of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.waiting import PATIENCE


def vx(
    *arguments: str, environ: Mapping[str, str] | None = None, code: str = "", cwd: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run `vault-index` without a terminal; `code` runs instead, with the arguments in `sys.argv`."""
    start = ["-c", code] if code else ["-m", "vault_index"]
    return subprocess.run(
        [sys.executable, *start, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, "PYTHONUTF8": "1", **(environ or {})},
        check=False,
        cwd=cwd,
    )
