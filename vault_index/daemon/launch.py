"""Starts the daemon as a process of its own, for whoever found none running."""

import subprocess
import sys
from collections.abc import Sequence

from vault_index.config import Home, private_folder


def launch(home: Home, options: Sequence[str]) -> int:
    """The pid of a daemon that outlives this process; `options` name its home. Where one runs already, it ends again.

    It logs to a file of its own (`vault-index logs`).
    """
    private_folder(home.data_dir)
    process = subprocess.Popen(
        [sys.executable, "-m", "vault_index", *options, "watch"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    return process.pid
