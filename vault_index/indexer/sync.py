"""Bringing the rows of every source up to date with its files: scan, plan, then one document at a time."""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace

from vault_index.cancel import CancelToken
from vault_index.errors import NotFoundError, VaultIndexError
from vault_index.indexer.reader_process import read_ahead
from vault_index.indexer.reading import Plan, Read, RowSettings, diff, read_document
from vault_index.models import DocumentRef, Fault, Progress, Vector
from vault_index.results import Failure, Problem, SyncReport
from vault_index.sources.names import is_readable_name, shown_name
from vault_index.sources.source import Source
from vault_index.store.cache import Cache
from vault_index.store.document_names import refresh_names
from vault_index.store.spaces import read_spaces
from vault_index.store.vocabulary import count_words
from vault_index.store.writer import IndexWriter, KnownDocument

log = logging.getLogger(__name__)

_COUNTED_TOGETHER = 100
"""Documents after which their words are counted: with fewer each word is counted again and again, with more the process
that reads ahead has to wait."""


@dataclass(slots=True)
class _Tally:
    """Counts while a sync runs."""

    scanned: int = 0
    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    chunks: int = 0
    cached: int = 0
    failed: list[Failure] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    finished: bool = True

    def report(self, seconds: float) -> SyncReport:
        return SyncReport(
            scanned=self.scanned,
            added=self.added,
            changed=self.changed,
            moved=self.moved,
            removed=self.removed,
            unchanged=self.unchanged,
            failed=tuple(self.failed),
            chunks=self.chunks,
            cached=self.cached,
            seconds=round(seconds, 3),
            problems=tuple(self.problems),
            finished=self.finished,
        )


class _Vanished:
    """Documents whose files are gone, until a new file with the same content shows that they moved."""

    def __init__(self, rows: Sequence[KnownDocument]) -> None:
        self._rows = {row.id: row for row in rows}
        self._by_hash: dict[bytes, list[KnownDocument]] = {}
        for row in reversed(rows):
            self._by_hash.setdefault(row.content_hash, []).append(row)

    def of_same_content(self, content_hash: bytes) -> KnownDocument | None:
        rows = self._by_hash.get(content_hash)
        return rows[-1] if rows else None

    def moved(self, row: KnownDocument) -> None:
        """The row that `of_same_content` found last."""
        self._by_hash[row.content_hash].pop()
        del self._rows[row.id]

    def rest(self) -> list[KnownDocument]:
        return list(self._rows.values())


