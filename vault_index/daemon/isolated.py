"""The indexes of their own that isolated tokens have: of a part of the vaults each, kept up to date as the whole one.

A part is as the home of a user who indexes nothing else, but for what is one for all: the settings, the vectors by
content, and the state as far as privacy and spending go by it (the ledger, the origins, what was forgotten). Sessions
are read where their clients have them: those that are kept of others belong to the whole.
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
"""Each has a thread that writes, and connections."""
_READY_SECONDS = 2.0
"""So long a question waits for an index that is being made, as after a start: whoever waits keeps others waiting."""

SettingsOf = Callable[[Runtime, Callable[[], Runtime]], Settings]
"""What the configuration says about the writer of an index, given the index, and how it is opened once more."""


class PartHome(Home):
    """The places of a part: a folder in that of the whole."""

    __slots__ = ()

    @property
    def cache_db(self) -> Path:
        return self._whole / "cache.db"

    @property
    def ledger_db(self) -> Path:
        return self._whole / "state.db"

    @property
    def _whole(self) -> Path:
        return self.data_dir.parent.parent


class PartRuntime(Runtime):
    """What a part has for itself: its sources and its connections."""

    def __init__(self, whole: Runtime, scope: Scope) -> None:
        self._main, self._cut = whole, scope
        home = PartHome(*whole.home._replace(data_dir=whole.home.isolated_dir / _name(scope)))
        super().__init__(home, cut(whole.config, scope))
        self.moments = whole.moments

    def _configure(self, config: Config) -> None:
        super()._configure(config)
        self.embedders = self._main.embedders

    def prepare(self) -> None:
        """Begin what is not there: before its index, which would miss a state later."""
        private_folder(self.home.data_dir.parent)
        private_folder(self.home.data_dir)
        with closing(State(self.home.state_db)) as state:
            state.database()

    def reload(self) -> None:
        """Take the configuration that the whole has now."""
        write = self._write
        self._configure(cut(self._main.config, self._cut))
        if write is not None:
            write.close()

    def close(self) -> None:
        if self._write is not None:
            self._write.close()
        self._close_pools()

    def within(self, scope: Scope, who: str = "") -> Runtime:
        """As the caller sees it who has it: of the index nothing is hidden, but of what else is on this machine."""
        seen = copy(self)
        seen.scope, seen.who = scope, who
        return seen


class Part:
    """One index, with the thread that writes it."""

    def __init__(self, whole: Runtime, scope: Scope, settings: SettingsOf) -> None:
        self.scope = scope
        self.tokens: tuple[str, ...] = ()
        self.runtime = PartRuntime(whole, scope)
        self._whole, self._settings_of = whole, settings
        self._ready = threading.Event()
        self.writer = Writer(VaultIndex(self.runtime), self._call, self._settings())

    def start(self) -> None:
        self.runtime.prepare()
        self.writer.start()

    @property
    def gone(self) -> bool:
        """Whether its files were deleted, as something was deleted for good."""
        home = self.runtime.home
        return not home.data_dir.exists() or (self._ready.is_set() and not home.index_db.exists())

    def renew(self) -> None:
        """Take new settings, or begin anew where the files are gone."""
        self._ready.clear()
        self.writer.call(self._renew)

    def mark(self, path: str, *, folder: bool = False, gone: bool = False) -> None:
        if any(source.relative(path) is not None for source in self.runtime.sources):
            self.writer.mark(path, folder=folder, gone=gone)

    def answer(self, who: str, method: str, params: Mapping[str, Any], progress: Progress) -> Any:
        """For the token `who`. In the thread of a connection. Raises BusyError while the index is being made."""
        busy = BusyError("the index of this token is being made", "try again in a moment")
        if not self._ready.wait(_READY_SECONDS):
            raise busy
        try:
            if method in WRITING:
                return self.writer.submit("served", {"who": who, "method": method, "params": params}).follow(progress)
            return call(self._seen(who), method, dict(params))
        except NotSetUpError as error:  # its files were deleted just now
            raise busy from error

    def status(self) -> IsolatedStatus:
        state = self.writer.state()
        waits = state.waiting + (not self._ready.is_set())
        return IsolatedStatus(self.tokens, waits, state.pending, state.problems)

    def close(self, timeout: float) -> bool:
        """Whether nothing of it is at work any more."""
        ended = self.writer.stop(timeout) and not self.writer.busy_apart
        if ended:
            self.runtime.close()
        return ended

    def _seen(self, who: str) -> VaultIndex:
        return VaultIndex(self.runtime.within(self.scope, who))

    def _settings(self) -> Settings:
        settings = self._settings_of(self.runtime, lambda: PartRuntime(self._whole, self.scope))
        return replace(settings, reconciled=self._ready.set)

    # --- the writer's thread -----------------------------------------------------------------------------------

    def _call(self, method: str, params: dict[str, Any], progress: Progress, cancel: CancelToken) -> Any:
        """Of callers alone."""
        return call(self._seen(params["who"]), params["method"], params["params"], progress, cancel)

    def _renew(self) -> None:
        self.runtime.reload()
        self.runtime.prepare()
        self._ready.clear()
        self.writer.configure(self._settings())


class Parts:
    """All of them, as the tokens say. For any thread."""

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
        """Have the indexes that tokens name, and no others. With `renew` the configuration is another one."""
        with self._lock:
            if self._stopped:
                return
            try:
                wanted = self._wanted()
            except VaultIndexError as error:  # nobody is let in by such a file; what there is stays
                log_event(log, logging.ERROR, "tokens not read", code=error.code, message=error.message)
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
        """Raises UsageError for a scope that no token has, BusyError where there are too many."""
        scope = _plain(scope)
        if scope not in self._parts:
            self.follow()
        part = self._parts.get(scope)
        if part is None and len(self._parts) >= _MOST:
            raise BusyError(
                f"there are {_MOST} isolated indexes, and no more can be", "revoke a token that is isolated"
            )
        if part is None:
            raise UsageError("there is no token with this isolated scope", "make one: vault-index token add --isolated")
        return part

    def mark(self, path: str, *, folder: bool = False, gone: bool = False) -> None:
        for part in self:
            part.mark(path, folder=folder, gone=gone)

    def release(self) -> None:
        """Give back idle readers."""
        for part in self:
            part.runtime.pool.close()

    def stop(self, seconds: float) -> bool:
        """Whether all came to their end in that time."""
        with self._lock:
            self._stopped = True
        until = time.monotonic() + seconds
        for part in self:
            part.writer.stop(0.0)
        return not [part for part in self if not part.close(max(until - time.monotonic(), 0.0))]

    def _wanted(self) -> dict[Scope, tuple[str, ...]]:
        """The scopes of those that have not expired, and the names of their tokens."""
        wanted: dict[Scope, tuple[str, ...]] = {}
        now = time.time()
        for token in self._tokens.all():
            scope = _plain(token.caller.scope)
            # Of a project: a file may say so that lies anywhere, and an index of its own has places.
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
    """The configuration of a user who indexes nothing but that part, and to whom no sessions are kept or written."""

    def inside(name: str) -> bool:
        return not scope.sources or name in scope.sources

    below = tuple(f"{folder.strip('/')}/" for folder in scope.folders)
    sources = tuple(replace(source, below=below) for source in config.sources if inside(source.name))
    mirrored = config.told if config.sessions.mirror else frozenset()  # those are notes of the vault
    clients = {
        name: replace(client, enabled=client.enabled and not below and inside(name) and name not in mirrored)
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
    """The same for all that mean the same."""
    sources, folders, projects = (tuple(sorted(set(part))) for part in (scope.sources, scope.folders, scope.projects))
    return Scope(sources, folders, projects, scope.isolated)


def _name(scope: Scope) -> str:
    return hashlib.sha256(json.dumps(_plain(scope)).encode()).hexdigest()[:32]
