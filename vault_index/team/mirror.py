"""Mirror the memories of the pool as files of a vault, and publish edits of these files.

Nothing is deleted on either side without a copy: the pool keeps every version, and a removed file
goes to the trash of the vault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_index.errors import NotFoundError, UsageError, VaultIndexError
from vault_index.indexer.machine import Machine
from vault_index.markdown.frontmatter import INBOX
from vault_index.mirroring import exchange
from vault_index.mirroring.exchange import Entry, Exchange, Remote
from vault_index.results.base import Problem
from vault_index.sources.source import EMPTY
from vault_index.sources.vault import VaultSource
from vault_index.team import files
from vault_index.team.address import label
from vault_index.team.database import translated

if TYPE_CHECKING:
    import psycopg

    Pool = psycopg.Connection[Any]


class PoolFiles(Remote):
    """The files of a pool as the other side of a mirror. Etags are digests of the content."""

    def __init__(self, machine: Machine, pool: Pool) -> None:
        self.pool = pool
        self._chunks = machine.config.chunk

    def list(self) -> list[Entry]:
        """Return all files that this member sees."""
        return [Entry(path, one.hex()) for path, one in files.digests(self.pool).items()]

    def read(self, path: str) -> tuple[bytes, str]:
        """Return a file and its etag."""
        with translated():
            file = files.read_file(self.pool, path)
        if file is None:
            raise NotFoundError(f"{path} is not in the pool", "")
        return file.text.encode(), file.digest.hex()

    def write(self, path: str, data: bytes, if_match: str) -> str:
        """Publish a file if the pool still has this version."""
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise UsageError("it is not valid UTF-8", "save it as UTF-8") from error
        seen = bytes.fromhex(if_match) or None
        with translated():
            files.check_writes(self.pool)
            return files.put_file(self.pool, path, text, seen, self._chunks).hex()

    def delete(self, path: str, if_match: str) -> None:
        """Delete a file if the pool still has this version."""
        with translated():
            files.check_writes(self.pool)
            files.delete_file(self.pool, path, bytes.fromhex(if_match))


class Mirror(exchange.Mirror):
    """The folder of a vault that holds the pool's memories."""

    code = "pool"

    def __init__(self, machine: Machine, pool: Pool) -> None:
        vault = machine.config.memory_source()
        source = machine.sources[vault.name] if vault else None
        assert isinstance(source, VaultSource)
        self._machine = machine
        self._pool = pool
        self.remote = PoolFiles(machine, pool)
        super().__init__(
            source,
            machine.config.pool.mirror.strip("/"),
            f"{machine.config.memory.dir}/{INBOX}",
            machine.home.data_dir / "pool-mirror.json",
            label(machine.config.pool),
        )

    def run(self) -> Exchange:
        """Exchange all changed files, unless the folder holds the memories of another pool."""
        other, base = self.recorded()
        if other not in ("", self.label):
            message = f"the folder {self.folder} holds memories of another pool, {other}"
            hint = f"choose another pool.mirror; if it is the same pool, delete {self.record}"
            return Exchange(problems=(Problem("pool", message, hint),))
        missing = self.vault.missing()
        if missing and (base or not missing.endswith(EMPTY)):
            return Exchange()  # not mounted
        return self.exchange({entry.path: entry for entry in self.remote.list()})

    def check(self, entry: Entry) -> None:
        """Raise UsageError for a path that cannot be a file of every member."""
        files.check_path(entry.path)

    def push(self, path: str, data: bytes, etag: str) -> str | None:
        """Publish a local version, if it is indexed and may leave this machine."""
        name, place = self.vault.config.name, self.place(path)
        if not self._machine.may_leave(name, place):
            return None  # private, or the next sync reads it first
        self._machine.declare("pool", self.label, [(name, place, 1)])
        return self.remote.write(path, data, etag)

    def ends(self, error: VaultIndexError) -> bool:
        """Return whether the connection is lost."""
        return self._pool.closed
