"""Find the folders of one index: configuration, data and socket. Every command starts here."""

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from vault_index.errors import UsageError, VaultIndexError

# A Unix socket path has at most 107 bytes on Linux and 103 on macOS.
_LONGEST_SOCKET_PATH = 100
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Home(NamedTuple):
    """The paths of one index (a named tuple: `dataclasses` would cost every command 5 ms)."""

    config_file: Path
    data_dir: Path
    runtime_dir: Path
    """The folder of the socket; the daemon creates it with `private_folder`."""
    socket_name: str = "daemon.sock"

    @property
    def index_db(self) -> Path:
        """The index database."""
        return self.data_dir / "index.db"

    @property
    def cache_db(self) -> Path:
        """The vector cache; it can be recomputed."""
        return self.data_dir / "cache.db"

    @property
    def recalled_dir(self) -> Path:
        """Stored recalls of OpenCode sessions, written by the plugin."""
        return self.data_dir / "opencode" / "recalled"

    @property
    def sessions_dir(self) -> Path:
        """Stored copies of sessions that their clients delete."""
        return self.data_dir / "sessions"

    @property
    def state_db(self) -> Path:
        """Data that cannot be derived and needs a backup."""
        return self.data_dir / "state.db"

    @property
    def tokens_file(self) -> Path:
        """The hashed tokens of `serve`."""
        return self.data_dir / "tokens.json"

    @property
    def write_lock(self) -> Path:
        """The lock file of the process that writes to the index."""
        return self.data_dir / "write.lock"

    @property
    def daemon_lock(self) -> Path:
        """The lock file of the running daemon, with its pid."""
        return self.data_dir / "daemon.lock"

    @property
    def daemon_log(self) -> Path:
        """The log of the daemon, unless journald has it."""
        return self.data_dir / "daemon.log"

    @property
    def serve_log(self) -> Path:
        """The log of `serve`, unless journald has it."""
        return self.data_dir / "serve.log"

    @property
    def serve_file(self) -> Path:
        """The address of a running `serve`."""
        return self.data_dir / "serve.address"

    @property
    def socket_path(self) -> Path:
        """The socket path, short enough to bind."""
        return self.runtime_dir / self.socket_name


def working_directory() -> str:
    """Return the working folder, which decides whether a query is private.

    For a deleted folder, return the path in the shell's PWD.
    """
    try:
        return os.getcwd()
    except OSError:
        return os.path.join("/", os.environ.get("PWD", ""))


def find_home(
    home: str | Path | None = None,
    config: str | Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Home:
    """Resolve the paths from the flags, else the environment, else the XDG folders.

    `home` (or VAULT_INDEX_HOME) puts everything into one folder. `config` (or VAULT_INDEX_CONFIG)
    names another configuration file; a `home` given as a flag overrides the variable. Nothing is
    created, and nothing need exist.
    """
    user = environ.get("HOME") or os.path.expanduser("~")
    flag = str(home) if home else ""
    folder = flag or environ.get("VAULT_INDEX_HOME", "")
    config_file = str(config or ("" if flag else environ.get("VAULT_INDEX_CONFIG", "")))
    if folder:
        one = _absolute(folder, user)
        config_path = _absolute(config_file or str(one / "config.toml"), user)
        return _reachable(Home(config_path, one, one), environ)
    data_dir = _xdg(environ, "XDG_DATA_HOME", user, ".local/share") / "vault-index"
    config_home = _xdg(environ, "XDG_CONFIG_HOME", user, ".config")
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    usual = Path(user, ".local/share/vault-index")
    runtime_dir = Path(runtime, "vault-index") if os.path.isabs(runtime) else data_dir / "run"
    # The runtime folder is per user, so an index in an unusual place needs its own socket name.
    name = (
        "daemon.sock"
        if data_dir == usual or not os.path.isabs(runtime)
        else f"{_digest(data_dir)}.sock"
    )
    config_path = (
        _absolute(config_file, user) if config_file else config_home / "vault-index" / "config.toml"
    )
    return _reachable(Home(config_path, data_dir, runtime_dir, name), environ)


def private_folder(path: Path, *, close: bool = True) -> Path:
    """Create a folder of mode 0700 if missing, then call `check_folder`."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError as error:
        raise UsageError(
            f"{path} is a file, not a folder", "move it away, or choose another --home"
        ) from error
    except OSError as error:
        raise VaultIndexError(
            f"cannot create the folder {path}: {error.strerror}",
            "make its parent folder writable, or choose another place with --home DIR",
        ) from error
    check_folder(path, close=close)
    return path


def check_folder(path: Path, *, close: bool = True) -> None:
    """Raise an error for a non-folder, or for a folder or link of another user.

    With `close`, remove write access of others and warn, but raise for a folder meant for all
    users, such as /tmp. A missing folder is fine.
    """
    try:
        link, found = path.lstat(), path.stat()
    except FileNotFoundError:
        return
    user = os.geteuid()
    if not stat.S_ISDIR(found.st_mode):  # changing the mode of /dev/null would affect everyone
        raise UsageError(
            f"{path} is a file, not a folder", "move it away, or choose another --home"
        )
    if found.st_uid != user or link.st_uid not in (0, user):
        raise VaultIndexError(
            f"{path} belongs to another user",
            "choose another place with --home DIR, or change its owner",
        )
    if close and found.st_mode & _OTHERS_WRITE:
        if found.st_mode & stat.S_ISVTX:
            raise VaultIndexError(
                f"{path} is a folder for all users", "choose another place with --home DIR"
            )
        import contextlib
        import logging  # 5 ms, and only a folder that others may write to needs it

        with contextlib.suppress(OSError):
            path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS_WRITE)
        open_still = path.stat().st_mode & _OTHERS_WRITE  # some file systems have no modes
        done = "this cannot be changed: use another folder" if open_still else "now they cannot"
        logging.getLogger(__name__).warning("other users could write to %s; %s", path, done)


def _absolute(path: str, user: str) -> Path:
    if path == "~" or path.startswith("~/"):
        path = user + path[1:]
    return Path(os.path.abspath(path))


def _xdg(environ: Mapping[str, str], name: str, user: str, usual: str) -> Path:
    value = environ.get(name, "")
    # The XDG specification: ignore relative paths.
    return Path(value) if os.path.isabs(value) else Path(user, usual)


def _reachable(home: Home, environ: Mapping[str, str]) -> Home:
    if len(os.fsencode(home.socket_path)) <= _LONGEST_SOCKET_PATH:
        return home
    name = f"{_digest(home.data_dir)}.sock"
    uid = os.getuid() if sys.platform != "win32" else 0
    for base in (environ.get("XDG_RUNTIME_DIR", ""), environ.get("TMPDIR", ""), "/tmp"):
        short = Path(base, f"vault-index-{uid}")
        if os.path.isabs(base) and len(os.fsencode(short / name)) <= _LONGEST_SOCKET_PATH:
            return home._replace(runtime_dir=short, socket_name=name)
    return home


def _digest(path: Path) -> str:
    import hashlib  # 2 ms, and only an unusual place needs it

    return hashlib.blake2b(os.fsencode(os.path.realpath(path)), digest_size=8).hexdigest()
