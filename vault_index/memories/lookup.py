"""Memory files as they are now: found by a reference, by what they say, by when they expire."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from vault_index.errors import NotFoundError, UsageError, VaultIndexError
from vault_index.indexer.describe import document_uid, last_moment, memory_identity
from vault_index.markdown.frontmatter import read_frontmatter
from vault_index.markdown.lines import split_lines
from vault_index.markdown.parse import parse
from vault_index.memories.file.document import BOM
from vault_index.memories.file.files import MemoryFiles, Seen
from vault_index.models import Filters
from vault_index.query.references import resolve
from vault_index.sources.vault import VaultSource
from vault_index.store.documents import Order
from vault_index.store.reader import IndexReader
from vault_index.store.records import StoredDocument


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


@dataclass(slots=True, kw_only=True)
class StandingMemories:
    """The memories of an open index. The index says where they are, their files what they say.

    Those stored since it last followed are known by `_stored`, too: what they say, and their path.
    """

    reader: IndexReader
    sources: Mapping[str, VaultSource]
    memory_dir: str
    home: str
    """The source new memories go to."""
    now: datetime
    _stored: dict[bytes, str] = field(default_factory=dict)

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
        key = identity_of(text)
        known = [document.path for document in self.reader.memories_by_identity(key, self.home)]
        for path in dict.fromkeys((*([self._stored[key]] if key in self._stored else []), *known)):
            try:
                standing = self._look(self.home, path)
            except VaultIndexError:
                continue  # deleted, or it cannot be read: it takes nothing in
            if path in ignoring or standing.is_over(self.now.timestamp()) or identity_of(standing.seen.text) != key:
                continue
            return standing
        return None

    # --- inside ------------------------------------------------------------------------------------------------

    def _files(self, source: str) -> MemoryFiles:
        return MemoryFiles(self.sources[source].config.path, self.memory_dir)

    def _look(self, source: str, path: str) -> Standing:
        seen = self._files(source).read(path)
        front = front_of(seen.text)
        return Standing(source, path, document_uid(front.get("id"), source, path), seen, front)


def front_of(text: str) -> Mapping[str, Any]:
    """The frontmatter of a file."""
    return read_frontmatter(split_lines(text.removeprefix(BOM))).values


@lru_cache(maxsize=8)
def identity_of(text: str) -> bytes:
    """What a file says, as the index tells twins by it."""
    front = front_of(text)
    if isinstance(title := front.get("title"), str) and title.strip():  # parsing would only find it again
        return memory_identity(text.removeprefix(BOM), front, title.strip())
    parsed = parse(text, "")
    return memory_identity(text.removeprefix(BOM), parsed.frontmatter, parsed.title if parsed.title_in_text else "")
