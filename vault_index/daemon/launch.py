"""Starts the daemon as a process of its own, for whoever found none running."""

import os
import subprocess
import sys
from collections.abc import Sequence

from vault_index.config import Home, private_folder


def launch(home: Home, options: Sequence[str]) -> int:
    """The pid of a daemon that outlives this process; `options` name its home. Where one runs already, it ends again.

    What it logs is in `daemon.log` beside the index, of its last start only.
    """
    private_folder(home.data_dir)
    log = os.open(home.data_dir / "daemon.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "vault_index", *options, "watch"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            cwd="/",
            start_new_session=True,
        )
    finally:
        os.close(log)
    return process.pid
