"""Find, store, change and remove memories while the write lock is held."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from shlex import quote
from typing import Any

from vault_index.errors import BusyError, ConflictError, NotFoundError, UsageError, VaultIndexError
from vault_index.indexer.reading import Parsed
from vault_index.markdown.frontmatter import document_uid, origin_in, string_list, unreviewed_in
from vault_index.memories.file.document import BOM, MemoryFile, is_over, read_text, with_more_tags
from vault_index.memories.file.files import MemoryFiles, PlannedFiles, to_utf8
from vault_index.memories.file.frontmatter_edit import with_changes
from vault_index.memories.file.scoped import ScopedFiles
from vault_index.memories.journal import Journal
from vault_index.models import DocumentRef, Filters, Origin, RawDocument
from vault_index.progress import Progress, no_progress
from vault_index.results.memories import MemoryOutcome, StoredMemory
from vault_index.runtime import Runtime
from vault_index.store.documents import Order, documents_by_id, documents_page, memories_by_identity
from vault_index.store.pool import Connections
from vault_index.store.records import StoredDocument

_MANY_PATHS = 50
"""Above this number of paths, scanning the whole memory folder is faster."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@contextmanager
def writing(
    runtime: Runtime,
    work: str,
    sources: Sequence[str],
    now: datetime | None = None,
    *,
    who: str = "",
    dry_run: bool = False,
    typed_in: Sequence[Origin] = (),
) -> Iterator["MemoryStore"]:
    """Hold the write lock and yield the memories, with an index that is up to date.

    The index is updated again at the end. New memories go to the one source given, else to
    `memory.vault`, else to the first vault. All writes are one change of the journal, with `work`
    as the command and with the caller: the name of the token, or else `who`. A `dry_run` does
    everything except writing. `typed_in` is recorded as an origin of each memory that is stored or
    changed.

    Raises UsageError if there is no such vault, NotFoundError if it is not mounted, and BusyError
    if another process keeps the lock.
    """
    home = home_of_memories(runtime, sources)
    with ExitStack() as stack:
        try:
            stack.enter_context(runtime.write.held(work))
            for name, vault in runtime.vaults.items():
                runtime.write.refresh_folder(name, vault.config.path / runtime.config.memory.dir)
        except BusyError as error:
            raise BusyError(f"{error.message}; no memory was written", error.hint) from error
        connections = stack.enter_context(runtime.pool.lend(snapshot=False))
        now = now or datetime.now().astimezone()
        revisions = None if dry_run else runtime.write.revisions
        journal = Journal(revisions=revisions, work=work, who=runtime.author or who)
        memories = MemoryStore(
            runtime=runtime,
            connections=connections,
            home=home,
            now=now,
            journal=journal,
            dry_run=dry_run,
            typed_in=typed_in,
        )
        try:
            yield memories
        except BaseException:
            with suppress(VaultIndexError):
                memories.flush()
            raise
        memories.flush()


def home_of_memories(runtime: Runtime, sources: Sequence[str]) -> str:
    """Return the name of the vault for new memories.

    Raises UsageError if there is no such vault, and NotFoundError if its folder is missing because
    a disk is not mounted.
    """
    home = runtime.config.source(named).name if (named := runtime.config.memory.vault) else ""
    sources = sources or ((home,) if home and (home in runtime.vaults or not runtime.hides) else ())
    if len(sources) > 1:
        raise UsageError(
            f"a memory is written to one source, not to {', '.join(sources)}", "name one of them"
        )
    if not sources and not runtime.vaults:
        raise UsageError("there is no vault to write to", "add one: vault-index source add PATH")
    name = sources[0] if sources else next(iter(runtime.vaults))
    if name not in runtime.vaults:
        raise UsageError(
            f"source {name!r} cannot store memories", f"choose one of: {', '.join(runtime.vaults)}"
        )
    vault = runtime.vaults[name]
    if not vault.config.path.is_dir():
        raise NotFoundError(f"source {name!r}: {vault.missing()}", "is its disk mounted?")
    return name


