"""Sync the rows of every source with its files: scan, plan, then one document at a time."""

import logging
import os
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

from vault_index.disk import is_under, remove_left_drafts
from vault_index.errors import NotFoundError, StateDamagedError, VaultIndexError
from vault_index.indexer.reading import (
    Parsed,
    Plan,
    Read,
    RowSettings,
    Work,
    diff,
    read_document,
)
from vault_index.indexer.session_filter import to_index
from vault_index.markdown.frontmatter import document_uid
from vault_index.markdown.recalled import fingerprint, runs_in
from vault_index.models import UNTRUSTED, DocumentRef, Fault, FileStamp
from vault_index.progress import CancelToken, Progress
from vault_index.results.base import Failure, Problem
from vault_index.results.changes import SyncReport
from vault_index.sources.files import is_readable_name, numbering, shown_name, spellings
from vault_index.sources.sessions.source import SessionSource
from vault_index.sources.source import EMPTY, YET, Scan, Source
from vault_index.store.cache import Cache
from vault_index.store.connection import NUMBERING, read_meta, write_meta
from vault_index.store.document_names import refresh_names
from vault_index.store.records import SpaceRow
from vault_index.store.revisions import Revision, Revisions
from vault_index.store.spaces import read_spaces
from vault_index.store.state import State
from vault_index.store.vocabulary import count_words
from vault_index.store.writer import DocumentRow, IndexWriter, KnownDocument

log = logging.getLogger(__name__)

_MANY = 600
"""Number of documents that justify a second process, which takes half a second of processor time.
"""
_WRITTEN_TOGETHER = 100
"""Documents written in one transaction; with more, the process that reads ahead must wait."""
_WRITTEN_SECONDS = 0.5
"""Seconds to read these documents. Searches see each transaction."""
_COUNTED_TOGETHER = 2_000
"""Chunks whose words are counted together, because most have the same common words."""


_ReadNow = tuple[DocumentRef, Read | FileStamp, KnownDocument | None]
"""A document that was read: its row, or the row of a removed document with the same content."""


