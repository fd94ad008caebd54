"""An open home: its settings, its sources, and the connections that read and write its index.

The use cases of `memories` and `health` take it as their first argument. `VaultIndex` owns one; the daemon holds the
same one for what is not public: single steps of embedding, and giving memory back.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from copy import copy
from functools import partial
from typing import TYPE_CHECKING

from vault_index.callers import Scope
from vault_index.config import Config, Home, find_home, load_config
from vault_index.config.home import check_folder
from vault_index.disk import must_be_own
from vault_index.errors import NotFoundError, NotSetUpError
from vault_index.indexer.current_sources import Moments, sessions_of, vaults_of, waiting
from vault_index.indexer.embedders import Embedders
from vault_index.store.pool import Connections, ReadPool
from vault_index.store.reader import IndexReader
from vault_index.store.spaces import read_spaces

if TYPE_CHECKING:  # a question is not to import what writes, and `list` not what searches
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from vault_index.indexer.index_writer import WriteSide
    from vault_index.query.documents import Records
    from vault_index.query.references import Place
    from vault_index.query.search import Searcher
    from vault_index.results.changes import EmbedReport
    from vault_index.sources.source import Source

_MOST_PARTS = 16
"""Scopes whose connections are kept: each holds the ids that it sees, 2 MB for 25,000 notes."""


class Runtime:
    """Reading is safe for several threads at once; `write` belongs to one."""

    def __init__(self, home: Home, config: Config) -> None:
        self.home = home
        self.pool = ReadPool(home)
        self.moments = Moments(home)
        self.scope: Scope | None = None
        """The part of it that a caller from elsewhere sees; None for this machine's user."""
        self.who = ""
        """The name of the token by which they ask."""
        self._parts: dict[Scope, ReadPool] = {}
        self._whole = self
        self._opening = threading.Lock()
        self._configure(config)

    @classmethod
    def open(cls, home: str | Path | Home | None = None, config: str | Path | None = None) -> Runtime:
        """Raises NotSetUpError without a configuration, ConfigError for a wrong one."""
        places = find_home(home, config) if home is None or isinstance(home, str | os.PathLike) else home
        check_folder(places.data_dir)
        for file in (places.index_db, places.cache_db, places.state_db):
            must_be_own(file)
        return cls(places, load_config(places))

    def _configure(self, config: Config) -> None:
        self.config = config
        self.vaults = vaults_of(config)
        """By name; they hold notes and memories."""
        self.sources: tuple[Source, ...] = (*self.vaults.values(), *sessions_of(config, self.vaults))
        self.by_name = {source.config.name: source for source in self.sources}
        self._close_pools()  # their connections answer from the sources that were set up before
        self._parts = {}
        self.pool.sources = self.by_name.keys()
        self.embedders = Embedders(config.embedding)
        self._write: WriteSide | None = None

    @property
    def sees_all(self) -> bool:
        """Whether who asks may see whatever lies in the sources."""
        return self.scope is None or self.scope.whole

    @property
    def hides(self) -> bool:
        """Whether there may be something in the index that who asks does not see."""
        return not self.sees_all

    def holds(self, source: str, path: str, text: str) -> bool:
        """Whether who asks may see a file that says this by now: the index may not have followed yet."""
        if self.scope is None or not self.scope.projects:
            return True
        from vault_index.markdown.frontmatter import read_frontmatter
        from vault_index.markdown.memory import project_in
        from vault_index.markdown.normalize import split_lines

        return self.scope.holds(source, path, project_in(read_frontmatter(split_lines(text)).values))

    @property
    def write(self) -> WriteSide:
        """What writes the index, opened at the first write."""
        if self._whole is not self:
            return self._whole.write
        with self._opening:
            if self._write is None:
                from vault_index.indexer.index_writer import WriteSide

                self._write = WriteSide(self.home, self.config, self.sources, self.embedders, self.moments)
            return self._write

    def embed_step(self, renew: bool = False) -> EmbedReport:
        """Fill the vectors of one small batch; with `renew` begin with all of them anew."""
        return self.write.embed_step(renew)

    def reload(self) -> None:
        """Read the configuration again. Raises ConfigError for a wrong one, and the old one stays in force."""
        config = load_config(self.home)
        write, embedders = self._write, self.embedders
        self._configure(config)
        if write is not None:
            write.close()
        embedders.close()

    def shrink(self) -> None:
        """Give back what only writing needs, on disk and in memory. For the thread that writes, when it is idle."""
        if self._write is not None:
            self._write.shrink()

    def release(self, idle_seconds: float) -> bool:
        """Unload models unused for `idle_seconds`, the tokenizer and idle readers; False if no model was unloaded.

        The next question then takes a moment longer. For any thread.
        """
        released = self.embedders.release(idle_seconds)
        if released:
            self._close_pools()
            if tokens := sys.modules.get("vault_index.tokens"):
                tokens.release()
        return released

    def close(self) -> None:
        if self._write is not None:
            self._write.close()
        self._close_pools()
        self.moments.close()
        self.embedders.close()

    # --- callers from elsewhere ----------------------------------------------------------------------------------

    def within(self, scope: Scope, who: str = "") -> Runtime:
        """The same as a caller sees it whose token is for this part of it. It is not closed: it has nothing of its
        own."""
        part = copy(self)
        part.scope, part.who = scope, who
        if not scope.whole:
            part.pool = self._part(scope)
            seen = self._seen(part.pool, scope)
            part.vaults = {name: one for name, one in self.vaults.items() if name in seen}
            part.sources = tuple(one for one in self.sources if one.config.name in seen)
            part.by_name = {one.config.name: one for one in part.sources}
        return part

    def _part(self, scope: Scope) -> ReadPool:
        """The connections of a scope; those of the scopes that were asked for last are kept."""
        with self._opening:
            pool = self._parts.pop(scope, None)
            if pool is None:
                from vault_index.store.part import PartReader

                pool = ReadPool(self.home, partial(PartReader, scope=scope))
                pool.sources = self.pool.sources
            self._parts[scope] = pool
            gone = self._parts.pop(next(iter(self._parts))) if len(self._parts) > _MOST_PARTS else None
        if gone is not None:
            gone.close()
        return pool

    def _seen(self, pool: ReadPool, scope: Scope) -> Collection[str]:
        """The names of the sources that a caller may know of: those that the token names, else those of which there is
        something to see, and the one that new memories are for."""
        if scope.sources:
            return scope.sources
        home, folder = self.config.memory_source(), f"{self.config.memory.dir}/"
        writes = not scope.folders or any(folder.startswith(one) or one.startswith(folder) for one in scope.below)
        seen: tuple[str, ...] = (home.name,) if home is not None and writes else ()
        with suppress(NotSetUpError), pool.lend() as connections:
            seen += connections.reader.sources
        return seen

    def _close_pools(self) -> None:
        for pool in (self.pool, *self._parts.values()):
            pool.close()

    # --- sources and references --------------------------------------------------------------------------------

    def source_names(self, names: Iterable[str]) -> tuple[str, ...]:
        """The names as the sources have them, whatever the case of those given. Raises NotFoundError for one that no
        source has."""
        known = {name.casefold(): name for name in self.by_name}
        found = []
        for name in names:
            if name.casefold() not in known:
                hint = f"the sources are: {', '.join(self.by_name) or 'none yet'}"
                raise NotFoundError(f"there is no source {name!r}", hint)
            found.append(known[name.casefold()])
        return tuple(found)

    def inside(self, ref: str) -> str:
        """A reference; for an absolute path in a source, the path inside it. Callers from elsewhere know none."""
        if not os.path.isabs(ref) or self.scope is not None:
            return ref
        return next((inside for source in self.sources if (inside := source.relative(ref))), ref)

    def resolve(self, connections: Connections, ref: str, sources: Sequence[str] = ()) -> Place:
        from vault_index.query.references import resolve

        return resolve(connections.reader, ref, memory_dir=self.config.memory.dir, sources=sources)

    def records(self, connections: Connections) -> Records:
        from vault_index.query.documents import Records

        links = {name: source.link for name, source in self.by_name.items()}
        return Records(connections.reader, connections.state, links)

    def pending(self, reader: IndexReader, document_id: int | None = None) -> int:
        """Chunks that will get a vector, of all documents or of one: in the space being built where there is one."""
        row = min(read_spaces(reader), key=lambda row: row.serving, default=None)
        return waiting(reader, row, self.config.embedding.provider, self.moments, document_id)[0]

    def searcher(self, connections: Connections) -> Searcher:
        from vault_index.query.search import Searcher

        limited = self.scope is not None and not self.scope.whole
        return Searcher(
            connections.reader,
            connections.state,
            self.by_name,
            partial(self.embedders.embed_query, connections.state, self.moments, connections.reader, limited),
            self.config.ranking,
            partial(self.pending, connections.reader) if self.hides else None,
        )
