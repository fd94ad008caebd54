"""What a service runs and what its manager reports: the values that systemd and launchd have in common."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PLACES = ("VAULT_INDEX_HOME", "VAULT_INDEX_CONFIG", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
"""Variables that decide where the index lies. A service does not know what a shell has set."""

MARK = "Written by `vault-index service install`, which replaces it; `vault-index service uninstall` removes it."


@dataclass(frozen=True, slots=True)
class Definition:
    """A service as both systemd and launchd need it."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    writable: tuple[Path, ...] | None = None
    """Inside a sandbox: the only folders that may be written. None: no sandbox."""


def daemon_command(arguments: Sequence[str] = (), program: str | None = None) -> tuple[str, ...]:
    """`…/vault-index watch` as this process was started itself; `arguments` are global options.

    Links are kept: pipx and uv let the same link lead to the next version.
    """
    started = Path(shutil.which(program or sys.argv[0]) or sys.executable)
    if started.name in ("vault-index", "vx"):
        named = started.with_name("vault-index")
        return (os.path.abspath(named if named.exists() else started), *arguments, "watch")
    return (sys.executable, "-m", "vault_index", *arguments, "watch")


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables the service must have to find the same index; made absolute, because it starts elsewhere."""
    return {name: os.path.abspath(os.path.expanduser(environ[name])) for name in PLACES if environ.get(name)}


@dataclass(frozen=True, slots=True)
class State:
    """What the manager reports of the service."""

    file: str
    installed: bool
    enabled: bool
    """Whether it starts with the next session."""
    active: str
    """`active`, `inactive`, `failed`, `activating`, … in systemd's words."""
    since: str | None = None
    pid: int | None = None
    said: str = ""
    """What the daemon tells the service manager of itself."""
    result: str = ""
    """How it ended, or goes on: `success`, `exit-code`, `watchdog`, `oom-kill`, … in systemd's words."""
    restarts: int = 0
    memory: int | None = None
    """Bytes, mapped files included."""
