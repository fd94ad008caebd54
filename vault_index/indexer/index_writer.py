"""The writing half of the API: change the index under the write lock, and repair derived data."""

import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from vault_index.config import Config, Home
from vault_index.disk import WriteLock
from vault_index.errors import (
    CacheDamagedError,
    EmbedderError,
    IndexCorruptError,
    IndexTooOldError,
    StateDamagedError,
    VaultIndexError,
)
from vault_index.indexer.current_sources import waiting
from vault_index.indexer.reading import ROWS_VERSION, Parsed, RowSettings
from vault_index.indexer.sync import Synchroniser
from vault_index.markdown.recalled import quoted_places
from vault_index.models import Origin
from vault_index.progress import CancelToken, Progress, no_progress
from vault_index.results.base import Problem
from vault_index.results.changes import EmbedReport, SyncReport
from vault_index.sources.sessions.privacy import PrivateScope
from vault_index.sources.source import Source
from vault_index.sources.walk import FolderTimes
from vault_index.store.cache import Cache
from vault_index.store.connection import (
    EMBED_PROBLEM,
    KEPT_HOME,
    ROWS_MADE_WITH,
    SYNCED_AT,
    read_meta,
    set_aside,
    write_meta,
)
from vault_index.store.documents import embed_keys
from vault_index.store.integrity import index_damage, raise_damage, refill
from vault_index.store.revisions import Revisions
from vault_index.store.spaces import drop_all_spaces, pending_of_documents, put_vectors, read_spaces
from vault_index.store.state import STATE_MADE, State
from vault_index.store.writer import IndexWriter

if TYPE_CHECKING:  # so that `add` skips the import of the embedding modules
    from vault_index.embeddings import Embedder
    from vault_index.indexer.outbound import Now, SharedVectors

log = logging.getLogger(__name__)

LOCK_TIMEOUT = 30.0
"""Seconds that a writing call waits for another writer."""

# Chunks, about 100,000 tokens; larger documents are embedded with the others.
EMBEDDED_AT_ONCE = 256

_NO_VEC0 = Problem(
    "vec0",
    "sqlite-vec cannot be loaded: search works by keywords only",
    "reinstall vault-index; `python -c 'import sqlite_vec'` shows the reason",
)


