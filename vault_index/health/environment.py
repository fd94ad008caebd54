"""Find problems around an index: settings, disk, permissions, watches, clock, daemon.

`status` checks them each time, so a solved problem disappears at once.
"""

import fcntl
import os
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from vault_index.config import Config, Home, load_config
from vault_index.disk import is_draft
from vault_index.errors import VaultIndexError
from vault_index.results.base import Problem
from vault_index.results.status import DaemonStatus
from vault_index.sources.sessions.source import SessionSource

_LOW_SPACE = 64 * 2**20
"""Bytes that the WAL may need during a write."""
_START = "vault-index service restart, or vault-index watch"


def surrounding_problems(home: Home, config: Config, daemon: DaemonStatus) -> Iterator[Problem]:
    """Yield problems of settings, daemon and disk."""
    own = os.getpid() if _number(home.daemon_lock) == os.getpid() else None
    pid = daemon.pid if daemon.running else own
    yield from _left_behind(home) if pid is None else _settings(home, config, pid)
    yield from space_problems(home.data_dir, _free(home.data_dir))
    if config.embedding.provider == "openai":
        yield from _unknown_clients(config)


def _unknown_clients(config: Config) -> Iterator[Problem]:
    """Yield a problem for sessions of clients that the user does not know to be indexed."""
    for source in (
        SessionSource(config, name) for name in config.clients.keys() - config.configured
    ):
        if config.clients[source.config.name].enabled and not source.missing():
            yield Problem(
                "sessions_untold",
                f"sessions of {source.title} are on this machine: they are indexed, but not sent",
                "run `vault-index init` to embed them like other documents; or: vault-index "
                f"config set sessions.{source.config.name}.local_only true (or .enabled false)",
            )


def _settings(home: Home, config: Config, pid: int) -> Iterator[Problem]:
    """Yield a problem if the daemon does not use the current configuration."""
    again = f"kill -HUP {pid}"
    try:
        changed = load_config(home) != config
    except VaultIndexError as error:
        yield Problem(
            "config",
            f"{error.message}; the daemon keeps the previous configuration",
            f"{error.hint}; then: {again}",
        )
        return
    if changed:
        yield Problem(
            "config_changed",
            "the configuration changed after the daemon read it",
            f"reload it: {again}",
        )


def space_problems(folder: Path, free: int | None) -> Iterator[Problem]:
    """Yield a problem if `free` bytes are too few; None means unknown."""
    if free is not None and free < _LOW_SPACE:
        yield Problem(
            "disk_full",
            f"only {free / 2**20:.0f} MiB are free on the disk of {folder}: "
            "writing the index may fail",
            "free disk space; nothing is lost, and failed writes are retried",
        )


def _left_behind(home: Home) -> Iterator[Problem]:
    """Yield a problem for a daemon that crashed, or that runs without answering."""
    if (pid := _number(home.daemon_lock)) is None:
        return
    if _alive(pid) and _locked(home.daemon_lock):
        yield Problem(
            "daemon_silent",
            f"the daemon (pid {pid}) runs, but does not answer",
            f"it may just be starting; otherwise end it (kill {pid}), then: {_START}",
        )
    else:
        yield Problem(
            "daemon_died",
            f"the daemon (pid {pid}) ended without cleaning up: it crashed or was killed",
            f"start it again: {_START}; it cleans up by itself",
        )


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _locked(lock: Path) -> bool:
    """Return whether a process holds the lock. Call it only for a live pid."""
    descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _free(folder: Path) -> int | None:
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return found.f_bavail * found.f_frsize


_LEFTOVER_SECONDS = 60.0
"""A younger draft may still be in use."""
_CLOCK_SECONDS = 60.0
_SHOWN = 5


def permission_problems(home: Home) -> Iterator[Problem]:
    """Yield a problem for own files and folders that others can read."""
    if open_to_others := [str(path) for path, _ in _open_to_others(home)]:
        yield Problem(
            "permissions",
            f"other users can read {some(open_to_others)}",
            "run vault-index doctor --fix, which removes their access (chmod go-rwx)",
        )


def token_problems(home: Home) -> Iterator[Problem]:
    """Yield a problem for an unreadable token file, with which `serve` accepts no token."""
    from vault_index.access import Tokens  # imported here because only `doctor` needs it

    try:
        Tokens(home.tokens_file).all()
    except VaultIndexError as error:
        yield Problem("tokens", error.message, error.hint)


def tighten(home: Home) -> None:
    """Remove access of others to our own files and folders."""
    for path, mode in _open_to_others(home):
        path.chmod(mode & 0o700)


def leftover_problems(config: Config, now: float) -> Iterator[Problem]:
    """Yield a problem for drafts of crashed processes that no sync could remove."""
    if found := [str(path) for source in config.sources for path in _drafts(source.path, now)]:
        yield Problem(
            "leftover",
            f"a crash left {len(found)} unfinished {'file' if len(found) == 1 else 'files'} in a "
            f"vault: {some(found)}",
            "run `vault-index sync`: it removes those of this user; delete others yourself",
        )


def clock_problems(synced_at: str | None, now: float) -> Iterator[Problem]:
    """Yield a problem if the clock was set back, because file times are then unreliable."""
    last = float(synced_at or 0)
    if last > now + _CLOCK_SECONDS:
        told, then = (
            time.strftime("%Y-%m-%d %H:%M", time.localtime(moment)) for moment in (now, last)
        )
        yield Problem(
            "clock",
            f"the clock says {told}, but the last sync was at {then}",
            "set the clock, then run `vault-index rebuild`",
        )


def _open_to_others(home: Home) -> Iterator[tuple[Path, int]]:
    named = (
        "index.db*",
        "cache.db*",
        "state.db*",
        "*.lock",
        "daemon.log*",
        "serve.log*",
        "tokens.json",
    )
    files = [
        home.config_file,
        home.socket_path,
        *(path for name in named for path in home.data_dir.glob(name)),
    ]
    for path in (home.data_dir, home.runtime_dir, *sorted(files)):
        try:
            found = path.lstat()
        except OSError:
            continue
        # The target of a link has another owner: home-manager keeps the configuration in a public
        # store.
        if (
            not stat.S_ISLNK(found.st_mode)
            and found.st_uid == os.getuid()
            and found.st_mode & 0o077
        ):
            yield path, stat.S_IMODE(found.st_mode)


def _drafts(root: Path, now: float) -> Iterator[Path]:
    """Yield old drafts in folders that are not hidden."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (Path(folder, name) for name in names if is_draft(name)):
            if _age(path, now) > _LEFTOVER_SECONDS:
                yield path


def _age(path: Path, now: float) -> float:
    try:
        return now - path.lstat().st_mtime
    except OSError:
        return 0.0


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text("ascii"))
    except (OSError, ValueError):  # no such file (no daemon, not Linux, a sandbox), or not a number
        return None


def some(names: Sequence[str]) -> str:
    """Join the first names, with the number of the others."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
