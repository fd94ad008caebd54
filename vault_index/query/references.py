"""What a reference means: an id or its prefix, a path, a wikilink, each with an optional range of lines.

A link means a document by exact path, from the root or from where it is written, then by the shortest path that ends
so, then by alias. It is asked anew each time, so that it cannot go stale. Upper and lower case do not matter, nor how
accents are spelled (macOS has other Unicode normal forms than Linux). A link stays in its source, but one to the id of
a session, which is the same wherever the session is kept.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from vault_index.errors import NotFoundError, UsageError
from vault_index.models import Link
from vault_index.store.reader import IndexReader

TYPE_CHECKING = False  # spares `get` the import of what only a link needs; type checkers know the names
if TYPE_CHECKING:
    from vault_index.store.records import StoredDocument
    from vault_index.store.related import Called

_LINES = re.compile(r"^(?P<ref>.+?):(?P<first>\d+)(?P<dash>-(?P<last>\d+)?)?$", re.DOTALL)
_WIKILINK = re.compile(r"^!?\[\[(?P<target>[^\]|#]*)(?:#(?P<heading>[^\]|]*))?(?:\|[^\]]*)?\]\]$")
_ID = re.compile(r"^[0-9a-f][0-9a-f-]{3,35}$")
_SESSION = re.compile(r"ses_\w+")
_SHOWN_CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class Place:
    """A document and, where the reference names some, its lines (1-based, inclusive; None: to the end)."""

    document: StoredDocument
    first: int = 1
    last: int | None = None


def resolve(reader: IndexReader, reference: str, *, memory_dir: str, sources: Sequence[str] = ()) -> Place:
    """The place a reference means. Raises NotFoundError, and UsageError for an id that begins several or lines that
    end before they begin."""
    reference = reference.strip()
    if not reference:
        raise UsageError("an empty reference", "give an id, a path, or [[a note]]")
    if link := _WIKILINK.match(reference):
        return _resolve_link(reader, link["target"].strip(), (link["heading"] or "").strip(), sources)
    if document := _find(reader, reference, memory_dir, sources):
        return Place(document)
    lines = _LINES.match(reference)
    if lines and (document := _find(reader, lines["ref"], memory_dir, sources)):
        first = max(int(lines["first"]), 1)
        last = int(lines["last"]) if lines["last"] else None if lines["dash"] else first
        if last is not None and last < first:
            raise UsageError(f"{reference} ends before it begins", f"give the lines as {last}-{first}")
        return Place(document, first, last)
    raise NotFoundError(f"nothing is called {reference!r}", f"look for it with `vault-index search {reference!r}`")


def _find(reader: IndexReader, name: str, memory_dir: str, sources: Sequence[str]) -> StoredDocument | None:
    for path in (name, f"{name}.md", f"{memory_dir}/{name}.md", f"{memory_dir}/{name}"):
        found = reader.documents_by_path(path, sources)
        if found:
            return found[0]
    if _ID.match(name.lower()):
        found = [d for d in reader.documents_by_id(name.lower()) if not sources or d.source in sources]
        if len(found) > 1:
            raise _ambiguous(name, found)
        if found:
            return found[0]
    if name.startswith("#"):  # the id of a memory where it was imported from: `#12`
        old_id = name.removeprefix("#")
        found = reader.memories_by_old_id(old_id, sources)
        if len(found) > 1:
            message = f"{len(found)} memories were called {old_id!r} where they came from"
            raise UsageError(message, f"name one by its id: {_ids(found)}")
        return found[0] if found else None
    return next((d for d in reader.documents_by_name(name) if not sources or d.source in sources), None)


def _ids(found: Sequence[StoredDocument]) -> str:
    return ", ".join(f"{document.uid[:13]} ({document.path})" for document in found[:_SHOWN_CANDIDATES])


def _ambiguous(name: str, found: Sequence[StoredDocument]) -> UsageError:
    if len({document.uid for document in found}) == 1:
        paths = ", ".join(document.path for document in found[:_SHOWN_CANDIDATES])
        return UsageError(f"{len(found)} files have the id {found[0].uid}", f"name one by its path: {paths}")
    more = f" and {len(found) - _SHOWN_CANDIDATES} more" if len(found) > _SHOWN_CANDIDATES else ""
    return UsageError(f"{name!r} begins the id of {len(found)} documents", f"give more of it: {_ids(found)}{more}")


def _resolve_link(reader: IndexReader, target: str, heading: str, sources: Sequence[str]) -> Place:
    document = linked(reader, target, sources)
    if document is None:
        raise NotFoundError(f"no note is called {target!r}", f"look for it with `vault-index search {target!r}`")
    return Place(document) if not heading else _section(reader, document, heading)


def _section(reader: IndexReader, document: StoredDocument, heading: str) -> Place:
    wanted = heading.rpartition("#")[2].strip().casefold()
    chunks = reader.chunks_of(document.id)
    if wanted.startswith("^"):
        chunks = [
            one for one in chunks if any(line.rstrip().endswith(wanted) for line in one.text.casefold().split("\n"))
        ]
    else:
        chunks = [one for one in chunks if wanted in map(str.casefold, one.headings)]
    if not chunks:
        raise NotFoundError(f"{document.path} has no heading or block {heading!r}", f"open it with get {document.path}")
    return Place(document, chunks[0].start_line, chunks[-1].end_line)


def linked_from(reader: IndexReader, document: StoredDocument, links: Iterable[Link]) -> set[int]:
    """The documents that `links`, written in `document`, mean."""
    targets = {link.target for link in links if link.target}
    named = _LinkTargets(reader, targets)
    found = {named.resolve(target, (document.source,), document.path) for target in targets}
    return {document_id for document_id in found if document_id is not None}


def linking_to(reader: IndexReader, document: StoredDocument) -> set[int]:
    """The documents with a link that means `document`."""
    file = document.path.rpartition("/")[2].casefold()
    aliases = (alias.casefold() for alias in reader.aliases_of(document.id))
    links = [
        link
        for link in reader.links_to(_spellings({file, _stem(file), *aliases}))
        if link.source == document.source or document.kind == "session"
    ]
    named = _LinkTargets(reader, {link.target for link in links})
    return {link.document_id for link in links if named.resolve(link.target, (link.source,), link.path) == document.id}


def linked(reader: IndexReader, target: str, sources: Collection[str]) -> StoredDocument | None:
    """The document that a link in the root of one of the sources means (of any, where none is named)."""
    document_id = _LinkTargets(reader, {target}).resolve(target, sources, "")
    return None if document_id is None else reader.documents_by_key([document_id])[document_id]


class _LinkTargets:
    """The documents that the targets of some links may mean, by name and alias."""

    def __init__(self, reader: IndexReader, targets: Collection[str]) -> None:
        ends = {target.rpartition("/")[2].casefold() for target in targets}
        names = {*ends, *map(_stem, ends), *(target.casefold() for target in targets)}
        self._called: dict[str, list[Called]] = defaultdict(list)
        for called in reader.documents_called(_spellings(names)):
            self._called[_folded(called.alias or _stem(called.path.rpartition("/")[2]))].append(called)

    def resolve(self, target: str, sources: Collection[str], path: str) -> int | None:
        """The document of these sources (none: of any) that `target` means where it is written in `path`."""
        wanted = _folded(target).lstrip("/")
        from_here = posixpath.normpath(posixpath.join(posixpath.dirname(_folded(path)), wanted))
        end = wanted.rpartition("/")[2]
        anywhere = not sources or _SESSION.fullmatch(_stem(end))
        ranked = [
            (
                rank,
                target.casefold() not in called.path.casefold(),
                len(called.path),
                called.source,
                called.path,
                called.document_id,
            )
            for name in {end, _stem(end), wanted}
            for called in self._called.get(name, ())
            if (anywhere or called.source in sources) and (rank := _rank(called, wanted, from_here)) is not None
        ]
        return min(ranked)[-1] if ranked else None


def _rank(called: Called, wanted: str, from_here: str) -> int | None:
    """How well a document matches a target, 0 is best; None where it does not."""
    if called.alias is not None:
        return 3 if _folded(called.alias) == wanted else None
    path = _folded(called.path)
    spelled = (path, _stem(path))
    if wanted in spelled:
        return 0
    if from_here in spelled:
        return 1
    return 2 if any(spelling.endswith(f"/{wanted}") for spelling in spelled) else None


def _folded(text: str) -> str:
    """`text` as names are compared."""
    folded = text.casefold()
    return folded if folded.isascii() else unicodedata.normalize("NFC", folded)


def _spellings(names: Iterable[str]) -> set[str]:
    """The names in each form the index may have them in."""
    normal = unicodedata.normalize
    return {spelled for name in names for spelled in (name, normal("NFC", name), normal("NFD", name))}


def _stem(path: str) -> str:
    """Without what follows the last dot of the file name."""
    folder, slash, name = path.rpartition("/")
    return folder + slash + (name.rpartition(".")[0] or name)