class Synchroniser:
    """Syncs text; vectors follow in `vectors`. Use it while holding the write lock."""

    def __init__(
        self,
        writer: IndexWriter,
        cache: Cache,
        settings: RowSettings,
        progress: Progress,
        cancel: CancelToken,
        unread: Callable[[], Problem | None],
        forget: Callable[[set[str]], None],
        state: State,
        revisions: Revisions,
        written: Iterable[Parsed] = (),
    ) -> None:
        self._writer = writer
        self._cache = cache
        self._settings = settings
        self._progress = progress
        self._cancel = cancel
        self._unread = unread
        """Returns why sessions are not read now, or None."""
        self._forget = forget
        """Called with the paths of removed documents, and of sessions that quote them."""
        self._state = state
        self._revisions = revisions
        self._written = {one.raw.ref: one for one in written}
        self._again: dict[str, list[str]] = {}
        """Sessions to be read again, by source."""
        self._report = SyncReport()
        self._broken: list[str] = []
        """Path, line and fault of each invalid frontmatter that this sync read."""
        self._looked_at: list[DocumentRef] = []
        """The files at the synced places; changes under other names (hard links) cause no event."""

    def sync(
        self,
        sources: Sequence[Source],
        places: Mapping[str, Sequence[str]] | None = None,
        *,
        dry_run: bool = False,
    ) -> SyncReport:
        """Sync all of `sources`, or only the files and folders in `places` (paths by source name).

        If the sync is cancelled, removed documents keep their rows, and the next sync updates the
        names and words.
        """
        started = time.monotonic()
        for source in sources:
            wanted = [""] if places is None else places.get(source.config.name)
            if wanted is not None and self._report.finished:
                self._sync_source(source, wanted, dry_run=dry_run)
        if self._report.finished:
            others = self._writer.other_names(self._looked_at)
            self._cancel = CancelToken()  # few documents, and unknown to a later sync
            for source in sources:
                if more := [
                    *others.get(source.config.name, ()),
                    *self._again.pop(source.config.name, ()),
                ]:
                    self._sync_source(source, more, dry_run=dry_run)
        if places is None and self._report.finished:
            self._forget_other_sources({source.config.name for source in sources}, dry_run=dry_run)
        if self._report.finished and not dry_run:
            refresh_names(self._writer)
            count_words(self._writer)
        if self._broken:
            self._add(problems=(_broken_frontmatter(self._broken),))
        return replace(self._report, seconds=round(time.monotonic() - started, 3))

    def _add(self, **more: Any) -> None:
        """Add counts and lists to the report."""
        self._report = replace(
            self._report,
            **{name: getattr(self._report, name) + value for name, value in more.items()},
        )

    def _sync_source(self, source: Source, places: Sequence[str], *, dry_run: bool) -> None:
        name = source.config.name
        if source.config.kind != "vault" and not source.missing() and (problem := self._unread()):
            self._add(problems=(problem,))
            return
        numbers = numbering(str(source.config.path))
        if not dry_run and numbers != (read_meta(self._writer, f"{NUMBERING} {name}") or ""):
            self._writer.forget_inodes(name, numbers)
        places = [spelled for place in places for spelled in spellings(place)]
        scan, known = self._scan(source, places, dry_run=dry_run)
        if scan.vanished:
            self._report_vanished(source, scan, len(known))
            if not scan.refs:
                return
        plan = self._plan(source, scan, known, places)
        self._add(problems=scan.problems, scanned=len(scan.refs), unchanged=plan.unchanged)
        if dry_run:
            self._add(added=len(plan.added), changed=len(plan.changed), removed=len(plan.removed))
            return
        if read_meta(self._writer, f"root {name}") != _root(source):
            write_meta(self._writer, f"root {name}", _root(source))
        remove_left_drafts(scan.drafts)
        self._apply(source, plan)
        if self._report.finished:
            self._report_faults(name, scan.faults, places)

    def _plan(
        self, source: Source, scan: Scan, known: Mapping[str, KnownDocument], places: Sequence[str]
    ) -> Plan:
        """Compare a scan with the index."""
        answered = {ref.path for ref in scan.refs}
        comparable = {
            path: row for path, row in known.items() if path in answered or scan.knows(path)
        }
        plan = diff(scan.refs, comparable, self._settings.made_with(source))
        if "" not in places:
            self._look_for_other_names(source, set(places) - answered, scan, plan)
        return plan

    def _report_vanished(self, source: Source, scan: Scan, known: int) -> None:
        if known or not scan.reason.endswith(YET):
            name = source.config.name
            kept = f"source {name!r}: {scan.reason}; its {known} documents stay in the index"
            self._add(problems=(Problem("source_vanished", kept, source.remedy),))

    def _look_for_other_names(
        self, source: Source, unanswered: Iterable[str], scan: Scan, plan: Plan
    ) -> None:
        """Note the files of some places, to read those that have other names (hard links)."""
        name = source.config.name
        self._looked_at += scan.refs
        # A path that is not a document may be another name of one.
        self._looked_at += [
            DocumentRef(name, place, stamp)
            for place in unanswered
            if (stamp := source.stamp(place))
        ]
        # A file may have been edited under this name before the name was removed or reused.
        self._looked_at += [
            DocumentRef(name, row.path, row.stamp._replace(size=-1))
            for row in (*plan.removed, *(row for _, row in plan.changed))
        ]

    def _report_faults(self, name: str, faults: Sequence[Fault], places: Sequence[str]) -> None:
        """Store the faults of the scan; those of the synced paths count as failures."""
        self._note_faults(name, faults, [shown_name(place) for place in places])
        asked = {shown_name(place) for place in places if not is_readable_name(place)}
        self._add(
            failed=tuple(
                Failure(fault.path, fault.message) for fault in faults if fault.path in asked
            )
        )

    def _scan(
        self, source: Source, places: Sequence[str], *, dry_run: bool
    ) -> tuple[Scan, Mapping[str, KnownDocument]]:
        """Return the scan of these places, and the indexed state of their documents."""
        name = source.config.name
        known = self._writer.known(name, [place for place in places if is_readable_name(place)])
        scan = source.scan_places(places)
        if scan.vanished and scan.reason.endswith(EMPTY) and self._is_really_empty(source):
            scan, known = scan._replace(vanished=False), self._writer.known(name)
        if isinstance(source, SessionSource) and not dry_run:
            same = read_meta(self._writer, f"root {name}") == _root(source)
            return to_index(source, scan, known, self._state, same=same)
        return scan, known

    def _is_really_empty(self, source: Source) -> bool:
        """Return whether a folder is really empty, and not just an unmounted disk.

        It is if it had no documents before, or if the last one was removed from the same folder.
        """
        known = len(self._writer.known(source.config.name))
        return not known or (
            known == 1 and read_meta(self._writer, f"root {source.config.name}") == _root(source)
        )

    def _apply(self, source: Source, plan: Plan) -> None:
        """Apply a plan: write files before removals, to recognise moved files by their content."""
        vanished: dict[bytes, list[KnownDocument]] = {}
        for row in reversed(plan.removed):
            vanished.setdefault(row.content_hash, []).append(row)
        work = [*plan.changed, *((ref, None) for ref in plan.added)]
        if work:
            with suppress(StateDamagedError):  # sessions are then not read
                self._settings = self._settings._replace(deleted=self._state.deleted())
        gone = {(source.config.name, row.path) for row in plan.removed}
        batches = self._batches(source, work, vanished)
        taken = {id_ for batch in batches for id_ in self._write(batch, gone)}
        if self._report.finished:
            self._remove(source, [row for row in plan.removed if row.id not in taken])

    def _batches(
        self, source: Source, work: Work, vanished: Mapping[bytes, list[KnownDocument]]
    ) -> Iterator[list[_ReadNow]]:
        """Read documents, up to the cancellation; yield those to be written together."""
        batch: list[_ReadNow] = []
        began = time.monotonic()
        with closing(self._read_ahead(source, work)) as ahead:
            for done, ((ref, old), read) in enumerate(zip(work, ahead, strict=True), start=1):
                if done > 1 and self._cancel.cancelled:
                    self._report = replace(self._report, finished=False)
                    break
                if read := read or self._read(source, ref, old):
                    lone = vanished.get(read.row.content_hash) if isinstance(read, Read) else None
                    batch.append((ref, read, old or (lone.pop() if lone else None)))
                if len(batch) == _WRITTEN_TOGETHER or time.monotonic() > began + _WRITTEN_SECONDS:
                    yield batch
                    batch, began = [], time.monotonic()
                self._progress("text", done, len(work))
        if batch:
            yield batch

    def _remove(self, source: Source, gone: Sequence[KnownDocument]) -> None:
        """Remove rows from the index, and what it has quoted from them."""
        lost = self._writer.texts_of_memories(row.id for row in gone)
        alone = self._writer.memories_alone(row.id for row in gone)
        if alone:
            self._revisions.observe(
                (Revision(uid, source.config.name, path), "") for uid, path in alone.values()
            )
        for row in gone:
            self._writer.remove_document(row.id)
            self._add(removed=1)
        self._forget({row.path for row in gone} | self._leave_out(lost))

    def _leave_out(self, lost: Sequence[tuple[str, str]]) -> set[str]:
        """Mark sessions that quote texts of deleted memories, to be read again without them.

        Return their paths. Text that is also in a note or another memory is not deleted.
        """
        if not lost:
            return set()
        runs = {run: uid for uid, text in lost for run in runs_in(text)}
        held = self._writer.with_phrases([*runs])
        still = {
            run
            for _, kind, text in held
            if kind != "session"
            for run in runs.keys() & runs_in(text)
        }
        with suppress(StateDamagedError):
            salt, _ = self._state.deleted()
            self._state.put_deleted(
                {fingerprint(run, salt): uid for run, uid in runs.items() if run not in still}
            )
        return self._read_again(
            {key for key, kind, _ in held if kind == "session" and still != runs.keys()}
        )

    def _restored(self, row: DocumentRow) -> None:
        """Undelete the contents of a memory, and mark sessions that quote it to be read again."""
        salt, deleted = self._settings.deleted
        runs = runs_in(row.title, *(chunk.text for chunk in row.chunks))
        back = self._state.restore_deleted(row.uid, [fingerprint(run, salt) for run in runs])
        self._settings = self._settings._replace(deleted=(salt, deleted.difference(back)))
        self._read_again((), back)

    def _read_again(self, document_ids: Iterable[int], omitting: Iterable[int] = ()) -> set[str]:
        places = self._writer.read_again(document_ids, omitting)
        for source, path in places:
            self._again.setdefault(source, []).append(path)
        return {path for _, path in places}

    def _read_ahead(self, source: Source, work: Work) -> Generator[Read | FileStamp | None]:
        """Return the results of the second process; None for a document to be read here."""
        if len(work) < _MANY:
            return (None for _ in work)
        # Imported here: pickle and subprocess take 8 ms.
        from vault_index.indexer.reader_process import read_ahead

        return read_ahead(source, work, self._settings)

    def _write(self, batch: Sequence[_ReadNow], gone: Collection[tuple[str, str]]) -> set[int]:
        """Record the revisions of memories and write the rows; return the ids of replaced rows."""
        before = self._writer.memories_alone(row.id for _, _, row in batch if row)
        if memories := [
            seen
            for _, read, row in batch
            if (seen := _seen(read, before.get(row.id) if row else None))
        ]:
            self._revisions.observe(memories, gone)
        return self._put_all(batch)

    def _put_all(self, batch: Sequence[_ReadNow]) -> set[int]:
        """Write documents in one transaction; after an unexpected error, each in its own."""
        before = self._report, self._broken[:]
        try:
            with self._writer.transaction():
                spaces = read_spaces(self._writer)
                for _, read, row in batch:
                    if isinstance(read, Read):
                        self._put(read, row, spaces)
                    elif row:
                        self._writer.put_stamp(row.id, read)
                        self._add(unchanged=1)
                count_words(self._writer, least=_COUNTED_TOGETHER)
            return {row.id for _, _, row in batch if row}
        except VaultIndexError:
            raise
        except Exception as error:  # noqa: BLE001 - the other documents are written
            self._report, self._broken = before
            if len(batch) == 1:
                self._defect(batch[0][0], error)
                return set()
        return {id_ for one in batch for id_ in self._put_all([one])}

    def _put(self, read: Read, old: KnownDocument | None, spaces: Iterable[SpaceRow]) -> None:
        """Write one document.

        Write even if only the file time changed: dates can depend on it. Unchanged chunks cost
        nothing.
        """
        keys = [chunk.embed_key for chunk in read.row.chunks]
        cached = {
            space.id: {} if space.renewed else self._cache.embeddings(space.space, keys)
            for space in spaces
        }
        self._writer.put_document(read.row, read.faults, old.id if old else None, cached)
        moved = old is not None and old.path != read.row.path
        made = read.row.content_hash, read.row.made_with
        if old and not moved and (old.content_hash, old.made_with) == made:
            self._add(unchanged=1)
        else:
            self._add(
                changed=bool(old) and not moved,
                moved=moved,
                added=not old,
                chunks=len(read.row.chunks),
            )
        if read.row.kind == "memory" and self._settings.deleted[1]:
            self._restored(read.row)
        self._broken += [
            f"{shown_name(read.row.path)}:{fault.line}: {fault.message}"
            for fault in read.faults
            if fault.code == "frontmatter"
        ]

    def _read(
        self, source: Source, ref: DocumentRef, old: KnownDocument | None
    ) -> Read | FileStamp | None:
        """Read one file; None if it is unreadable or was removed after the scan."""
        try:
            without_ctime = ref._replace(stamp=ref.stamp._replace(ctime_ns=UNTRUSTED))
            written = self._written.get(without_ctime)
            return read_document(source, ref, self._settings, old, written)
        except NotFoundError:
            return None  # removed after the scan
        except VaultIndexError as error:
            self._fail(ref, error.message)
        except Exception as error:  # noqa: BLE001 - one document must not end the sync
            self._defect(ref, error)
        return None

    def _defect(self, ref: DocumentRef, error: Exception) -> None:
        """Report an unexpected error of one document, which keeps its old rows.

        Errors of the store (no space, locked, damaged) concern all documents and are raised.
        """
        log.error("a defect of vault-index path=%s", ref.path, exc_info=error)
        self._fail(ref, f"a defect of vault-index: {type(error).__name__}")

    def _fail(self, ref: DocumentRef, reason: str) -> None:
        path = shown_name(ref.path)
        self._add(failed=(Failure(path, reason),))
        self._writer.put_faults(ref.source, path, [Fault("unreadable", shown_name(reason), path)])

    def _note_faults(self, name: str, faults: Iterable[Fault], places: Sequence[str]) -> None:
        """Store the faults of files without a document, and delete resolved ones."""
        now: dict[str, list[Fault]] = {}
        for fault in faults:  # names and system messages may hold any bytes
            path = shown_name(fault.path)
            now.setdefault(path, []).append(
                fault._replace(path=path, message=shown_name(fault.message))
            )
        failed = {failure.path for failure in self._report.failed}
        before = self._writer.lone_faults(name)
        for path in {*now, *before} - failed:
            if any(is_under(at, path) for at in places) and now.get(path, []) != before.get(
                path, []
            ):
                self._writer.put_faults(name, path, now.get(path, []))

    def _forget_other_sources(self, names: set[str], *, dry_run: bool) -> None:
        for name in self._writer.source_names():
            if name not in names:
                for row in self._writer.known(name).values():
                    if not dry_run:
                        self._writer.remove_document(row.id)
                    self._add(removed=1)


def _seen(read: Read | FileStamp, before: tuple[str, str] | None) -> tuple[Revision, str] | None:
    """Return the revision of a memory that had the id and path `before`, and its previous id.

    If an id derives from the path, the history moves to the new id: after a move, or when the file
    gains or loses an id of its own.
    """
    if not isinstance(read, Read) or read.row.kind != "memory":
        return None
    row = read.row
    was, path = before or ("", "")
    of_place = was and (
        document_uid(None, row.source, path) == was
        or document_uid(None, row.source, row.path) == row.uid
    )
    revision = Revision(
        row.uid, row.source, row.path, row.content_hash, read.version, row.entered_by or ""
    )
    return revision, was if of_place else ""


def _broken_frontmatter(places: Sequence[str]) -> Problem:
    more = f"; `vault-index status` lists {len(places) - 1} more like it" if len(places) > 1 else ""
    hint = (
        "the note is indexed without the invalid part; put a value in quotes to make it plain text"
    )
    return Problem("frontmatter", places[0] + more, hint)


def _root(source: Source) -> str:
    """Return the identity of the folder of a source, to detect an unmounted disk."""
    try:
        status = os.stat(source.config.path)
    except OSError:
        return ""
    return f"{status.st_dev}:{status.st_ino}"
