"""Versions of memories, read from `state.db` without our code, and commits."""

import os
import re
import subprocess
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path

import apsw

from tests.api.vaults import write

_APART = 1500
"""Distance in bytes between the searched runs, so that a database page holds two of them."""


def blobs_in(state_db: Path) -> Iterator[bytes]:
    """Yield every value of every row, raw and unpacked."""
    if not state_db.exists():
        return
    with closing(apsw.Connection(str(state_db))) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for row in (row for table in tables for row in connection.execute(f'SELECT * FROM "{table}"')):
            for value in row:
                if isinstance(value, str):
                    yield value.encode("utf-8", "surrogatepass")
                elif isinstance(value, bytes):
                    yield value
                    with suppress(zlib.error):
                        yield zlib.decompress(value)


def origin_in(state_db: Path) -> Iterator[str]:
    return (blob.decode("utf-8", "replace") for blob in blobs_in(state_db))


def traces_of(secret: bytes, texts: Iterable[bytes], folder: Path) -> list[str]:
    """Return the files that hold a secret, or bytes of a packed text with it, even in a free page."""
    packed = {zlib.compress(text, level) for text in texts for level in range(1, 10)}
    runs = {one[at : at + 24] for one in packed for at in range(16, len(one) - 32, _APART)}
    found = set()
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            if secret in data or any(run in data for run in runs) or any(secret in one for one in _unpacked(data)):
                found.add(path.relative_to(folder).as_posix())
    return sorted(found)


def _unpacked(data: bytes) -> Iterator[bytes]:
    """Yield the unpacked data of each place of a file, up to the first damage."""
    for header in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", data):
        unpacking, text = zlib.decompressobj(), b""
        with suppress(zlib.error):
            for at in range(header.start(), min(len(data), header.start() + 16384), 64):
                text += unpacking.decompress(data[at : at + 64])
        yield text


def git(folder: Path, *arguments: str) -> str:
    """Run git as Ann, without the settings of this machine; return its output."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "core.fsmonitor=false")
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


class Repository:
    """A new git repository, and the hashes of its commits."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commits: list[str] = []
        git(folder, "init", "-q", "-b", "main")

    def commit(self, subject: str, files: Mapping[str, str]) -> None:
        write(self.folder, files)
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "-q", "-m", subject)
        self.commits.append(git(self.folder, "rev-parse", "HEAD").strip())
