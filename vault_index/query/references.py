"""What a reference means: an id or its prefix, a path, a wikilink, each with an optional range of lines."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vault_index.errors import NotFoundError, UsageError
from vault_index.store.reader import IndexReader
from vault_index.store.records import StoredDocument

_RANGE = re.compile(r"^(?P<ref>.+?):(?P<first>\d+)(?P<dash>-(?P<last>\d+)?)?$", re.DOTALL)
_WIKILINK = re.compile(r"^!?\[\[(?P<target>[^\]|#]*)(?:#(?P<heading>[^\]|]*))?(?:\|[^\]]*)?\]\]$")
_ID = re.compile(r"^[0-9a-f][0-9a-f-]{3,35}$")
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
    link = _WIKILINK.match(reference)
    if link:
        return _resolve_link(reader, link["target"].strip(), (link["heading"] or "").strip(), sources)
    document = _find(reader, reference, memory_dir, sources)
    if document is not None:
        return Place(document)
    ranged = _RANGE.match(reference)
    if ranged:
        document = _find(reader, ranged["ref"], memory_dir, sources)
        if document is not None:
            first = max(int(ranged["first"]), 1)
            last = int(ranged["last"]) if ranged["last"] else None if ranged["dash"] else first
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
    if name.startswith("#"):
        return _imported(reader, name.removeprefix("#"), sources)
    return next((d for d in reader.documents_by_name(name) if not sources or d.source in sources), None)


def _imported(reader: IndexReader, old_id: str, sources: Sequence[str]) -> StoredDocument | None:
    """The memory that was called so where it was imported from: `#12`."""
    found = reader.memories_by_old_id(old_id, sources)
    if len(found) > 1:
        shown = ", ".join(f"{d.uid[:13]} ({d.path})" for d in found[:_SHOWN_CANDIDATES])
        message = f"{len(found)} memories were called {old_id!r} where they came from"
        raise UsageError(message, f"name one by its id: {shown}")
    return found[0] if found else None


def _ambiguous(name: str, found: Sequence[StoredDocument]) -> UsageError:
    if len({d.uid for d in found}) == 1:
        paths = ", ".join(d.path for d in found[:_SHOWN_CANDIDATES])
        return UsageError(f"{len(found)} files have the id {found[0].uid}", f"name one by its path: {paths}")
    shown = ", ".join(f"{d.uid[:13]} ({d.path})" for d in found[:_SHOWN_CANDIDATES])
    more = f" and {len(found) - _SHOWN_CANDIDATES} more" if len(found) > _SHOWN_CANDIDATES else ""
    return UsageError(f"{name!r} begins the id of {len(found)} documents", f"give more of it: {shown}{more}")


def _resolve_link(reader: IndexReader, target: str, heading: str, sources: Sequence[str]) -> Place:
    from vault_index.query.links import linked

    document = linked(reader, target, sources)
    if document is None:
        raise NotFoundError(f"no note is called {target!r}", f"look for it with `vault-index search {target!r}`")
    return Place(document) if not heading else _section(reader, document, heading)


def _section(reader: IndexReader, document: StoredDocument, heading: str) -> Place:
    wanted = heading.rpartition("#")[2].strip().casefold()
    inside: Callable[[tuple[str, ...], str], bool]
    if wanted.startswith("^"):
        inside = lambda _, text: any(line.rstrip().casefold().endswith(wanted) for line in text.split("\n"))  # noqa: E731
    else:
        inside = lambda headings, _: any(name.casefold() == wanted for name in headings)  # noqa: E731
    chunks = [chunk for chunk in reader.chunks_of(document.id) if inside(chunk.headings, chunk.text)]
    if not chunks:
        raise NotFoundError(f"{document.path} has no heading or block {heading!r}", f"open it with get {document.path}")
    return Place(document, chunks[0].start_line, chunks[-1].end_line)
