"""Publish the address of a running `serve` in a locked file."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from vault_index import disk
from vault_index.config.schema import ServeConfig
from vault_index.errors import VaultIndexError

_TRIES, _TRY_SECONDS = 10, 0.01
"""Retries, because readers lock the file for a moment."""


@contextlib.contextmanager
def publish_address(path: Path, address: str) -> Iterator[None]:
    """Publish the address while the block runs.

    Only the first `serve` of a home is published. Without write permission (systemd), none is.
    """
    try:
        descriptor = disk.open_own(path, os.O_RDWR)
    except (OSError, VaultIndexError):
        yield
        return
    try:
        for _ in range(_TRIES):
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, address.encode(), 0)
                break
            time.sleep(_TRY_SECONDS)
        yield
    finally:
        os.close(descriptor)


def published_address(path: Path) -> str:
    """Return the address, such as `http://127.0.0.1:7341`; empty if nothing serves."""
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
    """Return the address for browsers: the name in the certificate, or the proxy's name."""
    if settings.behind_proxy and settings.hosts:
        return f"https://{settings.hosts[0]}"
    host = settings.hosts[0] if settings.certificate and settings.hosts else "127.0.0.1"
    return where.replace("//0.0.0.0:", f"//{host}:").replace("//[::]:", f"//{host}:")
