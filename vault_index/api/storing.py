"""Memory files while the write lock is held: found, compared with what is there, stored, changed and put away."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from vault_index.answers import StoredMemory
from vault_index.api.writing import WriteSide, no_progress
from vault_index.errors import NotFoundError, UsageError, VaultIndexError
from vault_index.indexer.describe import document_uid, last_moment, memory_identity
from vault_index.indexer.sync import Progress
from vault_index.markdown.frontmatter import read_frontmatter, string_list
from vault_index.markdown.lines import split_lines
from vault_index.markdown.parse import normal_tags, parse
from vault_index.memories.document import appended, body_of, with_body, with_changes, with_section
from vault_index.memories.fields import Fields, changes_of
from vault_index.memories.files import MemoryFiles, Seen
from vault_index.memories.layout import BOM
from vault_index.models import Filters
from vault_index.query.references import resolve
from vault_index.sources.vault import VaultSource
from vault_index.store.documents import Order
from vault_index.store.reader import IndexReader
from vault_index.store.rows import StoredDocument

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What `update` was asked for; None is "not named"."""

    fields: Fields
    content: str | None = None
    append: bool = False
    section: str | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """A memory file as it is now."""

    source: str
    path: str
    uid: str
    seen: Seen
    front: Mapping[str, Any]

    def is_over(self, now: float) -> bool:
        """Whether it has expired, or another one has taken its place."""
        expires = last_moment(self.front.get("expires"))
        return (expires is not None and expires <= now) or bool(self.front.get("superseded_by"))