class WriteSide:
    """Owns the writing connections. One call at a time; processes take turns by the write lock."""

    def __init__(
        self,
        home: Home,
        config: Config,
        sources: Sequence[Source],
        embedder: Callable[[], "Embedder | None"],
        now: "Now",
        pool: "SharedVectors | None" = None,
    ) -> None:
        self._home = home
        self._config = config
        self._sources = sources
        self._embedder = embedder
        self._now = now
        self._pool = pool
        self._write_lock = WriteLock(home.write_lock)
        self._writer: IndexWriter | None = None
        self._cache: Cache | None = None
        self._state = State(home.state_db)
        self.revisions = Revisions(self._state)
        """The log of memories; hold the lock to write it."""
        self._cursors: dict[int, int] = {}
        self._folders = FolderTimes()

    def shrink(self) -> None:
        """Purge deleted documents, shrink the logs and free the page caches."""
        if self._writer is not None:
            self._writer.clean(self._held("clean"))
        for part in (self._writer, self._cache, self._state):
            if part is not None:
                part.shrink()

    def close(self) -> None:
        """Close all connections."""
        for part in (self._writer, self._cache, self._state):
            if part is not None:
                part.close()
        self._writer = self._cache = None

    def sync(
        self,
        places: Mapping[str, Sequence[str]] | None,
        *,
        dry_run: bool,
        embed: bool,
        progress: Progress,
        cancel: CancelToken | None = None,
        everything: bool = False,
        anew: bool = False,
    ) -> SyncReport:
        """Sync the text first; then, with `embed`, the vectors.

        `everything` also reads unchanged files again; `anew` first deletes every row.
        """
        started = time.monotonic()
        cancel = cancel or CancelToken()
        text = partial(self._sync_text, places, progress, cancel, everything, anew, dry_run)
        with self._held("sync"):
            report, repaired = (
                (text(), ()) if dry_run else self._repairing(text, whole=places is None)
            )
        if dry_run:
            return report
        filled = (
            self._fill(progress, cancel)
            if embed and report.finished
            else EmbedReport(0, 0, self._count_pending(), 0.0)
        )
        if report.chunks or filled.embedded:
            self._open_writer().checkpoint()
        return replace(
            report,
            embedded=filled.embedded,
            cached=filled.cached,
            pending=filled.pending,
            seconds=round(time.monotonic() - started, 3),
            problems=(*repaired, *report.problems, *filled.problems),
            finished=report.finished and filled.finished,
        )

    def _sync_text(
        self,
        places: Mapping[str, Sequence[str]] | None,
        progress: Progress,
        cancel: CancelToken,
        everything: bool,
        anew: bool,
        dry_run: bool,
    ) -> SyncReport:
        if anew and (damage := index_damage(self._home.index_db)):
            raise IndexCorruptError(damage)
        if anew:
            self._cursors.clear()
            self._open_writer().remove_everything()
        if dry_run:
            return self._synchroniser(progress, cancel).sync(self._sources, places, dry_run=True)
        if everything or read_meta(self._open_writer(), ROWS_MADE_WITH) != str(ROWS_VERSION):
            self._open_writer().mark_stale()
            write_meta(self._open_writer(), ROWS_MADE_WITH, str(ROWS_VERSION))
        wanted, unread = places, self._unread()
        # Because of this key, a state that is missing later counts as lost.
        if not (unread or read_meta(self._open_writer(), STATE_MADE)):
            write_meta(self._open_writer(), STATE_MADE, "made")
        if self._config.sessions.mirror and not unread:
            wanted = self._with_mirror(places, progress, cancel)
            if cancel.cancelled:
                return SyncReport(finished=False)
        report = self._synchroniser(progress, cancel).sync(self._sources, wanted)
        if report.finished:
            write_meta(self._open_writer(), SYNCED_AT, str(time.time()))
            if places is None:
                self._open_writer().clean(nullcontext())
        return report

    def embed(
        self, *, rebuild: bool, progress: Progress, cancel: CancelToken | None = None
    ) -> EmbedReport:
        """Embed chunks without a vector; with `rebuild`, embed all, while the old vectors serve."""
        return self._fill(progress, cancel or CancelToken(), renew=rebuild)

    def refill(self, *, progress: Progress) -> EmbedReport:
        """Drop every vector, and restore them from the cache as far as possible."""

        def forget() -> SyncReport:
            drop_all_spaces(self._open_writer())
            return SyncReport()

        with self._held("embed"):
            self._cursors.clear()
            self._repairing(forget)
        return self._fill(progress, CancelToken())

    def embed_step(self, renew: bool) -> EmbedReport:
        """Embed one small batch after the one of the last step; with `renew`, begin a new space."""
        return self._fill(no_progress, CancelToken(lambda: True), renew=renew, resume=True)

    @contextmanager
    def held(self, work: str) -> Iterator[None]:
        """Hold the write lock, with a readable index. Raises BusyError on timeout."""
        with self._held(work):
            self._open_writer()
            yield

    def refresh_folder(self, source: str, folder: Path) -> None:
        """Index the files of a folder if any was added or removed since the last call.

        The caller holds the lock.
        """
        if (times := self._folders.news(str(folder))) is not None:
            root = next(one.config.path for one in self._sources if one.config.name == source)
            self.refresh({source: [folder.relative_to(root).as_posix()]})
            self._folders.keep(str(folder), times)

    def wrote(self, folder: Path, files: Iterable[Path]) -> None:
        """Record that these files of the folder are already indexed."""
        self._folders.wrote(str(folder), map(str, files))

    def put_origins(self, source: str, origins: Sequence[tuple[str, str, Origin]]) -> None:
        """Store the origins of new documents (path, uid, origin), with those of their sessions."""
        scope, resolved = PrivateScope(self._config), []
        for path, uid, origin in origins:
            with suppress(VaultIndexError):  # resolved again before anything is sent
                origin = scope.resolve(origin)
            resolved.append((path, uid, origin))
        self._state.put_origins(source, resolved)

    def refresh(
        self,
        places: Mapping[str, Sequence[str]],
        progress: Progress = no_progress,
        written: Iterable[Parsed] = (),
    ) -> SyncReport:
        """Index the text of these places; the caller holds the lock.

        `written` are documents that the caller has just written, which are not read again.
        """
        return self._repairing(
            lambda: self._synchroniser(progress, CancelToken(), written).sync(self._sources, places)
        )[0]

    def purge(self, keys: set[bytes]) -> None:
        """Remove deleted data from all files, and the cached vectors of these unused keys.

        Hold the lock.
        """
        self._open_cache().drop_embeddings(keys - embed_keys(self._open_writer()))
        self._open_writer().purge()
        self.revisions.purge()

    def forget(self, take_out: Callable[[IndexWriter], set[bytes]], paths: set[str]) -> None:
        """Delete documents with `take_out`, which returns their cache keys, and purge all files.

        The caller holds the lock.
        """
        self._forget(paths)
        self.purge(take_out(self._open_writer()))

    def embed_documents(self, places: Mapping[str, Iterable[str]]) -> None:
        """Embed a few documents with a local model; on an error they stay pending.

        The caller holds the lock.
        """
        from vault_index.indexer.outbound import Outbound
        from vault_index.indexer.vectors import open_space

        if self._config.embedding.provider != "local":
            return
        try:
            writer = self._open_writer()
            pending = partial(pending_of_documents, writer, places=places)
            lacking = {space.id: pending(space.id) for space in read_spaces(writer)}
            if lacking and not any(lacking.values()):  # do not load the model for nothing
                return
            embedder = self._embedder()
            if embedder is None or (space := open_space(writer, embedder)) is None:
                return
            chunks = lacking[space.id] if space.id in lacking else pending(space.id)
            if len(chunks) > EMBEDDED_AT_ONCE:
                return
            outbound = Outbound(embedder, self._state, self._now)
            for start in range(0, len(chunks), embedder.batch_texts):
                vectors = outbound.embed(
                    [[chunk] for chunk in chunks[start : start + embedder.batch_texts]]
                )
                self._open_cache().put_embeddings(space.space, vectors)
                put_vectors(writer, space.id, vectors, chunks)
        except VaultIndexError as error:
            log.info("not embedded at once: %s", error.message)

    def _with_mirror(
        self, places: Mapping[str, Sequence[str]] | None, progress: Progress, cancel: CancelToken
    ) -> Mapping[str, Sequence[str]] | None:
        """Write mirrored sessions as files first, and add these to the places to read."""
        from vault_index.mirroring.mirror import MirroredSessions

        wanted = dict(places or {})
        for source in self._sources:
            if isinstance(source, MirroredSessions) and (
                places is None or source.config.name in places
            ):
                vault = source.vault.config.name
                wanted[vault] = [
                    *wanted.get(vault, ()),
                    *source.follow(self._state, progress, cancel),
                ]
        return None if places is None else wanted

    # --- vectors ----------------------------------------------------------------------------------

    def _fill(
        self, progress: Progress, cancel: CancelToken, *, renew: bool = False, resume: bool = False
    ) -> EmbedReport:
        try:
            return self._fill_spaces(progress, cancel, renew=renew, resume=resume)
        except CacheDamagedError as error:
            with self._held("embed"):
                problem = self.renew_cache(error)
        report = self._fill_spaces(progress, cancel, renew=renew, resume=resume)
        return replace(report, problems=(problem, *report.problems))

    def _fill_spaces(
        self, progress: Progress, cancel: CancelToken, *, renew: bool, resume: bool
    ) -> EmbedReport:
        """Embed batches until nothing is pending; with `resume`, after the last chunk tried."""
        # Imported here because the tokenizer is only needed for embedding.
        from vault_index.indexer.vectors import VectorBuilder, open_space

        started = time.monotonic()
        embedded = cached = 0
        finished = True
        problems: list[Problem] = []
        try:
            embedder = self._embedder()
            with self._held("embed"):
                space = open_space(self._open_writer(), embedder, renew=renew)
            if space is not None and renew:
                self._open_cache().drop_refusals(space.space)
            if embedder is not None and space is None:
                problems.append(_NO_VEC0)
            if embedder is not None and space is not None:
                builder = VectorBuilder(
                    self._open_writer(),
                    self._open_cache(),
                    self._state,
                    embedder,
                    space,
                    lambda: self._held("embed"),
                    now=self._now,
                    after=self._cursors.pop(space.id, 0) if resume else 0,
                    pool=self._pool,
                )
                total = builder.remaining()
                while finished and not (step := builder.step()).finished:
                    embedded, cached = embedded + step.embedded, cached + step.cached
                    progress("embed", embedded + cached, total)
                    finished = not cancel.cancelled
                self._cursors[space.id] = builder.cursor
                coded = True
                while coded:
                    with self._held("embed"):
                        coded = self._open_writer().code_vectors(growing=not finished)
                    if coded and cancel.cancelled:
                        finished = False
                        break
        except (EmbedderError, StateDamagedError) as error:
            problems.append(Problem(error.code, error.message, error.hint))
        pending = self._count_pending()
        self._remember_problem(problems)
        return EmbedReport(
            embedded,
            cached,
            pending,
            round(time.monotonic() - started, 3),
            tuple(problems),
            finished,
        )

    def _count_pending(self) -> int:
        writer = self._open_writer()
        spaces = read_spaces(writer)
        target = next((row for row in spaces if not row.serving), next(iter(spaces), None))
        pending, kept = waiting(writer, target, self._config.embedding.provider, self._now)
        self._remember(KEPT_HOME, str(kept))
        return pending

    def _remember_problem(self, problems: Sequence[Problem]) -> None:
        """Store the problem for `status` of any process."""
        text = (
            json.dumps([problems[0].code, problems[0].message, problems[0].hint])
            if problems
            else ""
        )
        self._remember(EMBED_PROBLEM, text)

    def _remember(self, key: str, text: str) -> None:
        writer = self._open_writer()
        if read_meta(writer, key) != text:
            with self._held("embed"):
                write_meta(writer, key, text)

    # --- connections ------------------------------------------------------------------------------

    def _held(self, work: str) -> AbstractContextManager[None]:
        return self._write_lock.held(work, LOCK_TIMEOUT)

    def _open_writer(self) -> IndexWriter:
        if self._writer is None:
            self._writer = IndexWriter(self._home.index_db)
        return self._writer

    def _open_cache(self) -> Cache:
        if self._cache is None:
            self._cache = Cache(self._home.cache_db)
        return self._cache

    def _synchroniser(
        self, progress: Progress, cancel: CancelToken, written: Iterable[Parsed] = ()
    ) -> Synchroniser:
        settings = RowSettings(
            self._config.chunk.tokens, self._config.chunk.overlap, self._config.memory.dir
        )
        return Synchroniser(
            self._open_writer(),
            self._open_cache(),
            settings,
            progress,
            cancel,
            self._unread,
            self._forget,
            self._state,
            self.revisions,
            written,
        )

    def _forget(self, paths: set[str]) -> None:
        """Delete the plugin's stored recalls that quote one of these deleted documents."""
        for kept in self._home.recalled_dir.glob("*.txt") if paths else ():
            with suppress(OSError):
                if paths & quoted_places(kept.read_text(encoding="utf-8", errors="replace")):
                    kept.unlink()

    def _unread(self) -> Problem | None:
        """Return why sessions are not read now: without the state, forgotten ones would return."""
        try:
            self._state.check()
        except StateDamagedError as error:
            return Problem(error.code, error.message, error.hint)
        return None

    def _repairing(
        self, work: Callable[[], SyncReport], *, whole: bool = False
    ) -> tuple[SyncReport, tuple[Problem, ...]]:
        """Do `work`; if the index or cache is damaged or too old, replace it and repeat the work.

        If the work does not read the `whole` of the sources, sync them to fill the new index.
        """
        problems: list[Problem] = []
        while True:
            try:
                return self._attempt(work, again=bool(problems) and not whole), tuple(problems)
            except (IndexCorruptError, CacheDamagedError) as error:
                if len(problems) == 2:
                    raise
                corrupt = isinstance(error, IndexCorruptError)
                problems.append(self._renew_index(error) if corrupt else self.renew_cache(error))

    def _attempt(self, work: Callable[[], SyncReport], *, again: bool) -> SyncReport:
        """Do `work`, then with `again` sync all sources.

        Raises IndexCorruptError also for damage that SQLite does not notice.
        """
        try:
            report = work()
            if again:
                report = self._synchroniser(no_progress, CancelToken()).sync(self._sources)
            return report
        except VaultIndexError:
            raise
        except Exception as error:
            raise_damage(self._home.index_db, error)
            raise

    def renew_cache(self, error: VaultIndexError) -> Problem:
        """Set a damaged cache aside and refill it from the index; the caller holds the lock."""
        log.warning("filling a new cache: %s", error.message)
        self.close()
        kept = set_aside(self._home.cache_db)
        refill(self._open_cache(), self._home.index_db)
        return Problem(
            "cache_rebuilt",
            f"{error.message}; it was set aside as {kept.name},"
            " and a new one was filled from the index",
            "only texts without a vector in the index are embedded again; you can delete that file",
        )

    def _renew_index(self, error: VaultIndexError) -> Problem:
        kept = self._set_aside()
        log.warning("building the index again: %s", error.message)
        if isinstance(error, IndexTooOldError):
            kept.unlink()
            message = (
                f"{error.message}; it was rebuilt from your files, with the vectors of cache.db"
            )
            return Problem("index_rebuilt", message, "nothing is lost, and no action is needed")
        return Problem(
            "index_rebuilt",
            f"{error.message}; it was set aside as {kept.name} and rebuilt from your files",
            "nothing is lost; you can delete that file",
        )

    def _set_aside(self) -> Path:
        try:
            self.close()
        except VaultIndexError:  # closing a damaged database may fail too
            self._writer = self._cache = None
        damaged = self._home.index_db
        for suffix in ("-wal", "-shm"):
            damaged.with_name(damaged.name + suffix).unlink(missing_ok=True)
        return damaged.rename(damaged.with_name(f"{damaged.name}.damaged"))
