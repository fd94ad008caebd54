"""`VaultIndex`: everything the commands, the daemon and the MCP server do, as Python calls."""

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, Unpack

from vault_index.answers import (
    AgentList,
    DaemonStatus,
    DoctorReport,
    DocumentList,
    EmbedPlan,
    EmbedReport,
    EmbedStatus,
    Privacy,
    RecallReport,
    RelatedList,
    SearchResult,
    Stats,
    Status,
    SyncReport,
    TagList,
    Texts,
    Timeline,
    WatchStatus,
    Why,
)
from vault_index.api.arguments import (
    ASKING,
    FILTER_KEYS,
    LISTS,
    AskOptions,
    FilterOptions,
    Names,
    at_least,
    names,
    places_in,
    whole,
)
from vault_index.api.embedders import Embedders
from vault_index.api.pool import Connections, ReadPool
from vault_index.api.writing import WriteSide, no_progress
from vault_index.config import Config, Home, find_home, load_config
from vault_index.errors import NotFoundError, UsageError
from vault_index.indexer.sync import Progress
from vault_index.models import Filters, RawDocument
from vault_index.sources.vault import VaultSource
from vault_index.store.rows import StoredDocument

TYPE_CHECKING = False  # spares the import of the query modules; type checkers know the name
if TYPE_CHECKING:
    from vault_index.query.listing import Records
    from vault_index.query.references import Place
    from vault_index.query.search import Searcher, SearchOptions


