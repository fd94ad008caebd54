"""Maintain the separate indexes of isolated tokens, each of a part of the vaults.

A part is like the home of a user who indexes nothing else. It shares the settings, the vector
cache, and the state for privacy and spending (the ledger, the origins, the forgotten sessions).
Sessions are read from their clients; stored copies of deleted sessions belong to the main index.
"""

import hashlib
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from copy import copy
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import Any

from vault_index.access import Tokens
from vault_index.api import VaultIndex, call
from vault_index.api.methods import WRITING
from vault_index.callers import Scope
from vault_index.cancel import CancelToken
from vault_index.config import Config, Home, private_folder
from vault_index.daemon.log import log_event
from vault_index.daemon.writer import Settings, Writer
from vault_index.errors import BusyError, NotSetUpError, UsageError, VaultIndexError
from vault_index.models import Progress
from vault_index.results.status import IsolatedStatus
from vault_index.runtime import Runtime
from vault_index.store.state import State

log = logging.getLogger(__name__)

_MOST = 8
"""Maximum number of isolated indexes; each has a writer thread and connections."""
_READY_SECONDS = 2.0
"""Seconds that a query waits for a new index, for example after a start. A longer wait would block
other requests.
"""

SettingsOf = Callable[[Runtime, Callable[[], Runtime]], Settings]
"""Returns the writer settings of an index, given its runtime and a function that opens it again."""


class PartHome(Home):
    """The paths of a part: a folder inside the data folder of the main index."""

    __slots__ = ()

    @property
    def cache_db(self) -> Path:
        """The vector cache of the main index."""
        return self._whole / "cache.db"

    @property
    def ledger_db(self) -> Path:
        """The state of the main index."""
        return self._whole / "state.db"

    @property
    def _whole(self) -> Path:
        return self.data_dir.parent.parent


class PartRuntime(Runtime):
    """The runtime of a part, with its own sources and connections."""

    def __init__(self, whole: Runtime, scope: Scope) -> None:
        self._main, self._cut = whole, scope
        home = PartHome(*whole.home._replace(data_dir=whole.home.isolated_dir / _name(scope)))
        super().__init__(home, cut(whole.config, scope))
        self.moments = whole.moments

    def _configure(self, config: Config) -> None:
        super()._configure(config)
        self.embedders = self._main.embedders

    def prepare(self) -> None:
        """Create the state before the index, which would otherwise report it as lost."""
        private_folder(self.home.data_dir.parent)
        private_folder(self.home.data_dir)
        with closing(State(self.home.state_db)) as state:
            state.database()

    def reload(self) -> None:
        """Apply the current configuration of the main runtime."""
        write = self._write
        self._configure(cut(self._main.config, self._cut))
        if write is not None:
            write.close()

    def close(self) -> None:
        """Close the writer and the connections; the embedders belong to the main runtime."""
        if self._write is not None:
            self._write.close()
        self._close_pools()

    def within(self, scope: Scope, who: str = "") -> Runtime:
        """Return a view for the caller: all of the part, but no data about this machine."""
        seen = copy(self)
        seen.scope, seen.who = scope, who
        return seen


class Part:
    """One isolated index, with its writer thread."""

    def __init__(self, whole: Runtime, scope: Scope, settings: SettingsOf) -> None:
        self.scope = scope
        self.tokens: tuple[str, ...] = ()
        self.runtime = PartRuntime(whole, scope)
        self._whole, self._settings_of = whole, settings
        self._ready = threading.Event()
        self.writer = Writer(VaultIndex(self.runtime), self._call, self._settings())

    def start(self) -> None:
        """Create the files of the part and start its writer."""
        self.runtime.prepare()
        self.writer.start()

    @property
    def gone(self) -> bool:
        """Whether the files of the part were deleted, because a document was purged."""
        home = self.runtime.home
        return not home.data_dir.exists() or (self._ready.is_set() and not home.index_db.exists())

    def renew(self) -> None:
        """Apply new settings, or rebuild the index if its files are gone."""
        self._ready.clear()
        self.writer.call(self._renew)

    def mark(self, path: str, *, folder: bool = False, gone: bool = False) -> None:
        """Schedule `path` to be read if it is in this part."""
        if any(source.relative(path) is not None for source in self.runtime.sources):
            self.writer.mark(path, folder=folder, gone=gone)

    def answer(self, who: str, method: str, params: Mapping[str, Any], progress: Progress) -> Any:
        """Answer a request of the token `who`, in the thread of a connection.

        Raises BusyError while the index is being built.
        """
        busy = BusyError("the index of this token is being built", "try again in a moment")
        if not self._ready.wait(_READY_SECONDS):
            raise busy
        try:
            if method in WRITING:
                return self.writer.submit(
                    "served", {"who": who, "method": method, "params": params}
                ).follow(progress)
            return call(self._seen(who), method, dict(params))
        except NotSetUpError as error:  # its files were deleted just now
            raise busy from error

    def status(self) -> IsolatedStatus:
        """Return the state for `status`."""
        state = self.writer.state()
        waits = state.waiting + (not self._ready.is_set())
        return IsolatedStatus(self.tokens, waits, state.pending, state.problems)

    def close(self, timeout: float) -> bool:
        """Stop, and return whether everything has ended."""
        ended = self.writer.stop(timeout) and not self.writer.busy_apart
        if ended:
            self.runtime.close()
        return ended

    def _seen(self, who: str) -> VaultIndex:
        return VaultIndex(self.runtime.within(self.scope, who))

    def _settings(self) -> Settings:
        settings = self._settings_of(self.runtime, lambda: PartRuntime(self._whole, self.scope))
        return replace(settings, reconciled=self._ready.set)

    # --- the writer's thread ----------------------------------------------------------------------

    def _call(
        self, method: str, params: dict[str, Any], progress: Progress, cancel: CancelToken
    ) -> Any:
        """Run a method for a caller."""
        return call(self._seen(params["who"]), params["method"], params["params"], progress, cancel)

    def _renew(self) -> None:
        self.runtime.reload()
        self.runtime.prepare()
        self._ready.clear()
        self.writer.configure(self._settings())


