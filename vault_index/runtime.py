"""An open home: its settings, its sources, and the connections to its index.

The use cases of `memories` and `health` take it as their first argument. `VaultIndex` owns one. The
daemon uses its non-public parts: single steps of embedding, and freeing memory.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from contextlib import suppress
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

from vault_index.callers import Scope
from vault_index.config import Config, EmbeddingConfig, Home, find_home, load_config
from vault_index.config.home import check_folder
from vault_index.disk import must_be_own
from vault_index.errors import EmbedderRefused, NotFoundError, NotSetUpError, VaultIndexError
from vault_index.indexer.current_sources import Moments, sources_of_agents, vaults_of, waiting
from vault_index.models import Filters, QueryOrigins, Vector, VectorSpace
from vault_index.store.pool import Connections, ReadPool
from vault_index.store.reader import IndexReader
from vault_index.store.records import SpaceRow
from vault_index.store.spaces import document_states, read_spaces
from vault_index.store.state import State

if TYPE_CHECKING:  # keeps start-up fast: a query does not import the writer, nor `list` the search
    from collections.abc import Callable, Collection, Iterable, Sequence
    from pathlib import Path

    from vault_index.embeddings import Embedder
    from vault_index.indexer.index_writer import WriteSide
    from vault_index.indexer.machine import Machine
    from vault_index.indexer.outbound import Now
    from vault_index.query.documents import Records
    from vault_index.query.references import Place
    from vault_index.query.search import Searcher, SearchOptions
    from vault_index.results.changes import EmbedReport
    from vault_index.results.search import SearchResult
    from vault_index.sources.source import Source

_LONGEST_QUESTION = 4000
"""Maximum query length in characters, about the largest passage.

