"""`VaultIndex`: everything the commands, the daemon and the MCP server do, as Python calls."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from vault_index import health
from vault_index.api import options
from vault_index.api.memories import Memories
from vault_index.api.options import Names, at_least, question
from vault_index.cancel import CancelToken
from vault_index.config import Home
from vault_index.errors import NotFoundError, UsageError
from vault_index.fields import SORTS, Sort
from vault_index.models import Progress, no_progress
from vault_index.runtime import Runtime
from vault_index.store.spaces import serving_space

if TYPE_CHECKING:  # each call makes its own answer
    from vault_index.query.search import Match, Mode
    from vault_index.results.changes import EmbedPlan, EmbedReport, EmbedStatus, SyncReport
    from vault_index.results.documents import DocumentList, RelatedList, Timeline
    from vault_index.results.search import SearchResult, Why
    from vault_index.results.sessions import Resume, SessionDays, SessionList, SessionSummary
    from vault_index.results.status import (
        AgentList,
        DoctorReport,
        FileStatus,
        Privacy,
        Stats,
        Status,
        TagList,
    )
    from vault_index.results.texts import Recall, Texts


class VaultIndex(Memories):
    """One index: its home, its configuration, its sources.

        with VaultIndex.open() as index:
            index.sync()
            for hit in index.search("wal mode", limit=3).results:
                print(hit.path, hit.lines, hit.snippet)

    Reading methods may be called from several threads at once and never wait for a writer. Writing methods (sync,
    rebuild, embed, repair, and those of memories) take turns with other processes, waiting for at most 30 seconds
    before they raise BusyError, and belong to one thread. Every error raised is a VaultIndexError.

    Filters are those of the query language. `tags` must all be there, of `any_tag` one; several values of any other are
    alternatives. Values are one string, several strings, or, but for paths and names, one string with commas.
    `property` is a frontmatter key, or `key:value`; `state` is `expired`, `superseded` or `outdated`; `after` and
    `before` are days (`2027-02-01`, `last week`). `source` names sources. `by` is another name of `entered_by`.
    """

    @classmethod
    def open(cls, home: str | Path | Home | None = None, config: str | Path | None = None) -> Self:
        """Open the index of `home` (default: VAULT_INDEX_HOME, else the XDG folders). Nothing is created.

        Raises NotSetUpError without a configuration, ConfigError for a wrong one.
        """
        return cls(Runtime.open(home, config))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._runtime.close()

    @property
    def home(self) -> Home:
        """The folders of this index."""
        return self._runtime.home

    def search(
        self, query: str, *, limit: int | None = None, offset: int = 0, explain: bool = False,
        mode: Mode | None = None, match: Match | None = None, per_document: int | None = None, as_of: str | None = None,
        fuzzy: bool | None = None, threshold: float | None = None, include_expired: bool = False,
        include_superseded: bool = False, all: bool = False, directory: Names = None, exclude_session: Names = None,
        tags: Names = None, any_tag: Names = None, type: Names = None, kind: Names = None, project: Names = None,
        entered_by: Names = None, by: Names = None, path: Names = None, title: Names = None, file: Names = None,
        concept: Names = None, bead: Names = None, confidence: Names = None, session: Names = None, state: Names = None,
        client: Names = None, model: Names = None,
        property: Names = None, source: Names = None, after: str | None = None, before: str | None = None,
    ) -> SearchResult:  # fmt: skip
        """The passages that answer `query` (at most 20,000 characters), best first.

        None is what the configuration says: `limit` (from 1; 10), `match` (`any` of the words or `all`),
        `per_document` (passages of one document, from 1; 3), `fuzzy` (words that no text holds are read as words that
        are spelled alike), `threshold` (how alike, from 0.5 to 1; 0.7). `mode` is `hybrid` by default. `as_of` asks as
        on that day: later documents are left out, memories that expired since are not. With `explain` each hit tells
        its scores, and the answer how the query was read. `all` has texts show hits that are `weak`. `directory`: the
        folder it is typed in; without one, no server is asked while something is `local_only`. `exclude_session`: ids
        of sessions that ask and are told nothing of themselves; `current`: any there of late. Raises UsageError.
        """
        given = locals()
        with self._runtime.pool.lend() as connections:
            if mode != "text":
                self._runtime.embedders.prepare(serving_space(connections.reader), query)
            wanted = options.search_options(self._runtime, given)
            return self._runtime.searcher(connections).search(question(query), wanted)

    def why(
        self, query: str, ref: str, *, limit: int | None = None, mode: Mode | None = None, match: Match | None = None,
        per_document: int | None = None, fuzzy: bool | None = None, threshold: float | None = None,
        include_expired: bool = False, include_superseded: bool = False, as_of: str | None = None, tags: Names = None,
        any_tag: Names = None, type: Names = None, kind: Names = None, project: Names = None, entered_by: Names = None,
        by: Names = None, path: Names = None, title: Names = None, file: Names = None, concept: Names = None,
        bead: Names = None, confidence: Names = None, session: Names = None, state: Names = None,
        client: Names = None, model: Names = None, source: Names = None,
        property: Names = None, after: str | None = None, before: str | None = None, directory: Names = None,
        exclude_session: Names = None,
    ) -> Why:  # fmt: skip
        """Why `search`, asked the same, finds the passage at `ref` (as in `get`, or a path of a file), or does not.
        Raises NotFoundError where there is neither a document nor a file, and as `search`.
        """
        wanted = options.search_options(self._runtime, locals())
        from vault_index.query.why import why, why_not_indexed

        with self._runtime.pool.lend() as connections:
            try:
                place = self._runtime.resolve(connections, self._runtime.inside(ref))
            except NotFoundError:
                here = self._runtime.vaults.values() if self._runtime.scope is None else ()
                not_indexed = why_not_indexed(here, query, ref, wanted)
                if not_indexed is None:
                    raise
                return not_indexed
            return why(
                self._runtime.searcher(connections),
                connections.reader,
                question(query),
                place,
                wanted,
            )

    def get(
        self,
        ref: Names,
        *,
        full: bool = False,
        max_tokens: int | None = None,
        neighbors: int = 0,
        source: Names = None,
    ) -> Texts:
        """The text of each reference: an id or its beginning, a path, `path:10-42`, `[[Note#Heading]]`.

        A text is cut at a line after `max_tokens` (of cl100k_base, from 1); of a place, `neighbors` passages on both
        sides come along. `full` adds frontmatter and metadata; `failed` names what has no text. Raises NotFoundError.
        """
        from vault_index.query.texts import get_texts

        most = max_tokens if max_tokens is None else at_least(1, "max_tokens", max_tokens, 1)
        known, find = (
            self._runtime.by_name,
            partial(self._runtime.resolve, sources=self._sources(source)),
        )
        with self._runtime.pool.lend() as connections:
            return get_texts(
                connections, known, ref, find,
                full=full, max_tokens=most, neighbors=neighbors, holds=self._runtime.holds,
            )  # fmt: skip

    def list(
        self, *, sort: Sort = "created", order: Literal["asc", "desc"] | None = None, limit: int = 20, offset: int = 0,
        tags: Names = None, any_tag: Names = None, type: Names = None, kind: Names = None, project: Names = None,
        entered_by: Names = None, by: Names = None, path: Names = None, title: Names = None, file: Names = None,
        concept: Names = None, bead: Names = None, confidence: Names = None, session: Names = None, state: Names = None,
        client: Names = None, model: Names = None,
        property: Names = None, source: Names = None, after: str | None = None, before: str | None = None,
    ) -> DocumentList:  # fmt: skip
        """Documents, newest first unless `sort` and `order` say otherwise. Raises UsageError."""
        filters = options.filters_of(self._runtime, locals())
        from vault_index.query.documents import list_documents

        limit, offset = at_least(1, "limit", limit, 20), at_least(0, "offset", offset, 0)
        with self._runtime.pool.lend() as connections:
            return list_documents(
                connections.reader, connections.state, self._runtime.records(connections), filters,
                sort=options.one_of("sort", sort, "created", SORTS), order=order, limit=limit, offset=offset,
            )  # fmt: skip

    def sessions(
        self, *, project: Names = None, client: Names = None, file: str | None = None, since: str | None = None,
        until: str | None = None, before: str | None = None, subagents: bool = False, limit: int = 20, offset: int = 0,
        session: Names = None, source: Names = None,
    ) -> SessionList:  # fmt: skip
        """Sessions with agents, those first that were held last. `file`: those that wrote or read it, by the end of its
        path, or by an absolute one. `project` is a name, or a folder. `since`, `until` and `before` are days
        (`yesterday`) or times: the day of `until` counts, that of `before` does not. Those of `subagents` are left out,
        unless a file is asked for. Raises UsageError."""
        from vault_index.query.sessions import list_sessions

        wanted = options.sessions_wanted(self._runtime, locals())._replace(subagents=subagents)
        limit, offset = at_least(1, "limit", limit, 20), at_least(0, "offset", offset, 0)
        with self._runtime.pool.lend() as connections:
            return list_sessions(connections.reader, wanted, file or None, limit, offset)

    def session_summary(
        self, *, project: Names = None, client: Names = None, file: str | None = None, since: str | None = None,
        until: str | None = None, before: str | None = None, limit: int = 20, offset: int = 0, session: Names = None,
        source: Names = None,
    ) -> SessionSummary:  # fmt: skip
        """What was worked on in these sessions, by project: those first that took longest. `since` is a week ago by
        default. No model is asked. Raises as `sessions`."""
        from vault_index.query.sessions import summarize

        wanted = options.sessions_wanted(
            self._runtime, {**locals(), "since": since or "1 week ago"}
        )
        limit, offset = at_least(1, "limit", limit, 20), at_least(0, "offset", offset, 0)
        with self._runtime.pool.lend() as connections:
            return summarize(connections.reader, wanted, file or None, limit, offset)

    def session_days(
        self, *, project: Names = None, client: Names = None, since: str | None = None, until: str | None = None,
        before: str | None = None, subagents: bool = False, source: Names = None,
    ) -> SessionDays:  # fmt: skip
        """How many of these sessions began or ended on each day, and of which projects and clients they are. Raises as
        `sessions`."""
        from vault_index.query.sessions import count_by_day

        wanted = options.sessions_wanted(self._runtime, locals())._replace(subagents=subagents)
        with self._runtime.pool.lend() as connections:
            return count_by_day(connections.reader, wanted)

    def resume(self, ref: str, *, source: Names = None) -> Resume:
        """The client's own command to go on with a session. `ref` is as in `get`; the beginning of the id in its client
        and words of its title will do. Raises NotFoundError, and UsageError where several are meant."""
        from vault_index.query.resume import resume

        find = partial(self._runtime.resolve, sources=self._sources(source))
        with self._runtime.pool.lend() as connections:
            return resume(connections.reader, ref, partial(find, connections))

    def related(
        self, ref: str, *, limit: int = 10, offset: int = 0,
        tags: Names = None, any_tag: Names = None, type: Names = None, kind: Names = None, project: Names = None,
        entered_by: Names = None, by: Names = None, path: Names = None, title: Names = None, file: Names = None,
        concept: Names = None, bead: Names = None, confidence: Names = None, session: Names = None, state: Names = None,
        client: Names = None, model: Names = None,
        property: Names = None, source: Names = None, after: str | None = None, before: str | None = None,
    ) -> RelatedList:  # fmt: skip
        """Documents that `ref` links to, that link to it, and that are near it in meaning. The filters concern them.

        Of a place (`path:10-42`, `[[Note#Heading]]`) the links and the meaning of its lines count. Raises as `get`.
        """
        filters = options.filters_of(self._runtime, locals())
        from vault_index.query.related import related_documents

        limit, offset = at_least(1, "limit", limit, 10), at_least(0, "offset", offset, 0)
        with self._runtime.pool.lend() as connections:
            return related_documents(
                connections.reader, self._runtime.records(connections),
                self._runtime.resolve(connections, ref, self._sources(source)), filters,
                now=time.time(), limit=limit, offset=offset,
            )  # fmt: skip

    def timeline(
        self, ref: str | None = None, *, query: str | None = None, depth_before: int = 5, depth_after: int = 5,
        type: Names = None, kind: Names = None, project: Names = None, source: Names = None, directory: Names = None,
        exclude_session: Names = None,
    ) -> Timeline:  # fmt: skip
        """The documents created before and after `ref`, or around the best hit of `query` in that `project`
        and `source`; the filters concern them.

        Raises as `get`, and NotFoundError for a query that finds nothing.
        """
        filters = options.filters_of(self._runtime, locals())
        from vault_index.query.related import timeline_around

        if (ref is None) == (query is None):
            raise UsageError(
                "a timeline is around one document",
                "name it, or choose it (--query TEXT), but not both",
            )
        hints: tuple[str, ...] = ()
        if query is not None:
            where = partial(self.search, project=project, source=source, directory=directory)
            found = where(query, limit=1, exclude_session=exclude_session)
            if not found.results:
                hint = "; ".join(found.hints) or "try fewer or other words, or name the document"
                raise NotFoundError(f"nothing answers {query!r}", hint)
            hints = (
                ("the document may not answer the query: it is a weak hit",)
                if found.results[0].weak
                else ()
            )
            ref, source = found.results[0].path, found.results[0].source
        before, after = (
            at_least(0, "depth_before", depth_before, 5),
            at_least(0, "depth_after", depth_after, 5),
        )
        with self._runtime.pool.lend() as connections:
            return timeline_around(
                connections.reader, self._runtime.records(connections),
                self._runtime.resolve(connections, ref or "", self._sources(source)).document, filters,
                now=time.time(), before=before, after=after, hints=hints,
            )  # fmt: skip

    def recall(
        self, query: str | None = None, *, project: str | None = None, budget: int | None = None,
        token: str | None = None, session: Names = None, source: Names = None, directory: Names = None,
    ) -> Recall:  # fmt: skip
        """What a session should know of `project` (a folder, or a name) and `query`, quoted as data between marks.

        Without both: what holds for every project. An empty text where there is nothing. `budget` is in tokens of
        cl100k_base (from 1; default: the setting). Equal questions get equal answers but for the random `token` of the
        marks; a caller may give one (4 to 64 hexadecimal digits) to have the very same text again. `session` is as
        `exclude_session` of `search`. Raises UsageError.
        """
        wanted = options.recall_options(self._runtime, locals())
        from vault_index.query.hits import DiskState
        from vault_index.query.recall import recall

        with self._runtime.pool.lend() as connections:
            searcher, disk = self._runtime.searcher(connections), DiskState(self._runtime.by_name)
            return recall(searcher, connections.reader, disk, wanted)

    def tags(self, *, kind: Names = None, source: Names = None, path: Names = None) -> TagList:
        """Tags with how many documents carry them, most frequent first."""
        return health.list_tags(self._runtime, options.filters_of(self._runtime, locals()))

    def agents(self, *, source: Names = None) -> AgentList:
        """Who entered documents, and how many."""
        return health.list_agents(self._runtime, options.filters_of(self._runtime, locals()))

    def sync(
        self, paths: Sequence[str | Path] | None = None, *, dry_run: bool = False, embed: bool = True,
        source: Names = None, progress: Progress = no_progress, cancel: CancelToken | None = None,
    ) -> SyncReport:  # fmt: skip
        """Compare files and index, and change the index. `paths`: only these files and folders of the sources.

        With `embed` the missing vectors follow. `cancel` ends it between two documents or batches: its report is then
        not `finished`, and the next call goes on from there. Raises UsageError for a path in no source, and BusyError.
        """
        places = options.places_in(self._runtime, paths, source)
        return self._runtime.write.sync(
            places, dry_run=dry_run, embed=embed, progress=progress, cancel=cancel
        )

    def rebuild(
        self,
        *,
        embed: bool = True,
        progress: Progress = no_progress,
        cancel: CancelToken | None = None,
    ) -> SyncReport:
        """Read every file again, in place: old rows stay searchable until their new ones are there."""
        write = self._runtime.write
        return write.sync(
            None, dry_run=False, embed=embed, progress=progress, cancel=cancel, everything=True
        )

    def embed(
        self,
        *,
        rebuild: bool = False,
        progress: Progress = no_progress,
        cancel: CancelToken | None = None,
    ) -> EmbedReport:
        """Fill the missing vectors; with `rebuild` compute all of them again, beside the serving ones."""
        return self._runtime.write.embed(rebuild=rebuild, progress=progress, cancel=cancel)

    def embed_plan(self) -> EmbedPlan:
        """What filling the vectors would send and cost."""
        return health.embed_plan(self._runtime)

    def embed_status(self) -> EmbedStatus:
        """How many of the vectors are there."""
        return health.embed_status(self._runtime)

    def stats(self, *, source: Names = None) -> Stats:
        """Counts of documents, tags, agents and passages; what else it says is of the whole index."""
        return health.index_stats(self._runtime, options.filters_of(self._runtime, locals()))

    def status(self) -> Status:
        """The state of index, sources and vectors, and every problem. Never raises for an index that cannot be opened:
        that is one of the problems."""
        return health.index_status(self._runtime)

    def privacy(self) -> Privacy:
        """What was sent to which server, and when; never the text."""
        return health.privacy_ledger(self._runtime)

    def file_status(self, ref: str) -> FileStatus:
        """Whether one document or file is indexed, as it is now or as it was; and if not, why. `ref` is as in `get`, or
        a path. Raises NotFoundError where there is neither a document nor a file in a source."""
        return health.file_status(self._runtime, ref)

    def doctor(self, *, recall: bool = False, deep: bool = False) -> DoctorReport:
        """What is wrong; with `recall` also how well notes are found by what they are called. With `deep` the index is
        compared with one that is built anew, which takes as long as building it."""
        return health.run_doctor(self._runtime, recall=recall, deep=deep)

    def repair(
        self,
        *,
        deep: bool = False,
        progress: Progress = no_progress,
        cancel: CancelToken | None = None,
    ) -> DoctorReport:
        """Rebuild what is derived from files and cache, and tighten the permissions of our own files. The report says
        what is left, and what was mended (`fixed`). While a source is missing nothing is built anew: its rows stay."""
        return health.repair_index(self._runtime, deep=deep, progress=progress, cancel=cancel)