class Synchroniser:
    """Brings text up to date; vectors follow in `vectors`. Use it while holding the write lock."""

    def __init__(
        self, writer: IndexWriter, cache: Cache, settings: RowSettings, progress: Progress, cancel: CancelToken
    ) -> None:
        self._writer = writer
        self._cache = cache
        self._settings = settings
        self._progress = progress
        self._cancel = cancel

    def sync(
        self,
        sources: Sequence[Source],
        places: Mapping[str, Sequence[str]] | None = None,
        *,
        dry_run: bool = False,
    ) -> SyncReport:
        """Sync all of `sources`, or only the files and folders in `places` (paths by source name).

        When it is cancelled, documents that vanished keep their rows, and the names and words of the index are brought
        up to date by the sync that goes on.
        """
        started = time.monotonic()
        tally = _Tally()
        for source in sources:
            wanted = [""] if places is None else places.get(source.config.name)
            if wanted is not None and tally.finished:
                self._sync_source(source, wanted, tally, dry_run=dry_run)
        if places is None and tally.finished:
            self._forget_other_sources({source.config.name for source in sources}, tally, dry_run=dry_run)
        if tally.finished and not dry_run:
            refresh_names(self._writer)
            count_words(self._writer)
        return tally.report(time.monotonic() - started)

    def _sync_source(self, source: Source, places: Sequence[str], tally: _Tally, *, dry_run: bool) -> None:
        name = source.config.name
        known = self._writer.known(name, [place for place in places if is_readable_name(place)])
        scan = source.scan_places(places)
        if scan.vanished:
            tally.problems.append(_vanished(source, scan.reason, len(known)))
            return
        tally.problems += scan.problems
        answered = {ref.path for ref in scan.refs}
        comparable = {path: row for path, row in known.items() if path in answered or scan.knows(path)}
        plan = diff(scan.refs, comparable, self._settings.made_with(source))
        tally.scanned += len(scan.refs)
        tally.unchanged += plan.unchanged
        if dry_run:
            tally.added, tally.changed = tally.added + len(plan.added), tally.changed + len(plan.changed)
            tally.removed += len(plan.removed)
            return
        self._apply(source, plan, tally)
        if not tally.finished:
            return
        self._note_faults(name, scan.faults, [shown_name(place) for place in places], tally)
        asked = {shown_name(place) for place in places if not is_readable_name(place)}
        tally.failed += [Failure(fault.path, fault.message) for fault in scan.faults if fault.path in asked]

    def _apply(self, source: Source, plan: Plan, tally: _Tally) -> None:
        """Files first, removals last: what vanished here may have appeared there."""
        vanished = _Vanished(plan.removed)
        made_with = self._settings.made_with(source)
        work = [*plan.changed, *((ref, None) for ref in plan.added)]
        with closing(read_ahead(source, [ref for ref, _ in work], self._settings)) as ahead:
            for done, ((ref, old), read) in enumerate(zip(work, ahead, strict=True), start=1):
                if done > 1 and self._cancel.cancelled:
                    tally.finished = False
                    return
                with self._guarded(ref, tally):
                    read = read or self._read(source, ref, tally)
                    if read is not None and old is not None:
                        self._put_again(read, old, made_with, tally)
                    elif read is not None:
                        self._put_new(read, vanished, tally)
                if done % _COUNTED_TOGETHER == 0:
                    count_words(self._writer)
                self._progress("text", done, len(work))
        for row in vanished.rest():
            self._writer.remove_document(row.id)
            tally.removed += 1

    def _put_again(self, read: Read, old: KnownDocument, made_with: str, tally: _Tally) -> None:
        # Written even when only the stamp is new: dates fall back to it. Equal chunks cost nothing.
        self._put(read, old.id)
        if read.row.content_hash == old.content_hash and old.made_with == made_with:
            tally.unchanged += 1
        else:
            tally.changed += 1
            tally.chunks += len(read.row.chunks)

    def _put_new(self, read: Read, vanished: _Vanished, tally: _Tally) -> None:
        moved_from = vanished.of_same_content(read.row.content_hash)
        self._put(read, moved_from.id if moved_from else None)
        if moved_from is not None:
            vanished.moved(moved_from)
        tally.moved += moved_from is not None
        tally.added += moved_from is None
        tally.chunks += len(read.row.chunks)

    def _put(self, read: Read, replaces: int | None) -> None:
        known = self._known_vectors([chunk.embed_key for chunk in read.row.chunks])
        self._writer.put_document(read.row, read.faults, replaces, known)

    @contextmanager
    def _guarded(self, ref: DocumentRef, tally: _Tally) -> Iterator[None]:
        """The step of one document, from its file to its rows: what nobody foresaw stops no other document, and keeps
        its old rows. What the store says (no space, locked, damaged) concerns all of them, and passes."""
        try:
            yield
        except VaultIndexError:
            raise
        except Exception as error:
            log.exception("a defect of vault-index path=%s", ref.path)
            self._fail(ref, f"a defect of vault-index: {type(error).__name__}", tally)

    def _read(self, source: Source, ref: DocumentRef, tally: _Tally) -> Read | None:
        """The rows of one file; None where it cannot be read, or is gone since the scan: the next one knows."""
        try:
            return read_document(source, ref, self._settings)
        except NotFoundError:
            return None
        except VaultIndexError as error:
            self._fail(ref, error.message, tally)
            return None

    def _fail(self, ref: DocumentRef, reason: str, tally: _Tally) -> None:
        path = shown_name(ref.path)
        tally.failed.append(Failure(path, reason))
        self._writer.put_faults(ref.source, path, [Fault("unreadable", shown_name(reason), path)])

    def _known_vectors(self, keys: Sequence[bytes]) -> dict[int, dict[bytes, Vector]]:
        return {
            row.id: {} if row.renewed else self._cache.embeddings(row.space, keys) for row in read_spaces(self._writer)
        }

    def _note_faults(self, name: str, faults: Iterable[Fault], places: Sequence[str], tally: _Tally) -> None:
        """Remember what is wrong with files that have no document, and forget what is mended."""
        now: dict[str, list[Fault]] = {}
        for fault in faults:  # names and words of the system may hold any bytes
            path = shown_name(fault.path)
            now.setdefault(path, []).append(replace(fault, path=path, message=shown_name(fault.message)))
        failed = {failure.path for failure in tally.failed}
        before = self._writer.lone_faults(name)
        for path in {*now, *before} - failed:
            if any(_is_under(path, at) for at in places) and now.get(path, []) != before.get(path, []):
                self._writer.put_faults(name, path, now.get(path, []))

    def _forget_other_sources(self, names: set[str], tally: _Tally, *, dry_run: bool) -> None:
        for name in self._writer.source_names():
            if name not in names:
                for row in self._writer.known(name).values():
                    if not dry_run:
                        self._writer.remove_document(row.id)
                    tally.removed += 1


def _is_under(path: str, place: str) -> bool:
    return not place or path == place or path.startswith(f"{place}/")


def _vanished(source: Source, reason: str, documents: int) -> Problem:
    return Problem(
        "source_vanished",
        f"source {source.config.name!r}: {reason}; its {documents} documents are kept in the index",
        source.remedy,
    )