Each further thousand costs the local model 60 ms.
"""
_MOST_REMINDED = 10_000
_MOST_PARTS = 16
"""Maximum number of scopes with open connections; each holds the ids of its documents, 2 MB for
25,000 notes.
"""


class Runtime:
    """The settings, sources and connections of one home.

    Reading is safe from several threads at once; `write` belongs to one.
    """

    def __init__(self, home: Home, config: Config) -> None:
        self.home = home
        self.pool = ReadPool(home)
        self.moments = Moments(home)
        self.scope: Scope | None = None
        """The part of the index that a caller of `serve` may see; None for this machine's user."""
        self.author = ""
        """The name of the caller's token."""
        self.reminded = deque[tuple[str, str]](maxlen=_MOST_REMINDED)
        """Which session was reminded of which memory by `remind`."""
        self._parts: dict[Scope, ReadPool] = {}
        self._whole = self
        self._opening = threading.Lock()
        self._configure(config)

    @classmethod
    def open(
        cls, home: str | Path | Home | None = None, config: str | Path | None = None
    ) -> Runtime:
        """Open a home.

        Raises NotSetUpError without a configuration, ConfigError for an invalid one.
        """
        places = (
            find_home(home, config) if home is None or isinstance(home, str | os.PathLike) else home
        )
        check_folder(places.data_dir)
        for file in (places.index_db, places.cache_db, places.state_db):
            must_be_own(file)
        return cls(places, load_config(places))

    def _configure(self, config: Config) -> None:
        self.config = config
        self.vaults = vaults_of(config)
        """Vaults, which hold notes and memories, by name."""
        self.sources: tuple[Source, ...] = (
            *self.vaults.values(),
            *sources_of_agents(config, self.vaults),
        )
        self.by_name = {source.config.name: source for source in self.sources}
        self._names: Callable[[], Collection[str]] = self.by_name.keys
        self._close_pools()  # their connections still use the old sources
        self._parts = {}
        self.pool.sources = self.by_name.keys()
        self.embedders = Embedders(config.embedding)
        self._hinted: set[str] = set()
        self._write: WriteSide | None = None

    @property
    def sees_all(self) -> bool:
        """Whether the caller may see all documents."""
        return self.scope is None or self.scope.whole

    @property
    def hides(self) -> bool:
        """Whether the index may hold documents that the caller may not see."""
        return not self.sees_all

    def holds(self, source: str, path: str, text: str) -> bool:
        """Return whether the caller may see a file with this text, indexed or not."""
        if self.scope is None or not self.scope.projects:
            return True
        from vault_index.markdown.frontmatter import project_in, read_frontmatter
        from vault_index.markdown.normalize import split_lines

        return self.scope.holds(
            source, path, project_in(read_frontmatter(split_lines(text)).values)
        )

    @property
    def write(self) -> WriteSide:
        """The writer of the index, opened at the first write."""
        if self._whole is not self:
            return self._whole.write
        with self._opening:
            if self._write is None:
                from vault_index.indexer.index_writer import WriteSide

                pool = None
                if self.config.pool.vectors and self.config.pool.dsn:
                    from vault_index.team.shared_vectors import PoolVectors

                    pool = PoolVectors(self.config.pool)
                self._write = WriteSide(
                    self.home,
                    self.config,
                    self.sources,
                    self.embedders.configured,
                    self.moments,
                    pool,
                )
            return self._write

    def embed_step(self, renew: bool = False) -> EmbedReport:
        """Embed one small batch; with `renew`, first discard all vectors."""
        return self.write.embed_step(renew)

    def search_servers(
        self,
        connections: Connections,
        wanted: SearchOptions,
        params: dict[str, Any],
        own: Callable[[SearchOptions], SearchResult],
    ) -> SearchResult:
        """Search the other servers (`Config.servers`), too."""
        from vault_index.indexer.outbound import Question
        from vault_index.remotes.served import search

        found = partial(document_states, connections.reader)
        question = Question(wanted.origins, wanted.filters, found)
        return search(self.machine(), question, params, wanted, own)

    def machine(self) -> Machine:
        """Return what a publication to the team's pool needs."""
        from vault_index.indexer.machine import Machine

        return Machine(self.home, self.config, self.pool, self.moments, self.by_name)

    def reload(self) -> None:
        """Read the configuration again.

        Raises ConfigError for an invalid one and keeps the old one.
        """
        config = load_config(self.home)
        write, embedders = self._write, self.embedders
        self._configure(config)
        if write is not None:
            write.close()
        embedders.close()

    def shrink(self) -> None:
        """Free disk space and memory that only writing needs.

        Call it from the writer's thread, when idle.
        """
        if self._write is not None:
            self._write.shrink()

    def release(self, idle_seconds: float) -> bool:
        """Unload models unused for `idle_seconds`, the tokenizer and idle readers.

        False if no model was unloaded. The next query then takes a moment longer. Safe in any
        thread.
        """
        released = self.embedders.release(idle_seconds)
        if released:
            self._close_pools()
            if tokens := sys.modules.get("vault_index.tokens"):
                tokens.release()
        return released

    def close(self) -> None:
        """Close the writer, all connections and the embedders."""
        if self._write is not None:
            self._write.close()
        self._close_pools()
        self.moments.close()
        self.embedders.close()

    # --- callers from elsewhere -------------------------------------------------------------------

    def within(self, scope: Scope, author: str = "") -> Runtime:
        """Return a view of this runtime for a caller with this scope and token name.

        The view owns no resources and needs no closing.
        """
        part = copy(self)
        part.scope, part.author = scope, author
        if not scope.whole:
            part.pool = self._part(scope)
            seen = self._seen(part.pool, scope)
            part.vaults = {name: one for name, one in self.vaults.items() if name in seen}
            part.sources = tuple(one for one in self.sources if one.config.name in seen)
            part.by_name = {one.config.name: one for one in part.sources}
            part._names = part.by_name.keys
        return part

    def of_pool(self, pool: ReadPool, names: Callable[[], Collection[str]]) -> Runtime:
        """Return a view of a team's pool, which hides by itself what the caller may not see.

        `names` returns the names of its sources; none of them is on this machine.
        """
        part = copy(self)
        part.scope, part.pool, part._names = Scope(), pool, names
        part.vaults, part.sources, part.by_name = {}, (), {}
        return part

    def _part(self, scope: Scope) -> ReadPool:
        """Return the connections of a scope; the most recently used scopes keep theirs."""
        with self._opening:
            pool = self._parts.pop(scope, None)
            if pool is None:
                from vault_index.store.part import PartReader

                pool = ReadPool(self.home, partial(PartReader, scope=scope))
                pool.sources = self.pool.sources
            self._parts[scope] = pool
            gone = (
                self._parts.pop(next(iter(self._parts))) if len(self._parts) > _MOST_PARTS else None
            )
        if gone is not None:
            gone.close()
        return pool

    def _seen(self, pool: ReadPool, scope: Scope) -> Collection[str]:
        """Return the names of the sources that a caller may know.

        If the scope names no sources, these are the sources with visible documents, and the one for
        new memories if the caller may write there.
        """
        if scope.sources:
            return scope.sources
        home, folder = self.config.memory_source(), f"{self.config.memory.dir}/"
        writes = not scope.folders or any(
            folder.startswith(one) or one.startswith(folder) for one in scope.below
        )
        seen: tuple[str, ...] = (home.name,) if home is not None and writes else ()
        with suppress(NotSetUpError), pool.lend() as connections:
            seen += connections.reader.sources
        return seen

    def _close_pools(self) -> None:
        for pool in (self.pool, *self._parts.values()):
            pool.close()

    # --- sources and references -------------------------------------------------------------------

    def source_names(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the configured spelling of source names, which are case-insensitive.

        Raises NotFoundError.
        """
        known = {name.casefold(): name for name in self._names()}
        found = []
        for name in names:
            if name.casefold() not in known:
                hint = f"the sources are: {', '.join(known.values()) or 'none yet'}"
                raise NotFoundError(f"there is no source {name!r}", hint)
            found.append(known[name.casefold()])
        return tuple(found)

    def inside(self, ref: str) -> str:
        """Replace an absolute path in a source by the path inside it, except for `serve`."""
        if not os.path.isabs(ref) or self.scope is not None:
            return ref
        return next((inside for source in self.sources if (inside := source.relative(ref))), ref)

    def resolve(self, connections: Connections, ref: str, sources: Sequence[str] = ()) -> Place:
        """Return the document of a reference, looked up in `sources` (all if empty).

        Raises NotFoundError.
        """
        from vault_index.query.references import resolve

        return resolve(connections.reader, ref, memory_dir=self.config.memory.dir, sources=sources)

    def records(self, connections: Connections) -> Records:
        """Return the reader of document records, with links into their sources."""
        from vault_index.query.documents import Records

        links = {name: source.link for name, source in self.by_name.items()}
        return Records(connections.reader, connections.state, links)

    def pending(self, reader: IndexReader, document_id: int | None = None) -> int:
        """Count the chunks that wait for a vector, of all documents or of one.

        If a new space is being built, count the chunks of that one.
        """
        row = min(read_spaces(reader), key=lambda row: row.serving, default=None)
        return waiting(reader, row, self.config.embedding.provider, self.moments, document_id)[0]

    def searcher(self, connections: Connections) -> Searcher:
        """Return the search over these connections."""
        from vault_index.query.search import Searcher

        limited = self.scope is not None and not self.scope.whole
        return Searcher(
            connections.reader,
            connections.state,
            self.by_name,
            partial(
                self.embedders.embed_query,
                connections.state,
                self.moments,
                connections.reader,
                limited,
            ),
            self.config.ranking,
            partial(self.pending, connections.reader) if self.hides else None,
            self._hinted,
        )


class Embedders:
    """Opens each embedder once; safe for several threads."""

    def __init__(self, config: EmbeddingConfig) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._configured: Embedder | None = None
        self._by_space: dict[VectorSpace, Embedder] = {}

    def configured(self) -> Embedder | None:
        """Return the configured embedder; None for provider `none`.

        Raises EmbedderError, ConfigError.
        """
        from vault_index.embeddings import open_embedder

        with self._lock:
            if self._configured is None and (opened := open_embedder(self._config)) is not None:
                # If an embedder of this space is open, use it, so that a model is not loaded twice.
                self._configured = self._by_space.setdefault(opened.space, opened)
                if self._configured is not opened:
                    opened.close()
            return self._configured

    def prepare(self, space: SpaceRow | None, text: str) -> None:
        """Start loading the model of a space before a query is parsed.

        Not for non-ASCII text, which the English model may not support.
        """
        if space is not None and text.isascii():
            with suppress(VaultIndexError):  # `embed_query` raises it again
                self._for_space(space.space).prepare()

    def embed_query(
        self,
        state: State,
        now: Now,
        reader: IndexReader,
        limited: bool,
        space: SpaceRow,
        text: str,
        origins: QueryOrigins,
        filters: Filters,
    ) -> Vector:
        """Return the vector of a query in `space`; its model may be the one being replaced.

        A long query is truncated. `limited`: whether `reader` shows only a part of the index.
        """
        embedder = self._for_space(space.space)
        if not embedder.remote:
            return embedder.embed_query(text[:_LONGEST_QUESTION])
        # Imported here because it is slow, and only remote embedders need it.
        from vault_index.indexer.outbound import Outbound, Question

        question = Question(origins, filters, partial(document_states, reader), limited)
        return Outbound(embedder, state, now).embed_query(text, _LONGEST_QUESTION, question)

    def release(self, unused: float) -> bool:
        """Free the memory of models unused for `unused` seconds. Returns whether any was freed."""
        with self._lock:
            released = [embedder.release(unused) for embedder in self._by_space.values()]
            return any(released)

    def close(self) -> None:
        """Close all embedders."""
        with self._lock:
            for embedder in self._by_space.values():
                embedder.close()
            self._configured, self._by_space = None, {}

    def _for_space(self, space: VectorSpace) -> Embedder:
        from vault_index.embeddings import open_embedder

        with self._lock:
            if space not in self._by_space:
                embedder = open_embedder(self._config, space)
                if embedder is None:
                    raise EmbedderRefused(
                        "no embedder is configured",
                        "set embedding.provider, or search with --mode text",
                    )
                self._by_space[space] = embedder
            return self._by_space[space]