@dataclass(slots=True, kw_only=True)
class MemoryStore:
    """The memories of an index whose write lock is held; created by `writing`.

    The index knows where memories are; only their files have the current text. Files are written
    one by one, and `flush` updates the index, so that an import of thousands costs one sync.
    `duplicate` also finds memories stored since the last flush.
    """

    runtime: Runtime
    connections: Connections
    home: str
    """The source for new memories."""
    now: datetime
    journal: Journal
    folders: tuple[str, ...] = ()
    """The project folders of new memories, if known."""
    typed_in: Sequence[Origin] = ()
    """Where the text was typed; recorded for each memory, in addition to its project."""
    dry_run: bool = False
    """Whether writes are only planned."""
    _files: dict[str, MemoryFiles] = field(default_factory=dict)
    _stored: dict[bytes, tuple[str]] = field(default_factory=dict)
    """The path of each stored memory that is not indexed yet, by identity."""
    _written: dict[str, list[str]] = field(default_factory=dict)
    """Paths to index in the next flush, by source."""
    _parsed: list[Parsed] = field(default_factory=list)
    """New files that need not be read for the next flush."""
    _origins: list[tuple[str, str, Origin]] = field(default_factory=list)
    """Path, id and origin of new memories that have an origin."""
    _unsynced: list[str] = field(default_factory=list)
    """New files whose folders are not synced to disk yet."""

    def find(self, ref: str, sources: Sequence[str] = ()) -> StoredDocument:
        """Return the memory that a reference names.

        Raises NotFoundError if there is none, and UsageError for a note or a part of a memory.
        """
        place = self.runtime.resolve(self.connections, ref, sources)
        document = place.document
        if document.kind != "memory":
            raise UsageError(
                f"{document.path} is a {document.kind}; only memories can be changed",
                f"memories are in {self.runtime.config.memory.dir}/; change notes in your editor",
            )
        if (place.first, place.last) != (1, None):
            raise UsageError(f"{ref} is a part of {document.path}", "give the whole memory")
        return document

    def known(self, uid: str) -> StoredDocument | None:
        """Return the indexed memory with this id."""
        return next(iter(documents_by_id(self.connections.reader, uid)), None)

    def read(self, document: StoredDocument) -> MemoryFile:
        """Read the file of a memory. Raises NotFoundError if it does not exist."""
        return self.files(document.source).read(document.path)

    def at(self, path: str) -> MemoryFile | None:
        """Return the memory with this path or name in the vault for new memories, or None."""
        files = self.files(self.home)
        try:
            return files.read(files.resolve(path))
        except NotFoundError:
            return None

    def listed(self, filters: Filters, column: str) -> list[StoredDocument]:
        """Return the indexed memories of vaults that match the filters, sorted by a column."""
        sources = filters.sources or tuple(self.runtime.vaults)
        wanted = filters._replace(kinds=("memory",), sources=sources)
        return documents_page(
            self.connections.reader, wanted, Order(column, descending=False), -1, 0
        )[0]

    def duplicate(
        self, new: MemoryFile, ignoring: Iterable[str] = (), *, folder: str | None = None
    ) -> MemoryFile | None:
        """Return a memory with the same content that is still valid, or None.

        The file decides, not the index. `ignoring` are paths that do not count. A memory in the
        inbox counts only if the new one goes to the inbox too: otherwise the new one would wait for
        review.
        """
        where = self.runtime.config.memory.dir
        place = self.files(self.home).resolve(new.path) if new.path else f"{where}/{folder}/"
        most = unreviewed_in(place, where)
        indexed = memories_by_identity(self.connections.reader, new.identity, self.home)
        stored = self._stored.get(new.identity, ())
        for path in dict.fromkeys((*stored, *(document.path for document in indexed))):
            if path in ignoring or unreviewed_in(path, where) > most:
                continue
            with suppress(VaultIndexError):  # a deleted or unreadable one cannot be merged
                file = self.files(self.home).read(path)
                is_valid = not is_over(file.front, self.now.timestamp())
                if is_valid and file.identity == new.identity:
                    return file
        return None

    def files(self, source: str) -> MemoryFiles:
        """Return the memory files of a source, limited to the scope of the caller."""
        if source not in self._files:
            runtime = self.runtime
            if source not in runtime.vaults and source in runtime.by_name:
                raise UsageError(
                    f"source {source!r} is read-only", "change the file in the client it belongs to"
                )
            where = runtime.vaults[source].config.path, runtime.config.memory.dir, source
            plain = PlannedFiles if self.dry_run else MemoryFiles
            scope = runtime.scope
            self._files[source] = (
                plain(*where) if scope is None or scope.whole else ScopedFiles(*where, scope)
            )
        return self._files[source]

    def store(
        self, new: MemoryFile, replaced: Sequence[StoredDocument] = (), *, folder: str | None = None
    ) -> StoredMemory:
        """Store a memory, or merge it into one with the same content.

        The memories in `replaced` are marked as superseded in the same step. If an error is raised,
        nothing was written, unless its message says otherwise.
        """
        old = [self.read(document) for document in replaced]
        duplicate = self.duplicate(new, [file.path for file in old], folder=folder)
        if duplicate is not None:
            return self._merge(duplicate, new, old)
        if known := self.known(new.uid):
            raise UsageError(
                f"{known.path} has the same id {new.uid}, but another text",
                f"change it: vault-index update {new.uid}; or remove the id from the new one",
            )
        text, marked = superseding(new, new.text, old)
        path = self.put(new, text, folder=folder)
        self._stored[new.identity] = (path,)
        warnings = self._mark_superseded(marked, f"{path} is stored as {new.uid}")
        if not self.dry_run and self.runtime.vaults[self.home].look(path) is None:
            warnings.insert(
                0, f"{path} is written, but not searched: an ignore rule of the vault matches it"
            )
        return StoredMemory(new.uid, path, True, warnings=tuple(warnings))

    def put(self, new: MemoryFile, text: str | None = None, *, folder: str | None = None) -> str:
        """Write a memory to a new file, even if it is a duplicate; return its path.

        The path is that of `new`, or else `<folder>/<day>-<title>.md`; the default folder is its
        type.
        """
        self.must_be_there(self.home)
        front = new.front
        files, day = self.files(self.home), _DAY.match(str(front.get("created")))
        if new.path:
            path = files.named(new.path)
        else:
            folder = folder or str(front.get("type") or "note")
            path = files.free_path(folder, day[0] if day else str(self.now.date()), new.title)
        data = to_utf8(new.text if text is None else text)
        try:
            uid, author = document_uid(front.get("id"), self.home, path), front.get("entered_by")
            with self.journal.step(files, path, data, uid=uid, author=str(author or "")):
                stamp = files.create(path, data)
        except ConflictError as error:
            raise UsageError(
                f"{path} exists and has another text",
                f"change it: vault-index update {quote(path)}",
            ) from error
        self._unsynced.append(path)
        if text in (None, new.text) and new.title and len(self._parsed) < _MANY_PATHS:
            ref, digest = DocumentRef(self.home, path, stamp), hashlib.sha256(data).digest()
            raw = RawDocument(ref, new.text.removeprefix(BOM), digest, data=data)
            self._parsed.append(Parsed(raw, new.parsed))
        self.record(path, new.uid, front, new)
        self.note(self.home, path)
        return path

    def record(self, path: str, uid: str, front: Mapping[str, Any], text: MemoryFile) -> None:
        """Record the origins of a memory's text; the next flush stores them.

        They are the project, session and tags in `front` and in the text, and `typed_in`.
        """
        named = origin_in({key: front.get(key) for key in ("project", "session")})
        tags = {"tags": front.get("tags"), "tag": front.get("tag")}
        tagged = origin_in({**text.parsed.inline, **tags}, text.parsed.tags)
        origins = (named._replace(folders=self.folders), tagged, *self.typed_in)
        self._origins += [(path, uid, origin) for origin in origins if any(origin)]

    def must_be_there(self, source: str) -> None:
        """Raise NotFoundError if a vault is missing.

        A vault that is empty, although documents of it are indexed, is a disk that is not mounted.
        """
        if (vault := self.runtime.vaults.get(source)) is None:
            raise NotFoundError(
                f"the vault {source!r} no longer exists",
                "add it again: vault-index source add PATH",
            )
        here = Filters(sources=(source,))
        if (reason := vault.missing()) and documents_page(
            self.connections.reader, here, Order(), 1, 0
        )[1]:
            raise NotFoundError(
                f"source {source!r}: {reason}; nothing is written",
                "mount it again, or choose another with --source",
            )

    def replace(self, file: MemoryFile, text: str | bytes) -> None:
        """Replace the text of a file. Raises ConflictError if it changed since it was read."""
        if text not in (file.text, file.data):
            files = self.files(file.source)
            with self.journal.step(files, file.path, to_utf8(text), file):
                files.replace(file.path, text, file)
        self.note(file.source, file.path)

    def rewrite(
        self, file: MemoryFile, text: str, replaced: Sequence[MemoryFile] = (), done: str = ""
    ) -> list[str]:
        """Replace the text of a file, set its time of change, and mark memories that it supersedes.

        Return warnings. `done` is the part that is complete if marking fails.
        """
        text, marked = superseding(file, text, replaced)
        if text != file.text:
            if read_text(text).front:  # do not add frontmatter only for a time
                text = with_changes(text, {"updated": self.now.isoformat(timespec="seconds")})
            self.replace(file, text)
        return self._mark_superseded(marked, done or f"{file.path} is changed")

    def _mark_superseded(self, marked: Sequence[tuple[MemoryFile, str]], done: str) -> list[str]:
        """Write the texts of superseded memories; return a warning for each superseded before.

        An error message begins with `done`, the part of the command that is complete.
        """
        if marked:
            self._sync_folders()
        for number, (file, text) in enumerate(marked):
            try:
                self.replace(file, text)
            except VaultIndexError as error:
                rest = ", ".join(one.path for one, _ in marked[number:])
                raise type(error)(
                    f"{done}, but not yet marked as superseded: {rest}: {error.message}",
                    "run the same command again to complete it",
                ) from error
        before = ((file.path, file.front.get("superseded_by")) for file, _ in marked)
        return [f"{path} was superseded by {other} before" for path, other in before if other]

    def trash(self, source: str, path: str) -> str:
        """Move a file to the `.trash/` of its vault and return its path there."""
        files, file = self.files(source), None
        with suppress(VaultIndexError):  # one that is too large is moved all the same
            file = files.read(path, any_bytes=True)
        with self.journal.step(files, path, None, file):
            trashed = files.trash(path)
        self.note(source, path)
        return trashed

    def restore(self, source: str, path: str, uid: str, data: bytes) -> None:
        """Write a removed file again. Raises ConflictError if the path is taken."""
        files = self.files(source)
        with self.journal.step(files, path, data, uid=uid):
            files.create(path, data)
            files.settle([path])
        self.note(source, path)

    def move(self, source: str, path: str, target: str) -> None:
        """Rename a file within its memory folder. Raises ConflictError if `target` is taken."""
        files = self.files(source)
        file = files.read(path, any_bytes=True)
        with self.journal.step(files, target, file.data, file):
            files.move(path, target)
        self.note(source, path, target)

    def note(self, source: str, *paths: str) -> None:
        """Index these files in the next flush."""
        self._written.setdefault(source, []).extend(paths)

    def flush(self, progress: Progress = no_progress) -> None:
        """Update the index with the written files; with a local model, embed a few at once.

        If the update fails, the message says that the files are written.
        """
        written, self._written = self._written, {}
        parsed, self._parsed = self._parsed, []
        if not written or self.dry_run:
            return
        self._sync_folders()
        origins, self._origins = self._origins, []
        if origins:
            self.runtime.write.put_origins(self.home, origins)
        folder = self.runtime.config.memory.dir
        few = {source: paths for source, paths in written.items() if len(paths) <= _MANY_PATHS}
        try:
            places = {source: few.get(source, [folder]) for source in written}
            self.runtime.write.refresh(places, progress, parsed)
        except VaultIndexError as error:
            shown = ", ".join(path for paths in written.values() for path in paths[:3])
            raise type(error)(
                f"{error.message}; the memory itself is written: {shown}",
                "the next `vault-index sync` indexes it",
            ) from error
        for source, paths in written.items():
            root = self.runtime.vaults[source].config.path
            self.runtime.write.wrote(root / folder, [root / path for path in paths])
        self.runtime.write.embed_documents(few)

    def purge(self, keys: set[bytes]) -> None:
        """Update the index and erase removed texts from its files."""
        self.flush()
        try:
            self.runtime.write.purge(keys)
        except VaultIndexError as error:
            raise type(error)(
                f"{error.message}; the memories are deleted, but the index files keep their text",
                "the next `delete --permanent` erases it",
            ) from error

    # --- helpers ----------------------------------------------------------------------------------

    def _merge(
        self, old: MemoryFile, new: MemoryFile, replaced: Sequence[MemoryFile]
    ) -> StoredMemory:
        """Merge a memory into one with the same content.

        The old one gets new tags and dates, and supersedes what the new one supersedes.
        """
        changes: dict[str, Any] = {}
        warnings = []
        tags = with_more_tags(old.tags, new.tags)
        if more := tags[len(old.tags) :]:
            changes["tags"] = tags
            warnings.append(f"added tags: {', '.join(more)}")
        for key in ("expires", "valid_until"):
            date, before = new.front.get(key), old.front.get(key)
            if date and date != before:
                changes[key] = date
                warnings.append(f"{key} is now {date}" + (f" (was {before})" if before else ""))
        if new.path and self.files(self.home).resolve(new.path) != old.path:
            warnings.append(f"nothing was written to {new.path}: {old.path} has the same text")
        text = with_changes(old.text, changes)
        self.record(old.path, old.uid, new.front, new)
        done = f"{old.path} has the same text and was kept"
        warnings += self.rewrite(old, text, replaced, done)
        return StoredMemory(
            old.uid, old.path, False, duplicate_of=old.uid, warnings=tuple(warnings)
        )

    def _sync_folders(self) -> None:
        """Sync the folders of new files, so that reported files survive a power failure."""
        created, self._unsynced = self._unsynced, []
        self.files(self.home).settle(created)


def as_planned(outcome: MemoryOutcome) -> MemoryOutcome:
    """Return an outcome of a dry run as it is shown."""
    return replace(outcome, outcome="would be created") if outcome.outcome == "created" else outcome


def superseding(
    file: MemoryFile, text: str, replaced: Sequence[MemoryFile]
) -> tuple[str, list[tuple[MemoryFile, str]]]:
    """Return the new text of a file that supersedes others, and those to mark with their texts."""
    if not replaced:
        return text, []
    ids = [*string_list(read_text(text).front.get("supersedes")), *(one.uid for one in replaced)]
    marked = [
        (one, with_changes(one.text, {"superseded_by": file.uid}))
        for one in replaced
        if one.front.get("superseded_by") != file.uid
    ]
    return with_changes(text, {"supersedes": list(dict.fromkeys(ids))}), marked