@dataclass(slots=True)
class MemoryWriter:
    """Writes the memories of an open index. Whoever makes one holds the write lock until it was flushed.

    Files are written one by one; the index follows in `flush`, so that an import of thousands costs one sync. Memories
    stored since the last flush are known to `store` all the same.
    """

    write: WriteSide
    reader: IndexReader
    sources: Mapping[str, VaultSource]
    memory_dir: str
    home: str
    """The source new memories go to."""
    now: datetime
    _touched: dict[str, list[str]] = field(default_factory=dict)
    _stored: dict[bytes, str] = field(default_factory=dict)
    _unsettled: list[str] = field(default_factory=list)

    # --- finding -----------------------------------------------------------------------------------------------

    def find(self, ref: str, sources: Sequence[str] = ()) -> StoredDocument:
        """The memory that a reference means. Raises UsageError for a note, and for a part of a memory."""
        place = resolve(self.reader, ref, memory_dir=self.memory_dir, sources=sources)
        document = place.document
        if document.kind != "memory":
            raise UsageError(
                f"{document.path} is no memory but a {document.kind}, and only memories are written",
                f"memories lie in {self.memory_dir}/; change notes in your editor",
            )
        if (place.first, place.last) != (1, None):
            raise UsageError(f"{ref} means a part of {document.path}", "name the memory as a whole")
        return document

    def look(self, document: StoredDocument) -> Standing:
        """A memory of the index as its file is now. Raises NotFoundError where it is gone."""
        return self._look(document.source, document.path)

    def at(self, path: str) -> Standing | None:
        """The memory of that path or name among those that new ones go to; None where there is none yet."""
        try:
            return self._look(self.home, self._files(self.home).resolve(path))
        except NotFoundError:
            return None

    def expired(self, until: float, sources: Sequence[str] = ()) -> list[StoredDocument]:
        """The memories that were expired by then, as the index has it, the longest ago first."""
        filters = Filters(kinds=("memory",), states=("expired",), sources=tuple(sources), now=until)
        return self.reader.documents(filters, Order("expires", descending=False), -1, 0)[0]

    def expired_on(self, document: StoredDocument, until: float) -> str | None:
        """The day it expired on, as its file has it now; None where it was not expired by then."""
        value = self.look(document).front.get("expires")
        expires = last_moment(value)
        return str(value) if expires is not None and expires <= until else None

    def twin(self, text: str, ignoring: Iterable[str] = ()) -> Standing | None:
        """The memory that says the same as this file would, and still counts; judged by its file."""
        key = _identity(text)
        known = [document.path for document in self.reader.memories_by_identity(key, self.home)]
        for path in dict.fromkeys((*([self._stored[key]] if key in self._stored else []), *known)):
            try:
                standing = self._look(self.home, path)
            except VaultIndexError:
                continue  # deleted, or it cannot be read: it takes nothing in
            if path in ignoring or standing.is_over(self.now.timestamp()) or _identity(standing.seen.text) != key:
                continue
            return standing
        return None

    # --- writing -----------------------------------------------------------------------------------------------

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
        marked = self._marked(old, new.uid)
        text = with_changes(new.text, {"supersedes": _uids(new.text, old)}) if old else new.text
        path = self.put(replace(new, text=text))
        self._stored[_identity(new.text)] = path
        self._replace_all(marked, f"{path} is stored as {new.uid}")
        return StoredMemory(new.uid, path, True, warnings=(*self._ignored(path), *_already(old, new.uid)))

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
        text = with_changes(standing.seen.text, changes)
        self._files(standing.source).replace(standing.path, text, standing.seen)
        self._note(standing.source, standing.path)

    def change(self, document: StoredDocument, change: Change, replaced: Sequence[StoredDocument] = ()) -> StoredMemory:
        """Change what is named of one memory, and nothing else."""
        standing = self.look(document)
        old = [self.look(other) for other in replaced]
        if any(other.path == standing.path and other.source == standing.source for other in old):
            raise UsageError(f"{document.path} cannot supersede itself", "name the memory that it replaces")
        text = _edited(standing.seen.text, change)
        changes = changes_of(change.fields)
        tags, left = _tags(text, standing.front, change)
        if tags is not None:
            changes["tags"] = tags or None
        if replaced:
            changes["supersedes"] = _uids(standing.seen.text, old)
        text = with_changes(text, changes)
        _must_say_something(text, document.path)
        marked = self._marked(old, document.uid)
        warnings = tuple(f"the tag {tag} stands in the text: take it out there" for tag in left)
        if text == standing.seen.text and not marked:
            return StoredMemory(document.uid, document.path, False, warnings=(*warnings, "nothing was changed by this"))
        if text != standing.seen.text:
            if _front(text):  # a file that has none is not given one for this alone
                text = with_changes(text, {"updated": self._moment()})
            self._files(document.source).replace(document.path, text, standing.seen)
            self._note(document.source, document.path)
        self._replace_all(marked, f"{document.path} is changed")
        return StoredMemory(document.uid, document.path, False, warnings=(*warnings, *_already(old, document.uid)))

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

    def _files(self, source: str) -> MemoryFiles:
        return MemoryFiles(self.sources[source].config.path, self.memory_dir)

    def _look(self, source: str, path: str) -> Standing:
        seen = self._files(source).read(path)
        front = _front(seen.text)
        return Standing(source, path, document_uid(front.get("id"), source, path), seen, front)

    def _note(self, source: str, path: str) -> None:
        self._touched.setdefault(source, []).append(path)

    def _merge(self, twin: Standing, new: NewMemory, old: Sequence[Standing]) -> StoredMemory:
        """Give the twin what is new of tags, dates and replaced memories; it stays as it is otherwise."""
        changes: dict[str, Any] = {}
        warnings = []
        has = set(normal_tags(string_list(twin.front.get("tags"), split_spaces=True)))
        more = [tag for tag in new.fields.tags or () if tag not in has]
        if more:
            changes["tags"] = [*string_list(twin.front.get("tags"), split_spaces=True), *more]
            warnings.append(f"tags added to it: {', '.join(more)}")
        for key, date in (("expires", new.fields.expires), ("valid_until", new.fields.valid_until)):
            was = twin.front.get(key)
            if date and date != was:
                changes[key] = date
                warnings.append(f"{key} is {date} now" + (f", it was {was}" if was else ""))
        marked = self._marked(old, twin.uid)
        if old:
            changes["supersedes"] = _uids(twin.seen.text, old)
        if new.path and self._files(self.home).resolve(new.path) != twin.path:
            warnings.append(f"nothing was written to {new.path}: {twin.path} says the same")
        text = with_changes(twin.seen.text, changes)
        if text != twin.seen.text:
            text = with_changes(text, {"updated": self._moment()})
            self._files(twin.source).replace(twin.path, text, twin.seen)
            self._note(twin.source, twin.path)
        self._replace_all(marked, f"{twin.path} says the same, and stays")
        return StoredMemory(twin.uid, twin.path, False, duplicate_of=twin.uid, warnings=tuple(warnings))

    def _marked(self, old: Sequence[Standing], uid: str) -> list[tuple[Standing, str]]:
        """The files of replaced memories as they have to be; those that say so already are left out."""
        return [
            (standing, with_changes(standing.seen.text, {"superseded_by": uid}))
            for standing in old
            if standing.front.get("superseded_by") != uid
        ]

    def _settle(self) -> None:
        """See that the new files outlive a loss of power, before anything speaks of them."""
        created, self._unsettled = self._unsettled, []
        self._files(self.home).settle(created)

    def _replace_all(self, marked: Sequence[tuple[Standing, str]], done: str) -> None:
        if marked:
            self._settle()
        for number, (standing, text) in enumerate(marked):
            try:
                self._files(standing.source).replace(standing.path, text, standing.seen)
            except VaultIndexError as error:
                rest = ", ".join(one.path for one, _ in marked[number:])
                raise type(error)(
                    f"{done}, but not yet marked as superseded: {rest}: {error.message}",
                    "run the same command again: it does only what is missing",
                ) from error
            self._note(standing.source, standing.path)

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

    def _moment(self) -> str:
        return self.now.isoformat(timespec="seconds")


