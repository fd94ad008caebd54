"""`logs`: what the daemon wrote, wherever that went."""

import argparse
import subprocess
from typing import Any

from vault_index.cli.client import home_of
from vault_index.cli.options import Options
from vault_index.cli.service import add_service_logs, daemon_at
from vault_index.config.home import Home
from vault_index.errors import NotFoundError, VaultIndexError


def add_logs(parser: argparse.ArgumentParser) -> None:
    parser.description = "Print the daemon's log: the journal where it is a service, else its own file."
    add_service_logs(parser)


def run_logs(options: Options, args: dict[str, Any]) -> int:
    home = home_of(options)
    lines, follow = args.get("lines", 50), "follow" in args
    command = _of_service(home, lines, follow=follow)
    if command is None and not home.daemon_log.exists():
        raise NotFoundError("no daemon of this home has written a log yet", "start one: vault-index watch")
    tail = ["tail", "-n", str(lines), *(["-F"] if follow else []), str(home.daemon_log)]
    return subprocess.run(command or tail, check=False).returncode


def _of_service(home: Home, lines: int, *, follow: bool) -> list[str] | None:
    """What shows the log of the service; None where that is not the daemon of this home."""
    from vault_index.service.detect import service_here

    try:
        service = service_here()
        state = service.state()
    except VaultIndexError:
        return None
    daemon = daemon_at(home)
    ours = daemon.get("pid") == state.pid if daemon["running"] else not home.daemon_log.exists()
    return service.logs_command(lines, follow=follow) if state.installed and ours else None
