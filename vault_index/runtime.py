"""An open home: its settings, its sources, and the connections that read and write its index.

The use cases of `memories` and `health` take it as their first argument. `VaultIndex` owns one; the daemon holds the
same one for what is not public: single steps of embedding, and giving memory back.
"""

from __future__ import annotations

import os
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING

from vault_index.config import Config, Home, find_home, load_config
from vault_index.config.home import check_folder
from vault_index.disk import must_be_own
from vault_index.errors import NotFoundError
from vault_index.indexer.current_sources import Moments, sessions_of, vaults_of, waiting
from vault_index.indexer.embedders import Embedders
from vault_index.store.reader import Connections, IndexReader, ReadPool
from vault_index.store.spaces import read_spaces

if TYPE_CHECKING:  # a question is not to import what writes, and `list` not what searches
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from vault_index.indexer.index_writer import WriteSide
    from vault_index.query.documents import Records
    from vault_index.query.references import Place
    from vault_index.query.search import Searcher
    from vault_index.results.changes import EmbedReport
    from vault_index.sources.source import Source


class Runtime:
    """Reading is safe for several threads at once; `write` belongs to one."""

    def __init__(self, home: Home, config: Config) -> None:
        self.home = home
        self.pool = ReadPool(home)
        self.moments = Moments(home)
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
        self.pool.close()  # its connections answer from the sources that were set up before
        self.pool.sources = self.by_name.keys()
        self.embedders = Embedders(config.embedding)
        self._write: WriteSide | None = None

    @property
    def write(self) -> WriteSide:
        """What writes the index, opened at the first write."""
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
            self.pool.close()
            if tokens := sys.modules.get("vault_index.tokens"):
                tokens.release()
        return released

    def close(self) -> None:
        if self._write is not None:
            self._write.close()
        self.pool.close()
        self.moments.close()
        self.embedders.close()

    # --- sources and references --------------------------------------------------------------------------------

    def source_names(self, names: Iterable[str]) -> tuple[str, ...]:
        """The same names. Raises NotFoundError for one that no source has."""
        names = tuple(names)
        for name in names:
            if name not in self.by_name:
                known = ", ".join(self.by_name) or "none yet"
                raise NotFoundError(f"there is no source {name!r}", f"the sources are: {known}")
        return names

    def inside(self, ref: str) -> str:
        """A reference; for an absolute path in a source, the path inside that source."""
        if not os.path.isabs(ref):
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

        return Searcher(
            connections.reader,
            connections.state,
            self.by_name,
            partial(self.embedders.embed_query, connections.state, self.moments),
            self.config.ranking,
        )
