"""Memory files while the write lock is held: compared with what is there, stored, changed and put away."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from vault_index.errors import NotFoundError, UsageError, VaultIndexError
from vault_index.indexer.index_writer import WriteSide
from vault_index.memories.edit import Change, changed, marked, merged, superseded_before, superseding
from vault_index.memories.file.fields import Fields
from vault_index.memories.file.frontmatter_edit import with_changes
from vault_index.memories.lookup import Standing, StandingMemories, front_of, identity_of
from vault_index.models import Filters, Progress, no_progress
from vault_index.results import StoredMemory
from vault_index.store.documents import Order
from vault_index.store.records import StoredDocument

_MANY_PATHS = 50
"""More paths than this are found sooner by looking at the whole memory folder."""


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory that is ready to be stored: its whole file, and what of it decides where it goes and what a twin takes
    over."""

    text: str
    uid: str
    title: str
    day: str
    """When it was created, as `2027-02-01`: part of its file name."""
    fields: Fields
    path: str | None = None
    """Its name inside the memory folder; None to have one made of type, day and title."""
    folder: str | None = None
    """The folder such a name is made in, instead of the one of its type."""
    supersedes: tuple[str, ...] = ()
    """The memories it replaces, as they were called."""


@dataclass(slots=True, kw_only=True)
class MemoryWriter(StandingMemories):
    """Writes the memories of an open index. Whoever makes one holds the write lock until it was flushed.

    Files are written one by one; the index follows in `flush`, so that an import of thousands costs one sync. Memories
    stored since the last flush are known to `store` all the same.
    """

    write: WriteSide
    _touched: dict[str, list[str]] = field(default_factory=dict)
    _unsettled: list[str] = field(default_factory=list)

    def store(self, new: NewMemory, replaced: Sequence[StoredDocument] = ()) -> StoredMemory:
        """Store one prepared memory, or merge it into the one that says the same. Raises before anything is written,
        but where it says otherwise.

        `replaced` are those it supersedes (`find` has them): each of them is marked, in the same step. This is what an
        import calls for every record, under one lock and with one `flush` at the end.
        """
        old = [self.look(document) for document in replaced]
        twin = self.twin(new.text, [standing.path for standing in old])
        if twin is not None:
            return self._merge(twin, new, old)
        self._must_be_another(new.uid)
        older = marked(old, new.uid)
        text = with_changes(new.text, {"supersedes": superseding(new.text, old)}) if old else new.text
        path = self.put(replace(new, text=text))
        self._stored[identity_of(new.text)] = path
        self._mark(older, f"{path} is stored as {new.uid}")
        return StoredMemory(new.uid, path, True, warnings=(*self._ignored(path), *superseded_before(old, new.uid)))

    def put(self, new: NewMemory) -> str:
        """Write one prepared memory as it is, whatever says the same, and tell its path."""
        self._must_be_there()
        files = self._files(self.home)
        folder = new.folder or new.fields.type or "note"
        path = files.resolve(new.path) if new.path else files.free_path(folder, new.day, new.title)
        try:
            files.create(path, new.text)
        except FileExistsError as error:
            raise UsageError(
                f"{path} is there already, and says something else", f"change it: vault-index update {path}"
            ) from error
        self._unsettled.append(path)
        self._note(self.home, path)
        return path

    def set_keys(self, standing: Standing, changes: Mapping[str, Any]) -> None:
        """Set keys of a memory's frontmatter, and nothing else."""
        self._replace(standing, with_changes(standing.seen.text, changes))

    def change(self, document: StoredDocument, change: Change, replaced: Sequence[StoredDocument] = ()) -> StoredMemory:
        """Change what is named of one memory, and nothing else."""
        standing = self.look(document)
        old = [self.look(other) for other in replaced]
        if any(other.path == standing.path and other.source == standing.source for other in old):
            raise UsageError(f"{document.path} cannot supersede itself", "name the memory that it replaces")
        new = changed(standing, change, old)
        older = marked(old, document.uid)
        if new.text == standing.seen.text and not older:
            return StoredMemory(
                document.uid, document.path, False, warnings=(*new.warnings, "nothing was changed by this")
            )
        self._rewrite(standing, new.text)
        self._mark(older, f"{document.path} is changed")
        warnings = (*new.warnings, *superseded_before(old, document.uid))
        return StoredMemory(document.uid, document.path, False, warnings=warnings)

    def put_away(self, document: StoredDocument, *, permanent: bool = False) -> str:
        """Move a memory to the `.trash/` of its vault, and say where it is there; `permanent` deletes it."""
        files = self._files(document.source)
        where = ""
        if permanent:
            files.remove(document.path)
        else:
            where = files.trash(document.path)
        self._note(document.source, document.path)
        return where

    def flush(self, progress: Progress = no_progress) -> None:
        """Have the index follow what was written. An error of it says that the files are written."""
        touched, self._touched = self._touched, {}
        if not touched:
            return
        self._settle()
        places = {
            source: paths if len(paths) <= _MANY_PATHS else [self.memory_dir] for source, paths in touched.items()
        }
        try:
            self.write.refresh(places, progress)
        except VaultIndexError as error:
            written = ", ".join(path for paths in touched.values() for path in paths[:3])
            raise type(error)(
                f"{error.message}; the memory itself is written: {written}", "the next `vault-index sync` indexes it"
            ) from error
        for source, paths in touched.items():
            root = self.sources[source].config.path
            self.write.wrote(root / self.memory_dir, [root / path for path in paths])

    # --- inside ------------------------------------------------------------------------------------------------

    def _note(self, source: str, path: str) -> None:
        self._touched.setdefault(source, []).append(path)

    def _merge(self, twin: Standing, new: NewMemory, old: Sequence[Standing]) -> StoredMemory:
        """Give the twin what is new of tags, dates and replaced memories; it stays as it is otherwise."""
        new_twin = merged(twin, new.fields, old)
        older = marked(old, twin.uid)
        warnings = new_twin.warnings
        if new.path and self._files(self.home).resolve(new.path) != twin.path:
            warnings = (*warnings, f"nothing was written to {new.path}: {twin.path} says the same")
        self._rewrite(twin, new_twin.text)
        self._mark(older, f"{twin.path} says the same, and stays")
        return StoredMemory(twin.uid, twin.path, False, duplicate_of=twin.uid, warnings=warnings)

    def _rewrite(self, standing: Standing, text: str) -> None:
        """Put another text in the place of a memory's, with the time of the change."""
        if text == standing.seen.text:
            return
        if front_of(text):  # a file that has none is not given one for this alone
            text = with_changes(text, {"updated": self.now.isoformat(timespec="seconds")})
        self._replace(standing, text)

    def _replace(self, standing: Standing, text: str) -> None:
        self._files(standing.source).replace(standing.path, text, standing.seen)
        self._note(standing.source, standing.path)

    def _settle(self) -> None:
        """See that the new files outlive a loss of power, before anything speaks of them."""
        created, self._unsettled = self._unsettled, []
        self._files(self.home).settle(created)

    def _mark(self, older: Sequence[tuple[Standing, str]], done: str) -> None:
        """Write the files of the memories that were replaced; `done` is what an error says was done before."""
        if older:
            self._settle()
        for number, (standing, text) in enumerate(older):
            try:
                self._replace(standing, text)
            except VaultIndexError as error:
                rest = ", ".join(one.path for one, _ in older[number:])
                raise type(error)(
                    f"{done}, but not yet marked as superseded: {rest}: {error.message}",
                    "run the same command again: it does only what is missing",
                ) from error

    def _must_be_there(self) -> None:
        """A vault that is empty, though the index knows of documents in it, is a disk that is not mounted."""
        reason = self.sources[self.home].missing()
        if reason and self.reader.documents(Filters(sources=(self.home,)), Order(), 1, 0)[1]:
            raise NotFoundError(
                f"source {self.home!r}: {reason}; nothing is written", "mount it again, or name another with --source"
            )

    def _must_be_another(self, uid: str) -> None:
        known = self.reader.documents_by_id(uid)
        if known:
            raise UsageError(
                f"{known[0].path} has the id {uid}, too, and says something else",
                f"change it: vault-index update {uid}; or take the id out of the new one",
            )

    def _ignored(self, path: str) -> tuple[str, ...]:
        if self.sources[self.home].look(path) is not None:
            return ()
        return (f"{path} is written, but not searched: an ignore rule of the vault covers it",)