def _front(text: str) -> Mapping[str, Any]:
    return read_frontmatter(split_lines(text.removeprefix(BOM))).values


@lru_cache(maxsize=8)
def _identity(text: str) -> bytes:
    front = _front(text)
    if isinstance(title := front.get("title"), str) and title.strip():  # parsing would only find it again
        return memory_identity(text.removeprefix(BOM), front, title.strip())
    parsed = parse(text, "")
    return memory_identity(text.removeprefix(BOM), parsed.frontmatter, parsed.title if parsed.title_in_text else "")


def _uids(text: str, old: Sequence[Standing]) -> list[str]:
    """What a memory supersedes, with these."""
    return list(dict.fromkeys((*string_list(_front(text).get("supersedes")), *(standing.uid for standing in old))))


def _already(old: Sequence[Standing], uid: str) -> list[str]:
    others = ((standing, standing.front.get("superseded_by")) for standing in old)
    return [f"{standing.path} was superseded by {by} before" for standing, by in others if by and by != uid]


def _edited(text: str, change: Change) -> str:
    """The file with another body, or with more of it."""
    if change.content is None:
        return text
    if change.section is not None:
        return with_section(text, change.section, change.content, append=change.append)
    return appended(text, change.content) if change.append else with_body(text, change.content)


def _tags(text: str, front: Mapping[str, Any], change: Change) -> tuple[list[str] | None, list[str]]:
    """The tags of the frontmatter as they have to be (None: as they are), and those that only the text could lose."""
    written = string_list(front.get("tags", front.get("tag")), split_spaces=True)
    base = written if change.fields.tags is None else list(change.fields.tags)
    gone = set(change.remove_tags)
    kept = [tag for tag in base if not gone & set(normal_tags([tag]))]
    has = set(normal_tags(kept))
    tags = [*kept, *(tag for tag in change.add_tags if tag not in has)]
    left = [tag for tag in change.remove_tags if tag in parse(body_of(text), "").tags] if gone else []
    return (None if tags == written else tags), left


def _must_say_something(text: str, path: str) -> None:
    if not body_of(text).strip() and not _front(text).get("title"):
        raise UsageError(
            f"{path} would have neither text nor title", "delete it instead: vault-index delete, or give it a title"
        )