class VaultIndex:
    """One index: its home, its configuration, its sources.

        with VaultIndex.open() as index:
            index.sync()
            for hit in index.search("wal mode", limit=3).results:
                print(hit.path, hit.lines, hit.snippet)

    Reading methods may be called from several threads at once and never wait for a writer. Writing methods (sync,
    rebuild, embed) take turns with other processes, and belong to one thread.
    """

    def __init__(self, home: Home, config: Config) -> None:
        self.home = home
        self._pool = ReadPool(home)
        self._wire(config)

    def _wire(self, config: Config) -> None:
        self.config = config
        self.sources = tuple(VaultSource(source) for source in config.sources)
        self._by_name = {source.config.name: source for source in self.sources}
        self._embedders = Embedders(config.embedding)
        self._write = WriteSide(self.home, config, self.sources, self._embedders)

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
        write, embedders = self._write, self._embedders
        self._wire(config)
        write.close()
        embedders.close()

    def close(self) -> None:
        self._write.close()
        self._pool.close()
        self._embedders.close()

    # --- bringing it up to date --------------------------------------------------------------------------------

    def sync(
        self,
        paths: Sequence[str | Path] | None = None,
        *,
        dry_run: bool = False,
        embed: bool = True,
        source: Names = None,
        progress: Progress = no_progress,
    ) -> SyncReport:
        """Compare files and index, and change the index. `paths`: only these files and folders of the sources."""
        if paths is None:
            places = {name: [""] for name in self._sources_named(source)} or None
        else:
            places = places_in(self.sources, paths)
        return self._write.sync(places, dry_run=dry_run, embed=embed, progress=progress)

    def rebuild(self, *, embed: bool = True, progress: Progress = no_progress) -> SyncReport:
        """Read every file again, in place: old rows stay searchable until their new ones are there."""
        return self._write.sync(None, dry_run=False, embed=embed, progress=progress, everything=True)

    def embed(self, *, rebuild: bool = False, progress: Progress = no_progress) -> EmbedReport:
        """Fill the missing vectors; with `rebuild` compute all of them again, beside the serving ones."""
        return self._write.embed(rebuild=rebuild, progress=progress)

    def embed_plan(self) -> EmbedPlan:
        """What filling the vectors would send and cost."""
        from vault_index.api.report import embed_plan

        with self._pool.lend() as connections:
            return embed_plan(connections, self.config, self._embedders)

    def embed_status(self) -> EmbedStatus:
        """How far the vectors are."""
        from vault_index.api.report import embed_status

        with self._pool.lend() as connections:
            return embed_status(connections, self.config.embedding.daily_token_limit)

    def embed_step(self) -> EmbedReport:
        """Fill the vectors of one small batch."""
        return self._write.embed_step()

    # --- asking ------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        offset: int = 0,
        explain: bool = False,
        **options: Unpack[AskOptions],
    ) -> SearchResult:
        """The passages that answer `query`, best first. The filters among the options are those of the query language;
        with `explain` each hit says why it is where it is, and the answer how the query was read."""
        wanted = self._search_options(options, limit=limit, offset=offset, explain=explain)
        with self._pool.lend() as connections:
            return self._searcher(connections).search(query, wanted)

    def why(self, query: str, ref: str, *, limit: int | None = None, **options: Unpack[AskOptions]) -> Why:
        """Why `search` finds the passage at `ref` (a reference as `get` takes it, or a path of a file) or does not.

        Raises NotFoundError where there is neither a document nor a file.
        """
        from vault_index.query.why import why, why_not_indexed

        wanted = self._search_options(options, limit=limit)
        with self._pool.lend() as connections:
            try:
                place = self._resolve(connections, self._inside(ref), None)
            except NotFoundError:
                left_out = why_not_indexed(self.sources, query, ref, wanted)
                if left_out is None:
                    raise
                return left_out
            return why(self._searcher(connections), connections.reader, query, place, wanted)

    def _inside(self, ref: str) -> str:
        """A reference; an absolute path as it is called inside its source."""
        if not os.path.isabs(ref):
            return ref
        return next((inside for source in self.sources if (inside := source.relative(ref))), ref)

    def get(
        self,
        ref: Names,
        *,
        full: bool = False,
        max_tokens: int | None = None,
        neighbors: int = 0,
        source: Names = None,
    ) -> Texts:
        """The text of each reference: an id or its prefix, a path, `path:10-42`, `[[Note#Heading]]`.

        Raises NotFoundError, and UsageError for an ambiguous id.
        """
        from vault_index.query.get import full_metadata, read_place, with_neighbors

        if max_tokens is not None:
            at_least(1, "max_tokens", max_tokens, 1)
        texts = []
        with self._pool.lend() as connections:
            reader, cache = connections.reader, connections.cache
            for reference in whole(ref):
                place = self._resolve(connections, reference, source)
                place = with_neighbors(reader, place, neighbors)
                document = place.document
                raw = self._read(document)
                counted = document.tokens if raw.ref.stamp == document.stamp else None
                text = read_place(place, raw.text, max_tokens=max_tokens, whole_tokens=counted)
                if full:
                    link = self._source(document.source).link(document.path)
                    accesses = cache.accesses([document.uid]).get(document.uid, 0)
                    text = replace(text, metadata=full_metadata(reader, document, link, accesses))
                cache.record_access(document.uid, time.time())
                texts.append(text)
        return Texts(tuple(texts))

    def _read(self, document: StoredDocument) -> RawDocument:
        """The text as it is now: the file is the truth, the index only knew where it is."""
        owner = self._source(document.source)
        found = owner.look(document.path)
        if found is None:
            raise NotFoundError(f"{document.path} is gone since it was indexed", "run `vault-index sync`")
        return owner.read(found)

    def list(
        self,
        *,
        sort: str = "created",
        order: Literal["asc", "desc"] | None = None,
        limit: int = 20,
        offset: int = 0,
        **filters: Unpack[FilterOptions],
    ) -> DocumentList:
        """Documents, newest first unless `sort` and `order` say otherwise."""
        from vault_index.query.listing import list_documents

        with self._pool.lend() as connections:
            return list_documents(
                connections.reader,
                connections.cache,
                self._records(connections),
                self._filters(**filters),
                sort=sort,
                order=order,
                limit=at_least(1, "limit", limit, 20),
                offset=at_least(0, "offset", offset, 0),
            )

    def related(
        self,
        ref: str,
        *,
        limit: int = 10,
        offset: int = 0,
        **filters: Unpack[FilterOptions],
    ) -> RelatedList:
        """Documents that `ref` links to, that link to it, and that are near it in meaning. The filters concern them.

        Of a place (`path:10-42`, `[[Note#Heading]]`) the links and the meaning of its lines count. Raises as `get`.
        """
        from vault_index.query.related import related_documents

        with self._pool.lend() as connections:
            return related_documents(
                connections.reader,
                self._records(connections),
                self._resolve(connections, ref, filters.get("source")),
                self._filters(**filters),
                now=time.time(),
                limit=at_least(1, "limit", limit, 10),
                offset=at_least(0, "offset", offset, 0),
            )

    def timeline(
        self,
        ref: str | None = None,
        *,
        query: str | None = None,
        depth_before: int = 5,
        depth_after: int = 5,
        type: Names = None,
        kind: Names = None,
        project: Names = None,
        source: Names = None,
    ) -> Timeline:
        """The documents created before and after `ref`, or after the best hit of `query`; the filters concern them.

        Raises as `get`, and NotFoundError for a query that finds nothing.
        """
        from vault_index.query.timeline import timeline_around

        if (ref is None) == (query is None):
            raise UsageError(
                "a timeline is around one document", "name it, or choose it by a query (--query TEXT), but not both"
            )
        filters = self._filters(type=type, kind=kind, project=project, source=source)
        if query is not None:
            hits = self.search(query, limit=1, source=source)
            if not hits.results or hits.confidence == "none":
                raise NotFoundError(f"nothing answers {query!r}", "try fewer or other words, or name the document")
            ref, source = hits.results[0].path, hits.results[0].source
        with self._pool.lend() as connections:
            return timeline_around(
                connections.reader,
                self._records(connections),
                self._resolve(connections, ref or "", source).document,
                filters,
                now=time.time(),
                before=at_least(0, "depth_before", depth_before, 5),
                after=at_least(0, "depth_after", depth_after, 5),
            )

    def tags(self, *, kind: Names = None, source: Names = None, path: Names = None) -> TagList:
        """Tags with how many documents carry them, most frequent first."""
        from vault_index.query.listing import list_tags

        with self._pool.lend() as connections:
            return list_tags(connections.reader, self._filters(kind=kind, source=source, path=path))

    def stats(self) -> Stats:
        """What there is, in numbers."""
        from vault_index.api.report import stats

        with self._pool.lend() as connections:
            return stats(connections, self.home)

    def agents(self) -> AgentList:
        """Who entered documents, and how many."""
        from vault_index.query.listing import list_agents

        with self._pool.lend() as connections:
            return list_agents(connections.reader)

    def status(self, *, daemon: DaemonStatus | None = None, watch: WatchStatus | None = None) -> Status:
        """How it is doing, and what is wrong. A daemon tells of itself."""
        from vault_index.api.report import status

        return status(
            self._pool, self.home, self.config, self.sources, daemon or DaemonStatus(), watch or WatchStatus()
        )

    def doctor(self, *, recall: bool = False) -> DoctorReport:
        """What is wrong; with `recall` also how well notes are found by what they are called."""
        problems = self.status().problems
        return DoctorReport(not problems, problems, self._self_test() if recall else None)

    def _self_test(self) -> RecallReport:
        from vault_index.query.selftest import DEPTH, self_test

        with self._pool.lend() as connections:
            space = connections.reader.serving_space()
            remote = space is not None and space.space.provider != "local"
            documents = connections.reader.document_names(time.time(), may_leave=remote)
        return self_test(
            documents,
            lambda query: [(hit.path, *hit.also) for hit in self.search(query, limit=DEPTH, per_document=1).results],
        )

    def privacy(self) -> Privacy:
        """What was sent to which server, and when; never the text."""
        from vault_index.api.report import privacy

        return privacy(self.home)

    # --- arguments ---------------------------------------------------------------------------------------------

    def _searcher(self, connections: Connections) -> "Searcher":
        from vault_index.query.search import Searcher

        return Searcher(
            connections.reader,
            connections.cache,
            self._by_name,
            lambda space, text: self._embedders.embed_query(connections.cache, space, text),
            self.config.ranking,
        )

    def _search_options(
        self, asked: AskOptions, *, limit: int | None = None, offset: int = 0, explain: bool = False
    ) -> "SearchOptions":
        from vault_index.api.asking import search_options

        filters: dict[str, Any] = {name: value for name, value in asked.items() if name not in ASKING}
        options = search_options(asked, self.config.search, self._filters(**filters))
        return replace(
            options,
            limit=at_least(1, "limit", limit, options.limit),
            offset=at_least(0, "offset", offset, 0),
            explain=explain,
        )

    def _resolve(self, connections: Connections, ref: str, source: Names) -> "Place":
        from vault_index.query.references import resolve

        return resolve(connections.reader, ref, memory_dir=self.config.memory.dir, sources=self._sources_named(source))

    def _records(self, connections: Connections) -> "Records":
        from vault_index.query.listing import Records

        links = {name: source.link for name, source in self._by_name.items()}
        return Records(connections.reader, connections.cache, links)

    def _source(self, name: str) -> VaultSource:
        if name not in self._by_name:
            known = ", ".join(self._by_name) or "none yet"
            raise NotFoundError(f"there is no source {name!r}", f"the sources are: {known}")
        return self._by_name[name]

    def _sources_named(self, value: Names) -> tuple[str, ...]:
        return tuple(self._source(name).config.name for name in names(value))

    def _filters(self, **options: Names) -> Filters:
        from vault_index.query.filters import add_filter

        filters = Filters(sources=self._sources_named(options.pop("source", None)))
        for option, values in options.items():
            if option not in FilterOptions.__annotations__:
                raise UsageError(
                    f"there is no filter {option!r}", f"filters are {', '.join(FilterOptions.__annotations__)}"
                )
            for value in names(values) if option in LISTS else whole(values):
                filters = add_filter(filters, FILTER_KEYS.get(option, option), value)
        return filters
