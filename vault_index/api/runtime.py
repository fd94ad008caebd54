"""What every part of `VaultIndex` stands on: its home, its configuration, its sources, its connections."""

from __future__ import annotations

import os
import sys
import threading

from vault_index.api.options import FILTER_KEYS, LISTS, FilterOptions, Names, names, whole
from vault_index.config import find_home, load_config
from vault_index.config.home import Home
from vault_index.errors import NotFoundError, UsageError
from vault_index.indexer.current_sources import Moments, sessions_of, vaults_of
from vault_index.indexer.embedders import Embedders
from vault_index.models import Filters
from vault_index.store.reader import Connections, ReadPool

TYPE_CHECKING = False  # spares the import of what most questions do not need; type checkers know the name
if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from vault_index.config import Config
    from vault_index.indexer.index_writer import WriteSide
    from vault_index.models import RawDocument
    from vault_index.query.documents import Records
    from vault_index.query.references import Place
    from vault_index.query.search import Searcher
    from vault_index.sources.source import Source
    from vault_index.store.records import StoredDocument


class Core:
    """An open home. The parts of `VaultIndex` are built on it."""

    def __init__(self, home: Home, config: Config) -> None:
        self.home = home
        self._pool = ReadPool(home)
        self._making = threading.Lock()
        self._moments = Moments(home)
        self._wire(config)

    def _wire(self, config: Config) -> None:
        self.config = config
        self._vaults = vaults_of(config)
        self.sources: tuple[Source, ...] = (*self._vaults.values(), *sessions_of(config, self._vaults))
        self._by_name = {source.config.name: source for source in self.sources}
        self._embedders = Embedders(config.embedding)
        self._write_side: WriteSide | None = None

    @property
    def _write(self) -> WriteSide:
        """Made when something is to be written: reading needs none of it."""
        with self._making:
            if self._write_side is None:
                from vault_index.indexer.index_writer import WriteSide

                self._write_side = WriteSide(self.home, self.config, self.sources, self._embedders, self._moments)
            return self._write_side

    @classmethod
    def open(cls, home: str | Path | Home | None = None, config: str | Path | None = None) -> Self:
        """Open the index of `home` (default: VAULT_INDEX_HOME, else the XDG folders). Nothing is created.

        Raises NotSetUpError without a configuration, ConfigError for a wrong one.
        """
        places = home if isinstance(home, Home) else find_home(home, config)
        return cls(places, load_config(places))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def reload(self) -> None:
        """Read the configuration again. Raises ConfigError for a wrong one, and the old one stays in force."""
        config = load_config(self.home)
        write_side, embedders = self._write_side, self._embedders
        self._wire(config)
        if write_side is not None:
            write_side.close()
        embedders.close()

    def shrink(self) -> None:
        """When there was nothing to write for a while: give back what only writing needs, on the disk and in memory.
        For the thread that writes."""
        if self._write_side is not None:
            self._write_side.shrink()

    def release(self, unused: float) -> bool:
        """Give back the memory of a model that had nothing to do for so many seconds, of the tokenizer and of idle
        readers; whether there was any. The next question takes a moment longer. For any thread."""
        released = self._embedders.release(unused)
        if released:
            self._pool.close()
            if tokens := sys.modules.get("vault_index.tokens"):
                tokens.release()
        return released

    def close(self) -> None:
        if self._write_side is not None:
            self._write_side.close()
        self._pool.close()
        self._embedders.close()

    def _searcher(self, connections: Connections) -> Searcher:
        from vault_index.query.search import Searcher

        return Searcher(
            connections.reader,
            connections.cache,
            self._by_name,
            lambda space, text: self._embedders.embed_query(connections.cache, space, text),
            self.config.ranking,
        )

    def _resolve(self, connections: Connections, ref: str, source: Names) -> Place:
        from vault_index.query.references import resolve

        return resolve(connections.reader, ref, memory_dir=self.config.memory.dir, sources=self._sources_named(source))

    def _inside(self, ref: str) -> str:
        """A reference; an absolute path as it is called inside its source."""
        if not os.path.isabs(ref):
            return ref
        return next((inside for source in self.sources if (inside := source.relative(ref))), ref)

    def _read(self, document: StoredDocument) -> RawDocument:
        """The text as it is now: the file is the truth, the index only knew where it is."""
        owner = self._source(document.source)
        found = owner.look(document.path)
        if found is None:
            raise NotFoundError(f"{document.path} is gone since it was indexed", "run `vault-index sync`")
        return owner.read(found)

    def _records(self, connections: Connections) -> Records:
        from vault_index.query.documents import Records

        links = {name: source.link for name, source in self._by_name.items()}
        return Records(connections.reader, connections.cache, links)

    def _source(self, name: str) -> Source:
        if name not in self._by_name:
            known = ", ".join(self._by_name) or "none yet"
            raise NotFoundError(f"there is no source {name!r}", f"the sources are: {known}")
        return self._by_name[name]

    def _sources_named(self, value: Names) -> tuple[str, ...]:
        return tuple(self._source(name).config.name for name in names(value))

    def _filters(self, **options: Names) -> Filters:
        from vault_index.query.language.filters import add_filter

        filters = Filters(sources=self._sources_named(options.pop("source", None)))
        for option, values in options.items():
            if option not in FilterOptions.__annotations__:
                raise UsageError(
                    f"there is no filter {option!r}", f"filters are {', '.join(FilterOptions.__annotations__)}"
                )
            for value in names(values) if option in LISTS else whole(values):
                filters = add_filter(filters, FILTER_KEYS.get(option, option), value)
        return filters
