"""What systemd and launchd have in common: what a service runs, its file, its manager's program and report."""

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
"""Variables that decide where the index lies. A service does not know what a shell has set."""

MARK = "Written by `vault-index service install`, which replaces it; `vault-index service uninstall` removes it."


@dataclass(frozen=True, slots=True)
class Definition:
    """A service as both systemd and launchd need it."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    writable: tuple[Path, ...] | None = None
    """Inside a sandbox: the only folders that may be written. None: no sandbox."""
    hidden: tuple[Path, ...] | None = None
    """Of `vault-index serve`: folders that it shall not see. None: this is the daemon."""


def daemon_command(
    arguments: Sequence[str] = (), program: str | None = None, command: str = "watch"
) -> tuple[str, ...]:
    """`…/vault-index watch` (or `serve`) as this process was started itself; `arguments` are global options.

    Links are kept: pipx and uv let the same link lead to the next version.
    """
    started = Path(shutil.which(program or sys.argv[0]) or sys.executable)
    if started.name in PROGRAMS:
        named = started.with_name("vault-index")
        return (os.path.abspath(named if named.exists() else started), *arguments, command)
    return (sys.executable, "-m", "vault_index", *arguments, command)


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables the service must have to find the same index; made absolute, because it starts elsewhere."""
    return {
        name: os.path.abspath(os.path.expanduser(environ[name]))
        for name in PLACES
        if environ.get(name)
    }


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


def write_definition(path: Path, content: bytes) -> bool:
    """Write the file that defines the service; whether it changed. VaultIndexError where somebody else wrote it."""
    if own_content(path) == content:
        return False
    with disk.os_errors_as(
        f"cannot write {path}", "make its folder writable, then run the command again"
    ):
        disk.make_folder(str(path.parent))
        disk.replace(str(path), content, mode=0o644)
    return True


def output_of(command: Sequence[str]) -> str:
    """What a program prints; VaultIndexError with its own words where it fails."""
    ended = run(command)
    if ended.returncode:
        words = (
            ended.stderr.strip() or ended.stdout.strip() or f"exit code {ended.returncode}"
        ).splitlines()
        raise VaultIndexError(
            f"{' '.join(command[:4])}: {words[0]}", "vault-index service logs may say why"
        )
    return ended.stdout


def run(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Run a program, whatever its exit code; VaultIndexError where it is not there."""
    with disk.os_errors_as(f"cannot run {command[0]}", "it must be in PATH"):
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )


def own_content(path: Path) -> bytes | None:
    """What the file holds; None where there is no file. VaultIndexError where somebody else wrote it, as a link into a
    store (home-manager's) shows."""
    link = path.is_symlink()
    if not link and not path.exists():
        return None
    if link or MARK.encode() not in (content := path.read_bytes()):
        raise VaultIndexError(
            f"{path} was not written by `vault-index service install`, and is left as it is",
            "change it where it comes from (your own file, home-manager), or move it away first",
        )
    return content
