"""`VaultIndex`: every operation of the commands, the daemon and the MCP server as a Python call."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from vault_index import health
from vault_index.api import options
from vault_index.api.memories import Memories
from vault_index.api.options import Names, at_least, question
from vault_index.config import Home
from vault_index.disk import is_under
from vault_index.errors import NotFoundError, UsageError
from vault_index.fields import SORTS, Sort
from vault_index.progress import CancelToken, Progress, no_progress
from vault_index.runtime import Runtime
from vault_index.store.spaces import serving_space

if TYPE_CHECKING:
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
    from vault_index.results.texts import Recall, Reminder, Texts

_HOOK_SECONDS = 0.15
"""How long the hook before a tool call waits: it does not show a later reminder."""


class VaultIndex(Memories):
    """One index with its folders, configuration and sources.

        with VaultIndex.open() as index:
            index.sync()
            for hit in index.search("wal mode", limit=3).results:
                print(hit.path, hit.lines, hit.snippet)

    Threads may call reading methods at the same time; these never wait for a writer. Writing
    methods (sync, rebuild, embed, repair, and those of memories) belong to one thread. They wait up
    to 30 seconds for other processes that write, then raise BusyError. Every error is a
    VaultIndexError.

    Filters work as in the query language. A document must have all `tags` and at least one of
    `any_tag`; several values of any other filter are alternatives. A value is a string or several
    strings. Except for paths and names, one string may contain several values separated by commas.
    `property` is a frontmatter key or `key:value`. `state` is `expired`, `superseded`,
    `outdated`, `archived` or `unreviewed`. `after` and `before` are days (`2027-02-01`,
    `last week`). `source` names sources. `by` is an alias of `entered_by`.
    """

    @classmethod
    def open(cls, home: str | Path | Home | None = None, config: str | Path | None = None) -> Self:
        """Open the index of `home` (default: VAULT_INDEX_HOME, else the XDG folders).

        Creates nothing. Raises NotSetUpError without a configuration, ConfigError for an invalid
        one.
        """
        return cls(Runtime.open(home, config))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the databases and free the embedder."""
        self._runtime.close()

    @property
    def home(self) -> Home:
        """The folders of this index."""
        return self._runtime.home

    def search(
        self, query: str, *, limit: int | None = None, offset: int = 0, explain: bool = False,
        mode: Mode | None = None, match: Match | None = None, per_document: int | None = None,
        as_of: str | None = None, fuzzy: bool | None = None, threshold: float | None = None,
        include_expired: bool = False, include_superseded: bool = False, all: bool = False,
        directory: Names = None, exclude_session: Names = None, tags: Names = None,
        any_tag: Names = None, type: Names = None, kind: Names = None, project: Names = None,
        entered_by: Names = None, by: Names = None, path: Names = None, title: Names = None,
        file: Names = None, concept: Names = None, bead: Names = None, confidence: Names = None,
        session: Names = None, state: Names = None, client: Names = None, model: Names = None,
        property: Names = None, source: Names = None, after: str | None = None,
        before: str | None = None,
    ) -> SearchResult:  # fmt: skip
        """Return the passages that answer `query`, best first.

        The query has at most 20,000 characters. None selects the configured default for `limit`
        (from 1; 10), `match` (`any` or `all` of the words), `per_document` (passages per document,
        from 1; 3), `fuzzy` (correct words that no text contains) and `threshold` (minimum
        similarity of a correction, 0.5 to 1; 0.7). `mode` defaults to `hybrid`. `as_of` searches as
        on that day: it excludes later documents and includes memories that have expired since.
        `explain` adds the scores of each hit and the parsed query. `all` makes text output show
        `weak` hits.

        `directory` is the folder of the caller. If a document is `local_only` and `directory` is
        missing, the query is not sent to a remote embedder. `exclude_session` are ids of the
        calling sessions; they are excluded from the answer. `current` stands for sessions that were
        active in `directory` in the last minutes. Raises UsageError.
        """
        given = {key: value for key, value in locals().items() if value is not None}
        with self._runtime.pool.lend() as connections:
            if mode != "text":
                self._runtime.embedders.prepare(serving_space(connections.reader), query)
            wanted = options.search_options(
                self._runtime, limit=limit, offset=offset, explain=explain, mode=mode, match=match,
                per_document=per_document, as_of=as_of, fuzzy=fuzzy, threshold=threshold,
                include_expired=include_expired, include_superseded=include_superseded, all=all,
                directory=directory, exclude_session=exclude_session, tags=tags, any_tag=any_tag,
                type=type, kind=kind, project=project, entered_by=entered_by, by=by, path=path,
                title=title, file=file, concept=concept, bead=bead, confidence=confidence,
                session=session, state=state, client=client, model=model, property=property,
                source=source, after=after, before=before,
            )  # fmt: skip
            search = partial(self._runtime.searcher(connections).search, question(query))
            if self._runtime.config.servers and not source and self._runtime.scope is None:
                return self._runtime.search_servers(connections, wanted, given, search)
            return search(wanted)

    def why(
        self, query: str, ref: str, *, limit: int | None = None, mode: Mode | None = None,
        match: Match | None = None, per_document: int | None = None, fuzzy: bool | None = None,
        threshold: float | None = None, include_expired: bool = False,
        include_superseded: bool = False, as_of: str | None = None, tags: Names = None,
        any_tag: Names = None, type: Names = None, kind: Names = None, project: Names = None,
        entered_by: Names = None, by: Names = None, path: Names = None, title: Names = None,
        file: Names = None, concept: Names = None, bead: Names = None, confidence: Names = None,
        session: Names = None, state: Names = None, client: Names = None, model: Names = None,
        source: Names = None, property: Names = None, after: str | None = None,
        before: str | None = None, directory: Names = None, exclude_session: Names = None,
    ) -> Why:  # fmt: skip
        """Explain why `search` with the same options finds or misses the passage at `ref`.

        `ref` is a reference as in `get`. Raises NotFoundError if it matches no document; otherwise
        raises as `search`.
        """
        wanted = options.search_options(
            self._runtime, limit=limit, mode=mode, match=match, per_document=per_document,
            fuzzy=fuzzy, threshold=threshold, include_expired=include_expired,
            include_superseded=include_superseded, as_of=as_of, tags=tags, any_tag=any_tag,
            type=type, kind=kind, project=project, entered_by=entered_by, by=by, path=path,
            title=title, file=file, concept=concept, bead=bead, confidence=confidence,
            session=session, state=state, client=client, model=model, source=source,
            property=property, after=after, before=before, directory=directory,
            exclude_session=exclude_session,
        )  # fmt: skip
        from vault_index.query.why import why

        with self._runtime.pool.lend() as connections:
            try:
                place = self._runtime.resolve(connections, self._runtime.inside(ref))
            except NotFoundError as error:
                hint = f"see whether the file is indexed: vault-index status {shlex.quote(ref)}"
                raise NotFoundError(error.message, hint) from error
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
        """Return the text of each reference.

        A reference is an id or its prefix, a path, `path:10-42`, or `[[Note#Heading]]`. A text
        longer than `max_tokens` (cl100k_base, from 1) is cut at a line. `neighbors` adds this many
        passages before and after a place. `full` adds frontmatter and metadata. `failed` lists the
        references without a text. Raises NotFoundError if no reference has a text.
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
        self, *, sort: Sort = "created", order: Literal["asc", "desc"] | None = None,
        limit: int = 20, offset: int = 0, tags: Names = None, any_tag: Names = None,
        type: Names = None, kind: Names = None, project: Names = None, entered_by: Names = None,
        by: Names = None, path: Names = None, title: Names = None, file: Names = None,
        concept: Names = None, bead: Names = None, confidence: Names = None, session: Names = None,
        state: Names = None, client: Names = None, model: Names = None, property: Names = None,
        source: Names = None, after: str | None = None, before: str | None = None,
    ) -> DocumentList:  # fmt: skip
        """List documents, newest first unless `sort` and `order` are given.

        Raises UsageError.
        """
        filters = options.filters_of(
            self._runtime, tags=tags, any_tag=any_tag, type=type, kind=kind, project=project,
            entered_by=entered_by, by=by, path=path, title=title, file=file, concept=concept,
            bead=bead, confidence=confidence, session=session, state=state, client=client,
            model=model, property=property, source=source, after=after, before=before,
        )  # fmt: skip
        from vault_index.query.documents import list_documents

        limit, offset = at_least(1, "limit", limit, 20), at_least(0, "offset", offset, 0)
        with self._runtime.pool.lend() as connections:
            return list_documents(
                connections.reader, connections.state, self._runtime.records(connections), filters,
                sort=options.one_of("sort", sort, "created", SORTS), order=order, limit=limit,
                offset=offset,
            )  # fmt: skip

    def sessions(
        self, *, project: Names = None, client: Names = None, file: str | None = None,
        since: str | None = None, until: str | None = None, before: str | None = None,
        subagents: bool = False, limit: int = 20, offset: int = 0, session: Names = None,
        source: Names = None,
    ) -> SessionList:  # fmt: skip
        """List agent sessions, most recent first.

        `file` selects sessions that wrote or read a file; it is an absolute path or the end of one.
        `project` is a name or a folder. `since`, `until` and `before` are days (`yesterday`) or
        times; `until` includes its day, `before` does not. Sessions of subagents are omitted unless
        `subagents` or `file` is given. Raises UsageError.
        """
        from vault_index.query.sessions import list_sessions

        wanted = options.sessions_wanted(
            self._runtime, project=project, client=client, since=since, until=until, before=before,
            session=session, source=source, subagents=subagents,
        )  # fmt: skip
        limit, offset = at_least(1, "limit", limit, 20), at_least(0, "offset", offset, 0)
        with self._runtime.pool.lend() as connections:
            return list_sessions(connections.reader, wanted, file or None, limit, offset)

    def session_summary(
        self, *, project: Names = None, client: Names = None, file: str | None = None,
        since: str | None = None, until: str | None = None, before: str | None = None,
        limit: int = 20, offset: int = 0, session: Names = None, source: Names = None,
    ) -> SessionSummary:  # fmt: skip
        """Summarize the work in sessions by project, longest first.

        `since` defaults to a week ago. Uses no language model. Raises as `sessions`.
        """
        from vault_index.query.sessions import summarize

        wanted = options.sessions_wanted(
            self._runtime, project=project, client=client, since=since or "1 week ago", until=until,
            before=before, session=session, source=source,
        )  # fmt: skip
        limit, offset = at_least(1, "limit", limit, 20), at_least(0, "offset", offset, 0)
        with self._runtime.pool.lend() as connections:
            return summarize(connections.reader, wanted, file or None, limit, offset)

    def session_days(
        self, *, project: Names = None, client: Names = None, since: str | None = None,
        until: str | None = None, before: str | None = None, subagents: bool = False,
        source: Names = None,
    ) -> SessionDays:  # fmt: skip
        """Count the sessions that began or ended on each day, by project and by client.

        Raises as `sessions`.
        """
        from vault_index.query.sessions import count_by_day

        wanted = options.sessions_wanted(
            self._runtime, project=project, client=client, since=since, until=until, before=before,
            source=source, subagents=subagents,
        )  # fmt: skip
        with self._runtime.pool.lend() as connections:
            return count_by_day(connections.reader, wanted)

    def resume(self, ref: str, *, source: Names = None) -> Resume:
        """Return the command with which the client resumes a session.

        `ref` is a reference as in `get`, the beginning of the client's session id, or words of the
        title. Raises NotFoundError, and UsageError if several sessions match.
        """
        from vault_index.query.resume import resume

        find = partial(self._runtime.resolve, sources=self._sources(source))
        with self._runtime.pool.lend() as connections:
            return resume(connections.reader, ref, partial(find, connections))

    def related(
        self, ref: str, *, limit: int = 10, offset: int = 0, tags: Names = None,
        any_tag: Names = None, type: Names = None, kind: Names = None, project: Names = None,
        entered_by: Names = None, by: Names = None, path: Names = None, title: Names = None,
        file: Names = None, concept: Names = None, bead: Names = None, confidence: Names = None,
        session: Names = None, state: Names = None, client: Names = None, model: Names = None,
        property: Names = None, source: Names = None, after: str | None = None,
        before: str | None = None,
    ) -> RelatedList:  # fmt: skip
        """List documents that `ref` links to, that link to it, or that have a similar meaning.

        The filters apply to the listed documents. For a place (`path:10-42`, `[[Note#Heading]]`)
        only the links and the meaning of its lines count. Raises as `get`.
        """
        filters = options.filters_of(
            self._runtime, tags=tags, any_tag=any_tag, type=type, kind=kind, project=project,
            entered_by=entered_by, by=by, path=path, title=title, file=file, concept=concept,
            bead=bead, confidence=confidence, session=session, state=state, client=client,
            model=model, property=property, source=source, after=after, before=before,
        )  # fmt: skip
        from vault_index.query.related import related_documents

        limit, offset = at_least(1, "limit", limit, 10), at_least(0, "offset", offset, 0)
        with self._runtime.pool.lend() as connections:
            return related_documents(
                connections.reader, self._runtime.records(connections),
                self._runtime.resolve(connections, ref, self._sources(source)), filters,
                now=time.time(), limit=limit, offset=offset,
            )  # fmt: skip

    def timeline(
        self, ref: str | None = None, *, query: str | None = None, depth_before: int = 5,
        depth_after: int = 5, type: Names = None, kind: Names = None, project: Names = None,
        source: Names = None, directory: Names = None, exclude_session: Names = None,
    ) -> Timeline:  # fmt: skip
        """List the documents created before and after one document.

        The document is `ref`, or the best hit of `query` in `project` and `source`. The filters
        apply to the listed documents. Raises as `get`, and NotFoundError if the query has no hit.
        """
        filters = options.filters_of(
            self._runtime, type=type, kind=kind, project=project, source=source,
        )  # fmt: skip
        from vault_index.query.related import timeline_around

        if (ref is None) == (query is None):
            raise UsageError(
                "timeline requires a document or a query, not both",
                "give a reference or --query TEXT",
            )
        hints: tuple[str, ...] = ()
        if query is not None:
            where = partial(self.search, project=project, source=source, directory=directory)
            found = where(query, limit=1, exclude_session=exclude_session)
            if not found.results:
                hint = "; ".join(found.hints) or "try fewer or other words, or give a reference"
                raise NotFoundError(f"no hit for {query!r}", hint)
            hints = (
                ("the document may not answer the query; it is a weak hit",)
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
                self._runtime.resolve(connections, ref or "", self._sources(source)).document,
                filters, now=time.time(), before=before, after=after, hints=hints,
            )  # fmt: skip

    def recall(
        self, query: str | None = None, *, project: str | None = None, budget: int | None = None,
        token: str | None = None, session: Names = None, source: Names = None,
        directory: Names = None,
    ) -> Recall:  # fmt: skip
        """Quote what a session should know about `project` and `query`, as data between markers.

        `project` is a folder or a name. Without both, the text has the memories that apply to every
        project. It is empty if nothing is relevant. `budget` is in tokens of cl100k_base (from 1;
        default: the setting). The text is deterministic except for the random `token` in the
        markers; pass a token (4 to 64 hexadecimal digits) to get an identical text. `session` works
        as `exclude_session` of `search`. Raises UsageError.
        """
        wanted = options.recall_options(
            self._runtime, query=query, project=project, budget=budget, token=token,
            session=session, source=source, directory=directory,
        )  # fmt: skip
        from vault_index.query.hits import DiskState
        from vault_index.query.recall import recall

        with self._runtime.pool.lend() as connections:
            searcher, disk = self._runtime.searcher(connections), DiskState(self._runtime.by_name)
            return recall(searcher, connections.reader, disk, wanted)

    def remind(self, event: Mapping[str, Any]) -> Reminder:
        """Quote the memory about the file or the command of a tool call, once per session.

        `event` is what a client gives its hook before the call: `session_id`, `cwd`, `tool_input`.
        """
        from vault_index.query.hits import DiskState
        from vault_index.query.projects import project_of
        from vault_index.query.reminder import action_of, remind

        began = time.monotonic()
        session, folder = (str(event.get(key) or "") for key in ("session_id", "cwd"))
        project, given = project_of(os.path.join(folder, "")), event.get("tool_input")
        roots = [one for one in project.folders if is_under(one, folder)]
        action = action_of(given if isinstance(given, dict) else {}, max(roots, default=folder))
        skipped = {one for other, one in list(self._runtime.reminded) if other == session}
        with self._runtime.pool.lend() as connections:
            reminder = remind(
                connections.reader, DiskState(self._runtime.by_name), action, project, skipped
            )
        if time.monotonic() - began < _HOOK_SECONDS:
            self._runtime.reminded.append((session, reminder.id))
        return reminder

    def tags(self, *, kind: Names = None, source: Names = None, path: Names = None) -> TagList:
        """Count the documents of each tag, most frequent first."""
        return health.list_tags(
            self._runtime, options.filters_of(self._runtime, kind=kind, source=source, path=path)
        )

    def agents(self, *, source: Names = None) -> AgentList:
        """Count the documents of each author (`entered_by`)."""
        return health.list_agents(self._runtime, options.filters_of(self._runtime, source=source))

    def sync(
        self, paths: Sequence[str | Path] | None = None, *, dry_run: bool = False,
        embed: bool = True, source: Names = None, progress: Progress = no_progress,
        cancel: CancelToken | None = None,
    ) -> SyncReport:  # fmt: skip
        """Compare the files with the index and update the index.

        `paths` limits the sync to files and folders inside sources. `embed` also computes missing
        vectors. `cancel` stops between two documents or batches; the report then has
        `finished=False`, and the next call continues. Raises UsageError for a path outside all
        sources, and BusyError.
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
        """Read every file again, in place.

        Old rows stay searchable until the new ones replace them.
        """
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
        """Compute the missing vectors.

        `rebuild` computes all vectors again while the old ones still serve.
        """
        return self._runtime.write.embed(rebuild=rebuild, progress=progress, cancel=cancel)

    def embed_plan(self) -> EmbedPlan:
        """Estimate what computing the missing vectors would send and cost."""
        return health.embed_plan(self._runtime)

    def embed_status(self) -> EmbedStatus:
        """Return how many chunks have a vector."""
        return health.embed_status(self._runtime)

    def stats(self, *, source: Names = None) -> Stats:
        """Count documents, tags, agents and chunks in `source`.

        The other figures are those of the whole index.
        """
        return health.index_stats(self._runtime, options.filters_of(self._runtime, source=source))

    def status(self) -> Status:
        """Return the state of index, sources and vectors, and all problems.

        An index that cannot be opened is reported as a problem and raises no error.
        """
        return health.index_status(self._runtime)

    def privacy(self) -> Privacy:
        """Return what was sent to which server, and when; never the text itself."""
        return health.privacy_ledger(self._runtime)

    def file_status(self, ref: str) -> FileStatus:
        """Return whether one document or file is indexed and up to date.

        If the file is not indexed, the answer says why. `ref` is a reference as in `get`, or a
        path. Raises NotFoundError if neither a document nor a file in a source matches.
        """
        return health.file_status(self._runtime, ref)

    def doctor(self, *, recall: bool = False, deep: bool = False) -> DoctorReport:
        """Check the index and its setup for problems.

        `recall` also tests how well search finds notes by their names. `deep` compares the index
        with a fresh build, which takes as long as a build.
        """
        return health.run_doctor(self._runtime, recall=recall, deep=deep)

    def repair(
        self,
        *,
        deep: bool = False,
        progress: Progress = no_progress,
        cancel: CancelToken | None = None,
    ) -> DoctorReport:
        """Rebuild derived data from files and cache, and tighten file permissions.

        The report lists the remaining problems and the fixed ones (`fixed`). While a source is
        missing, nothing is rebuilt, so that its rows stay.
        """
        return health.repair_index(self._runtime, deep=deep, progress=progress, cancel=cancel)