class Parts:
    """The isolated indexes of all tokens. Safe for several threads."""

    def __init__(self, whole: Runtime, settings: SettingsOf) -> None:
        self._whole = whole
        self._settings = settings
        self._tokens = Tokens(whole.home.tokens_file)
        self._parts: dict[Scope, Part] = {}
        self._lock = threading.Lock()
        self._stopped = False

    def __iter__(self) -> Iterator[Part]:
        return iter(tuple(self._parts.values()))

    def follow(self, *, renew: bool = False) -> None:
        """Create and remove indexes to match the tokens; `renew` if the configuration changed."""
        with self._lock:
            if self._stopped:
                return
            try:
                wanted = self._wanted()
            except VaultIndexError as error:  # no token is valid now; keep the existing indexes
                log_event(
                    log, logging.ERROR, "tokens not read", code=error.code, message=error.message
                )
                return
            self._remove(wanted)
            for scope, names in wanted.items():
                part = self._parts.get(scope)
                if part is None and len(self._parts) < _MOST:
                    part = self._parts[scope] = Part(self._whole, scope, self._settings)
                    part.start()
                    log_event(log, logging.INFO, "isolated index", tokens=",".join(names))
                elif part is not None and (renew or part.gone):
                    part.renew()
                if part is not None:
                    part.tokens = names

    def of(self, scope: Scope) -> Part:
        """Return the index of a scope.

        UsageError if no token has it, BusyError if there are too many.
        """
        scope = _plain(scope)
        if scope not in self._parts:
            self.follow()
        part = self._parts.get(scope)
        if part is None and len(self._parts) >= _MOST:
            raise BusyError(
                f"the maximum of {_MOST} isolated indexes is reached",
                "revoke an isolated token: vault-index token revoke NAME",
            )
        if part is None:
            raise UsageError(
                "there is no token with this isolated scope",
                "create one: vault-index token add NAME --isolated",
            )
        return part

    def mark(self, path: str, *, folder: bool = False, gone: bool = False) -> None:
        """Schedule `path` to be read by every part that contains it."""
        for part in self:
            part.mark(path, folder=folder, gone=gone)

    def release(self) -> None:
        """Close idle readers."""
        for part in self:
            part.runtime.pool.close()

    def stop(self, seconds: float) -> bool:
        """Stop all; return whether they ended within `seconds`."""
        with self._lock:
            self._stopped = True
        until = time.monotonic() + seconds
        for part in self:
            part.writer.stop(0.0)
        return not [part for part in self if not part.close(max(until - time.monotonic(), 0.0))]

    def _wanted(self) -> dict[Scope, tuple[str, ...]]:
        """Return the scopes of isolated tokens that have not expired, with the token names."""
        wanted: dict[Scope, tuple[str, ...]] = {}
        now = time.time()
        for token in self._tokens.all():
            scope = _plain(token.caller.scope)
            # Not by project: any file may name one, while an isolated index consists of places.
            if scope.isolated and not scope.projects and not token.expired(now):
                wanted[scope] = (*wanted.get(scope, ()), token.caller.name)
        return wanted

    def _remove(self, wanted: Mapping[Scope, object]) -> None:
        for scope in self._parts.keys() - wanted.keys():
            self._parts.pop(scope).close(1.0)
        kept = {_name(scope) for scope in wanted}
        with suppress(FileNotFoundError):
            for folder in self._whole.home.isolated_dir.iterdir():
                if folder.name not in kept:
                    rmtree(folder, ignore_errors=True)
                    log_event(log, logging.INFO, "isolated index removed", folder=folder.name)


def cut(config: Config, scope: Scope) -> Config:
    """Return the configuration for only this part, without stored or mirrored sessions."""

    def inside(name: str) -> bool:
        return not scope.sources or name in scope.sources

    below = tuple(f"{folder.strip('/')}/" for folder in scope.folders)
    sources = tuple(
        replace(source, below=below) for source in config.sources if inside(source.name)
    )
    # Mirrored sessions are notes of the vault.
    mirrored = config.told if config.sessions.mirror else frozenset()
    clients = {
        name: replace(
            client, enabled=client.enabled and not below and inside(name) and name not in mirrored
        )
        for name, client in config.clients.items()
    }
    written = config.memory_source()
    vault = written.name if written is not None and inside(written.name) else ""
    return replace(
        config,
        sources=sources,
        clients=clients,
        memory=replace(config.memory, vault=vault),
        sessions=replace(config.sessions, mirror="", keep=False),
        sessions_dir=None,
    )


def _plain(scope: Scope) -> Scope:
    """Return the canonical form of a scope."""
    sources, folders, projects = (
        tuple(sorted(set(part))) for part in (scope.sources, scope.folders, scope.projects)
    )
    return Scope(sources, folders, projects, scope.isolated)


def _name(scope: Scope) -> str:
    return hashlib.sha256(json.dumps(_plain(scope)).encode()).hexdigest()[:32]
