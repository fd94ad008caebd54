"""Where `serve` of a home is to be found: a file that says so, and is locked for as long as it is true."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from vault_index import disk
from vault_index.config.schema import ServeConfig
from vault_index.errors import VaultIndexError


@contextlib.contextmanager
def telling(path: Path, address: str) -> Iterator[None]:
    """Of several that serve one home the first is told of; none that may not write, as systemd has it."""
    try:
        descriptor = disk.open_own(path, os.O_RDWR)
    except (OSError, VaultIndexError):
        yield
        return
    try:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, address.encode(), 0)
        yield
    finally:
        os.close(descriptor)


def where_it_serves(path: Path) -> str:
    """As `http://127.0.0.1:7341`; empty where nothing serves."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.read(descriptor, 1000).decode("ascii", "replace")
    finally:
        os.close(descriptor)
    return ""


def address_for_browsers(where: str, settings: ServeConfig) -> str:
    """Of all addresses of a machine, the name that its certificate is for, or a proxy asks by."""
    if settings.behind_proxy and settings.hosts:
        return f"https://{settings.hosts[0]}"
    host = settings.hosts[0] if settings.certificate and settings.hosts else "127.0.0.1"
    return where.replace("//0.0.0.0:", f"//{host}:").replace("//[::]:", f"//{host}:")
