"""Keep a folder of the data directory equal to a remote; the folder is indexed as a vault."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from itertools import islice
from typing import Any

from vault_index import disk
from vault_index.config import Config, SourceConfig
from vault_index.disk import WriteLock, is_under
from vault_index.errors import RemoteError, UsageError, VaultIndexError
from vault_index.indexer.machine import Machine
from vault_index.markdown.frontmatter import INBOX, unreviewed_in
from vault_index.mirroring import exchange
from vault_index.mirroring.exchange import Action, Entry, Exchange
from vault_index.remotes.address import label, open_remote
from vault_index.results.base import Problem
from vault_index.secrets.find import find_secrets
from vault_index.sources.files import is_document_name, is_folder_name, is_readable_name, parts_of
from vault_index.sources.ignore_files import IGNORE_FILE, SETTINGS
from vault_index.sources.vault import VaultSource

_MOST_FILES = 100_000


_NEVER: Mapping[str, Any] = {"synced": None, "problem": "", "hint": ""}


def synchronise(machine: Machine, source: SourceConfig, patience: float = 0.0) -> Exchange:
    """Exchange all changes with the remote of a source.

    Wait `patience` seconds for another process that does so. A failure is a problem of the answer,
    and the copy stays as it was.
    """
    folder, now = source.path.parent, dict(_last(source))
    try:
        with WriteLock(folder / "lock").held("source sync", patience):
            done = RemoteMirror(machine.config, source, machine).run()
        now["synced"] = time.time()
    except VaultIndexError as error:
        message = f"source {source.name!r}: {error.message}"
        done = Exchange(problems=(Problem("remote", message, error.hint),))
    now["problem"], now["hint"] = "", ""
    for problem in done.problems[:1]:
        now["problem"], now["hint"] = problem.message, problem.hint
    with suppress(OSError):
        disk.replace(str(folder / "state.json"), json.dumps(now).encode(), mode=0o600)
    return done


def state_of(config: Config, source: SourceConfig) -> dict[str, Any]:
    """Return the state of a remote source, without a request.

    `pending` counts changes here that the remote does not have yet; `synced` is the time of the
    last success, in seconds since the epoch.
    """
    mirror = RemoteMirror(config, source)
    return {
        "remote": mirror.label,
        "pending": len(mirror.pending()),
        "bytes": sum(max(one.size, 0) for one in mirror.known().values()),
        **_last(source),
    }


def _last(source: SourceConfig) -> Mapping[str, Any]:
    """Return when the last exchange succeeded, and the problem of the last attempt."""
    with suppress(OSError, ValueError, TypeError):
        return {**_NEVER, **json.loads(source.path.with_name("state.json").read_bytes())}
    return _NEVER


class RemoteMirror(exchange.Mirror):
    """The copy of a remote. Notes are deleted and renamed at the remote, memories on both sides."""

    def __init__(
        self, config: Config, source: SourceConfig, machine: Machine | None = None
    ) -> None:
        inbox, record = f"{config.memory.dir}/{INBOX}", source.path.with_name("record.json")
        super().__init__(VaultSource(source), "", inbox, record, label(source.remote))
        self._memories = config.memory.dir
        self._machine = machine

    def run(self) -> Exchange:
        """Exchange all changes. Raises VaultIndexError if the remote does not answer."""
        source = self.vault.config
        os.makedirs(self.vault.root, mode=0o700, exist_ok=True)
        other, base = self.recorded()
        if other not in ("", self.label):
            raise UsageError(
                f"its copy is that of {other}",
                f"remove the source and add it again: vault-index source remove {source.name}",
            )
        self.remote = open_remote(source)
        with closing(self.remote):
            found = list(islice(self.remote.list(), _MOST_FILES + 1))
            if len(found) > _MOST_FILES:
                raise RemoteError(
                    f"{self.label} has over {_MOST_FILES:,} files", "add a part of it"
                )
            there = {entry.path: entry for entry in found if is_wanted(entry.path)}
            if base and not there:
                raise RemoteError(
                    f"{self.label} is empty now; its {len(base)} files stay here",
                    "if you emptied it, remove the source and add it again",
                )
            return self.exchange(there)

    def check(self, entry: Entry) -> None:
        """Raise UsageError for a large file; an earlier version of it stays."""
        if entry.size > self.vault.config.max_file_bytes:
            raise UsageError("it is larger than max_file_bytes", "raise that setting of the source")

    def paths_here(self) -> Iterator[str]:
        """Yield the documents and the files with rules."""
        for folder, folders, names in os.walk(self.vault.root):
            inside = os.path.relpath(folder, self.vault.root)
            below = "" if inside == "." else f"{inside}/"
            folders[:] = [one for one in folders if is_folder_name(one) or one == ".obsidian"]
            yield from filter(is_wanted, (f"{below}{name}" for name in names))

    def choose(self, path: str, done: Action) -> Action:
        """Keep memories that wait for review and rules here, and restore other missing notes."""
        if done == "push" and (unreviewed_in(path, self._memories) or not _is_document(path)):
            return "keep"
        if done == "remove there" and not is_under(self._memories, path):
            return "pull"
        return done

    def push(self, path: str, data: bytes, etag: str) -> str | None:
        """Send a local version, if it is indexed and may leave this machine."""
        secret = next(
            (one for one in find_secrets(data.decode("utf-8", "replace")) if not one.weak), None
        )
        if secret is not None:
            raise UsageError(
                f"line {secret.line} contains what looks like {secret.kind}", "remove it"
            )
        name = self.vault.config.name
        if self._machine is None or not self._machine.may_leave(name, path):
            return None  # private, or the next sync reads it first
        self._machine.declare("remote", self.label, [(name, path, 1)])
        return self.remote.write(path, data, etag)

    def ends(self, error: VaultIndexError) -> bool:
        """Return whether the remote does not answer."""
        return isinstance(error, RemoteError)


def is_wanted(path: str) -> bool:
    """Return whether a file of a remote is copied: a document, or rules for ignoring files."""
    if parts_of(path) is None or not is_readable_name(path):
        return False
    return path in SETTINGS or path.rpartition("/")[2] == IGNORE_FILE or _is_document(path)


def _is_document(path: str) -> bool:
    *folders, name = path.split("/")
    return is_document_name(name) and all(map(is_folder_name, folders))
