"""Mirror the memories of the pool as files of a vault, and publish edits of these files.

The digests at the last exchange tell which side changed. If both did, the pool's version stays in
the mirror, and the other one goes to the inbox for review. Nothing is deleted on either side
without a copy: the pool keeps every version, and a removed file goes to the trash of the vault.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from vault_index import disk
from vault_index.errors import UsageError, VaultIndexError
from vault_index.markdown.frontmatter import INBOX
from vault_index.mirroring.files import Files
from vault_index.models import Filters
from vault_index.results.base import Problem
from vault_index.sources.source import EMPTY
from vault_index.sources.vault import VaultSource
from vault_index.store.spaces import document_states
from vault_index.team import files
from vault_index.team.address import label
from vault_index.team.database import translated
from vault_index.team.machine import Machine
from vault_index.times import local_day

if TYPE_CHECKING:
    import psycopg

    Pool = psycopg.Connection[Any]

_ID = re.compile(r"\A(---\n(?:.*\n)*?)id:.*\n", re.MULTILINE)
_TRASH = ".trash"

Action = Literal["pull", "push", "remove here", "remove there", "conflict", "same"]


class Exchange(NamedTuple):
    """What an exchange did, for the report."""

    pulled: int = 0
    pushed: int = 0
    conflicts: int = 0
    problems: tuple[Problem, ...] = ()


def action(base: bytes | None, here: bytes | None, there: bytes | None) -> Action:
    """Return what to do with a file from its digests: at the last exchange, here, in the pool."""
    if here == there:
        return "same"
    if here == base:
        return "remove here" if there is None else "pull"
    if there == base:
        return "remove there" if here is None else "push"
    if there is None:
        return "push"
    return "pull" if here is None else "conflict"


class Mirror:
    """The folder of a vault that holds the pool's memories."""

    def __init__(self, machine: Machine, pool: Pool) -> None:
        vault = machine.config.memory_source()
        source = machine.sources[vault.name] if vault else None
        assert isinstance(source, VaultSource)
        self._machine = machine
        self._pool = pool
        self._vault = source
        self._folder = machine.config.pool.mirror.strip("/")
        self._files = Files(source, self._folder)
        self._label = label(machine.config.pool)
        self._record = machine.home.data_dir / "pool-mirror.json"

    def exchange(self) -> Exchange:
        """Exchange all changed files; a file that fails is tried again by the next exchange."""
        other, base = self._read_record()
        if other not in ("", self._label):
            message = f"the folder {self._folder} holds memories of another pool, {other}"
            hint = f"choose another pool.mirror; if it is the same pool, delete {self._record}"
            return Exchange(problems=(Problem("pool", message, hint),))
        missing = self._vault.missing()
        if missing and (base or not missing.endswith(EMPTY)):
            return Exchange()  # not mounted
        here, there = self._here(), files.digests(self._pool)
        # If the folder was deleted or is not mounted, write it again.
        return self._exchange(base if here else {}, here, there)

    def _exchange(
        self, base: dict[str, bytes], here: Mapping[str, bytes], there: Mapping[str, bytes]
    ) -> Exchange:
        counts, problems = dict.fromkeys(("pull", "push", "conflict"), 0), []
        for path in sorted(base.keys() | here.keys() | there.keys()):
            digests = base.get(path), here.get(path), there.get(path)
            done = action(*digests)
            try:
                with translated():
                    known = self._carry_out(done, path, *digests[1:])
            except VaultIndexError as error:
                if self._pool.closed:
                    raise
                message = f"{self._folder}/{path} was not exchanged: {error.message}"
                problems.append(Problem("pool", message, error.hint))
                continue
            if done in counts and known != digests[0]:
                counts[done] += 1
            if known is not None and known != digests[0]:
                base[path] = known
                self._write_record(base)
            elif known is None and path in base:
                del base[path]
                self._write_record(base)
        return Exchange(counts["pull"], counts["push"], counts["conflict"], tuple(problems))

    def _carry_out(
        self, done: Action, path: str, here: bytes | None, there: bytes | None
    ) -> bytes | None:
        """Return the digest that both sides have now; None if neither has the file."""
        if done == "same":
            return here
        if done == "push":
            return self._push(path, there)
        if done == "remove there":
            files.delete_file(self._pool, path, there or b"")
            return None
        if done == "remove here":
            self._to_trash(path)
            return None
        return self._pull(path, here, keep=done == "conflict")

    def _pull(self, path: str, here: bytes | None, *, keep: bool) -> bytes | None:
        """Write the pool's version here; with `keep`, move the local one to the inbox."""
        files.check_path(path)
        file, place = files.read_file(self._pool, path), f"{self._folder}/{path}"
        if file is None:  # deleted meanwhile
            return here
        data = file.text.encode()
        if here is None:
            self._files.create(place, file.text)
            return file.digest
        seen = self._files.read(place)
        if keep:
            name = f"{path.rpartition('/')[2].removesuffix('.md')} {local_day(time.time())}.md"
            inbox = f"{self._machine.config.memory.dir}/{INBOX}"
            # Without its id, because the other version has that.
            self._files.create(f"{inbox}/{name}", _ID.sub(r"\1", seen.decode("utf-8", "replace")))
        self._files.replace(place, seen, data)
        return file.digest

    def _push(self, path: str, there: bytes | None) -> bytes | None:
        """Publish a local version, if it is indexed and may leave this machine."""
        place, vault = f"{self._folder}/{path}", self._vault.config.name
        with self._machine.reads.lend(snapshot=False) as connections:
            states = [
                one
                for one in document_states(
                    connections.reader, Filters(sources=(vault,), paths=(place,))
                )
                if one.path == place
            ]
            if not self._machine.moments().leaving(states):
                return there  # private, or the next sync reads it first
        try:
            text = self._files.read(place).decode()
        except UnicodeDecodeError as error:
            raise UsageError(f"{place} is not valid UTF-8", "save it as UTF-8") from error
        self._machine.declare([(vault, place, 1)])
        return files.put_file(self._pool, path, text, there, self._machine.config.chunk)

    def _to_trash(self, path: str) -> None:
        place, folder = f"{self._folder}/{path}", os.path.dirname(f"{self._folder}/{path}")
        root = self._vault.root
        with (
            disk.os_errors_as(f"{place} cannot be moved to the trash", "check its permissions"),
            disk.folder_in(root, folder) as here,
            disk.folder_in(root, f"{_TRASH}/{folder}", make=True) as bin,
        ):
            name = path.rpartition("/")[2]
            free = (
                f"{bin}/{name.removesuffix('.md')}{f' {number}' if number > 1 else ''}.md"
                for number in range(1, 1000)
            )
            disk.move_to_free_name(f"{here}/{name}", free)

    def _here(self) -> dict[str, bytes]:
        """Return the digests of the files in the mirror, by path."""
        if not self._files.there():
            return {}
        start = len(self._folder) + 1
        return {
            path[start:]: hashlib.sha256(self._files.read(path)).digest()
            for path in self._files.all()
        }

    def _read_record(self) -> tuple[str, dict[str, bytes]]:
        """Return the pool and the digests of the last exchange, as far as they are readable."""
        try:
            found = json.loads(self._record.read_bytes())
            digests = found["files"].items()
            return found["pool"], {path: bytes.fromhex(digest) for path, digest in digests}
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return "", {}

    def _write_record(self, digests: Mapping[str, bytes]) -> None:
        found = {path: digest.hex() for path, digest in digests.items()}
        text = json.dumps({"pool": self._label, "files": found}, indent=1)
        with disk.os_errors_as(f"cannot write {self._record}", "free disk space"):
            disk.replace(str(self._record), text.encode(), mode=0o600)
