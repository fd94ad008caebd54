"""Code that systemd and launchd share: the command, the file and the state of a service."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vault_index import disk
from vault_index.errors import VaultIndexError
from vault_index.version import PROGRAMS

PLACES = ("VAULT_INDEX_HOME", "VAULT_INDEX_CONFIG", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
"""Variables that decide where the index is; a service does not inherit those of a shell."""

MARK = (
    "Written by `vault-index service install`, which replaces it; "
    "`vault-index service uninstall` removes it."
)


@dataclass(frozen=True, slots=True)
class Definition:
    """The command, environment and sandbox of a service, for systemd or launchd."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    writable: tuple[Path, ...] | None = None
    """The only writable folders of the sandbox; None means no sandbox."""
    hidden: tuple[Path, ...] | None = None
    """Folders that `vault-index serve` must not see; None means that this is the daemon."""


def daemon_command(
    arguments: Sequence[str] = (), started: str | None = None, command: str = "watch"
) -> tuple[str, ...]:
    """Return the command that starts the daemon (or `serve`) from this installation.

    `arguments` are global options. Links are not resolved, because pipx and uv point the same link
    to the next version.
    """
    return (*program(started), *arguments, command)


def program(started: str | None = None) -> tuple[str, ...]:
    """Return the command of this installation, `vault-index` also for its alias `vx`."""
    path = Path(shutil.which(started or sys.argv[0]) or sys.executable)
    if path.name not in PROGRAMS:
        return (sys.executable, "-m", "vault_index")
    named = path.with_name("vault-index")
    return (os.path.abspath(named if named.exists() else path),)


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with which the service finds the same index.

    Their paths are absolute, because a service starts in another folder.
    """
    return {
        name: os.path.abspath(os.path.expanduser(environ[name]))
        for name in PLACES
        if environ.get(name)
    }


@dataclass(frozen=True, slots=True)
class State:
    """The state of a service, as its service manager reports it."""

    file: str
    installed: bool
    enabled: bool
    """Whether it starts with the next session."""
    active: str
    """`active`, `inactive`, `failed`, `activating`, … (the names that systemd uses)."""
    since: str | None = None
    pid: int | None = None
    said: str = ""
    """The status text that the service last sent to the service manager."""
    result: str = ""
    """The result of the last run: `success`, `exit-code`, `watchdog`, `oom-kill`, … (systemd's
    names).
    """
    restarts: int = 0
    memory: int | None = None
    """Bytes, including mapped files."""


def write_definition(path: Path, content: bytes) -> bool:
    """Write the file that defines the service; return whether it changed.

    Raises VaultIndexError if another program wrote the file.
    """
    if own_content(path) == content:
        return False
    with disk.os_errors_as(
        f"cannot write {path}", "make its folder writable, then run the command again"
    ):
        disk.make_folder(str(path.parent))
        disk.replace(str(path), content, mode=0o644)
    return True


def output_of(command: Sequence[str]) -> str:
    """Return the output of a program. Raises VaultIndexError with its error text if it fails."""
    ended = run(command)
    if ended.returncode:
        words = (
            ended.stderr.strip() or ended.stdout.strip() or f"exit code {ended.returncode}"
        ).splitlines()
        raise VaultIndexError(
            f"{' '.join(command[:4])}: {words[0]}", "see the log: vault-index logs"
        )
    return ended.stdout


def run(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Run a program and ignore its exit code. Raises VaultIndexError if it is not in PATH."""
    with disk.os_errors_as(f"cannot run {command[0]}", "it must be in PATH"):
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )


def own_content(path: Path) -> bytes | None:
    """Return the content of the file; None if it does not exist.

    Raises VaultIndexError if another program wrote it, or if it is a link, because home-manager
    links to its store.
    """
    link = path.is_symlink()
    if not link and not path.exists():
        return None
    if link or MARK.encode() not in (content := path.read_bytes()):
        raise VaultIndexError(
            f"{path} was not written by `vault-index service install`, so it was not changed",
            "change its source (your own file, home-manager), or move the file away first",
        )
    return content
