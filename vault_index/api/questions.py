"""The questions of `VaultIndex`: search, get, list, and what is around a document."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, Unpack

from vault_index import results
from vault_index.api.options import ASKING, AskOptions, FilterOptions, Names, at_least, question, whole
from vault_index.api.runtime import Core
from vault_index.errors import NotFoundError, UsageError, VaultIndexError

TYPE_CHECKING = False  # spares the import of the query modules; type checkers know the name
if TYPE_CHECKING:
    from vault_index.query.search import SearchOptions


class Questions(Core):
    """Reading methods: they may be called from several threads at once and never wait for a writer."""

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        offset: int = 0,
        explain: bool = False,
        **options: Unpack[AskOptions],
    ) -> results.SearchResult:
        """The passages that answer `query`, best first. The filters among the options are those of the query language;
        with `explain` each hit says why it is where it is, and the answer how the query was read."""
        wanted = self._search_options(options, limit=limit, offset=offset, explain=explain)
        with self._pool.lend() as connections:
            return self._searcher(connections).search(question(query), wanted)

    def why(self, query: str, ref: str, *, limit: int | None = None, **options: Unpack[AskOptions]) -> results.Why:
        """Why `search` finds the passage at `ref` (a reference as `get` takes it, or a path of a file) or does not.

        Raises NotFoundError where there is neither a document nor a file.
        """
        from vault_index.query.why import why, why_not_indexed

        wanted = self._search_options(options, limit=limit)
        with self._pool.lend() as connections:
            try:
                place = self._resolve(connections, self._inside(ref), None)
            except NotFoundError:
                left_out = why_not_indexed(self._vaults.values(), query, ref, wanted)
                if left_out is None:
                    raise
                return left_out
            return why(self._searcher(connections), connections.reader, question(query), place, wanted)

    def get(
        self,
        ref: Names,
        *,
        full: bool = False,
        max_tokens: int | None = None,
        neighbors: int = 0,
        source: Names = None,
    ) -> results.Texts:
        """The text of each reference: an id or its prefix, a path, `path:10-42`, `[[Note#Heading]]`.

        Raises NotFoundError, and UsageError for an ambiguous id.
        """
        from vault_index.query.documents import full_metadata, read_place, with_neighbors

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
                now, then = raw.ref.stamp, document.stamp
                # The whole stamp of a file just written is not believed, but what was counted of it is right.
                counted = document.tokens if (now.size, now.mtime_ns) == (then.size, then.mtime_ns) else None
                text = read_place(place, raw.text, max_tokens=max_tokens, whole_tokens=counted)
                if full:
                    link = self._source(document.source).link(document.path)
                    accesses = cache.accesses([document.uid]).get(document.uid, 0)
                    text = replace(text, metadata=full_metadata(reader, document, link, accesses))
                with suppress(VaultIndexError):  # a disk that is full, or a cache in use, keeps nobody from reading
                    cache.record_access(document.uid, time.time())
                texts.append(text)
        return results.Texts(tuple(texts))

    def list(
        self,
        *,
        sort: str = "created",
        order: Literal["asc", "desc"] | None = None,
        limit: int = 20,
        offset: int = 0,
        **filters: Unpack[FilterOptions],
    ) -> results.DocumentList:
        """Documents, newest first unless `sort` and `order` say otherwise."""
        from vault_index.query.documents import list_documents

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
    ) -> results.RelatedList:
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
    ) -> results.Timeline:
        """The documents created before and after `ref`, or after the best hit of `query`; the filters concern them.

        Raises as `get`, and NotFoundError for a query that finds nothing.
        """
        from vault_index.query.related import timeline_around

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

    def recall(
        self,
        query: str | None = None,
        *,
        project: str | None = None,
        budget: int | None = None,
        token: str | None = None,
        session: str | None = None,
        source: Names = None,
    ) -> results.Recall:
        """What a session should know of `project` (a folder, or a name) and `query`, quoted as data between marks, in
        at most `budget` tokens of cl100k_base; an empty text where there is nothing.

        Without a query and a project: what holds for every project. Equal questions get equal answers but for the
        random `token` of the marks (hexadecimal); a caller may give one, to have the very same text again. `session` is
        the id of the session that asks: it is not told of itself.
        """
        from secrets import token_hex

        from vault_index.markdown.recalled import is_token
        from vault_index.query.hits import DiskState
        from vault_index.query.projects import project_of
        from vault_index.query.recall import RecallOptions, recall

        if token is not None and not is_token(token):
            raise UsageError(f"{token!r} cannot mark what is recalled", "give 4 to 64 digits of 0-9 and a-f")
        options = RecallOptions(
            query=query or "",
            project=project_of(project) if project else None,
            budget=at_least(1, "budget", budget, self.config.recall.budget),
            token=token or token_hex(8),
            sources=self._sources_named(source),
            session=session or "",
            now=time.time(),
        )
        with self._pool.lend() as connections:
            return recall(self._searcher(connections), connections.reader, DiskState(self._by_name), options)

    def tags(self, *, kind: Names = None, source: Names = None, path: Names = None) -> results.TagList:
        """Tags with how many documents carry them, most frequent first."""
        from vault_index.query.documents import list_tags

        with self._pool.lend() as connections:
            return list_tags(connections.reader, self._filters(kind=kind, source=source, path=path))

    def stats(self) -> results.Stats:
        """What there is, in numbers."""
        from vault_index.health.stats import stats

        with self._pool.lend() as connections:
            return stats(connections, self.home, self._moments)

    def agents(self) -> results.AgentList:
        """Who entered documents, and how many."""
        from vault_index.query.documents import list_agents

        with self._pool.lend() as connections:
            return list_agents(connections.reader)

    def _search_options(
        self, asked: AskOptions, *, limit: int | None = None, offset: int = 0, explain: bool = False
    ) -> SearchOptions:
        from vault_index.api.options import search_options

        filters: dict[str, Any] = {name: value for name, value in asked.items() if name not in ASKING}
        options = search_options(asked, self.config.search, self._filters(**filters))
        return replace(
            options,
            limit=at_least(1, "limit", limit, options.limit),
            offset=at_least(0, "offset", offset, 0),
            explain=explain,
        )
