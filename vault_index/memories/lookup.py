"""Memories as their files are now: found by a reference, by what they say, by when they expire."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from vault_index.errors import NotFoundError, UsageError, VaultIndexError
from vault_index.markdown.memory import memory_identity
from vault_index.markdown.parse import parse
from vault_index.memories.file.document import MemoryFile
from vault_index.memories.file.files import MemoryFiles
from vault_index.models import Filters
from vault_index.runtime import Runtime
from vault_index.store.documents import Order, documents_by_id, documents_page, memories_by_identity
from vault_index.store.reader import Connections
from vault_index.store.records import StoredDocument


@dataclass(slots=True, kw_only=True)
class MemoryLookup:
    """Looks up the memories of an open home. The index says where they are, their files what they say."""

    runtime: Runtime
    connections: Connections
    home: str
    """The source new memories go to."""
    now: datetime
    _stored: dict[bytes, str] = field(default_factory=dict)
    """Paths of memories that were stored and are not indexed yet, by identity."""

    def find(self, ref: str, sources: Sequence[str] = ()) -> StoredDocument:
        """The memory that a reference means. Raises NotFoundError, and UsageError for a note or a part of a memory."""
        place = self.runtime.resolve(self.connections, ref, sources)
        document = place.document
        if document.kind != "memory":
            raise UsageError(
                f"{document.path} is no memory but a {document.kind}, and only memories are written",
                f"memories lie in {self.runtime.config.memory.dir}/; change notes in your editor",
            )
        if (place.first, place.last) != (1, None):
            raise UsageError(f"{ref} means a part of {document.path}", "name the memory as a whole")
        return document

    def known(self, uid: str) -> StoredDocument | None:
        """The memory of an id, as the index has it."""
        return next(iter(documents_by_id(self.connections.reader, uid)), None)

    def read(self, document: StoredDocument) -> MemoryFile:
        """The file of a memory. Raises NotFoundError where it is gone."""
        return self.files(document.source).read(document.path)

    def at(self, path: str) -> MemoryFile | None:
        """The memory of that path or name in the vault new ones go to; None where there is none."""
        files = self.files(self.home)
        try:
            return files.read(files.resolve(path))
        except NotFoundError:
            return None

    def expired(self, until: float, sources: Sequence[str] = ()) -> list[StoredDocument]:
        """The memories that were expired by then, as the index has it, the longest ago first."""
        filters = Filters(kinds=("memory",), states=("expired",), sources=tuple(sources), now=until)
        return documents_page(self.connections.reader, filters, Order("expires", descending=False), -1, 0)[0]

    def duplicate(self, new: MemoryFile, ignoring: Iterable[str] = ()) -> MemoryFile | None:
        """The memory that says the same, and has neither expired nor been replaced; judged by its file."""
        key = identity_of(new)
        paths = [document.path for document in memories_by_identity(self.connections.reader, key, self.home)]
        for path in dict.fromkeys((*([self._stored[key]] if key in self._stored else []), *paths)):
            try:
                file = self.files(self.home).read(path)
            except VaultIndexError:
                continue  # deleted, or it cannot be read: nothing can be merged into it
            if path not in ignoring and not file.is_over(self.now.timestamp()) and identity_of(file) == key:
                return file
        return None

    def files(self, source: str) -> MemoryFiles:
        return MemoryFiles(self.runtime.vaults[source].config.path, self.runtime.config.memory.dir, source)


def identity_of(file: MemoryFile) -> bytes:
    """The hash of what a memory says, by which the index knows duplicates."""
    front, title = file.front, file.front.get("title")
    if not (isinstance(title, str) and title.strip()):  # parsing would only find it again
        parsed = parse(file.text, "")
        front, title = parsed.frontmatter, parsed.title if parsed.title_in_text else ""
    return memory_identity(file.text.removeprefix("\ufeff"), front, title.strip())
