"""Opening a reference: an id or its prefix, a path, a wikilink, each with an optional range of lines."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from vault_index import tokens
from vault_index.answers import DocumentText
from vault_index.errors import NotFoundError, UsageError
from vault_index.markdown.lines import split_lines
from vault_index.query.links import linked
from vault_index.query.present import to_record
from vault_index.store.reader import IndexReader
from vault_index.store.rows import StoredDocument

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
    """The place a reference means. Raises NotFoundError, and UsageError for an id that begins several."""
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
            return Place(document, first, last)
    raise NotFoundError(f"nothing is called {reference!r}", f"look for it with `vault-index search {reference!r}`")


def with_neighbors(reader: IndexReader, place: Place, count: int) -> Place:
    """The place widened by `count` chunks on both sides."""
    chunks = reader.chunks_of(place.document.id)
    last = place.last or place.document.line_count
    inside = [i for i, c in enumerate(chunks) if c.start_line <= last and c.end_line >= place.first]
    if not inside or count <= 0:
        return place
    around = chunks[max(inside[0] - count, 0) : inside[-1] + count + 1]
    return replace(
        place,
        first=min(place.first, *(c.start_line for c in around)),
        last=max(last, *(c.end_line for c in around)),
    )


def read_place(place: Place, text: str, *, max_tokens: int | None, whole_tokens: int | None) -> DocumentText:
    """The text of a place, cut at a line after `max_tokens`; `next` then says where to go on.

    `whole_tokens` is what the index counted for the whole document, where it still holds: counting costs start-up.
    """
    document = place.document
    lines = split_lines(text)
    first = min(place.first, max(len(lines), 1))
    last = min(place.last or len(lines), len(lines))
    shown = lines[first - 1 : last]
    whole = first == 1 and last == len(lines)
    size = whole_tokens if whole and whole_tokens is not None else tokens.count("\n".join(shown))
    rest = None
    if max_tokens is not None and size > max_tokens:
        shown, size = _fit(shown, max_tokens)
        rest = f"{document.uid}:{first + len(shown)}-{last}"
    return DocumentText(
        id=document.uid,
        kind=document.kind,
        source=document.source,
        path=document.path,
        title=document.title,
        lines=(first, max(first + len(shown) - 1, first)),
        tokens=size,
        content="\n".join(shown) + ("\n" if shown and text.endswith(("\n", "\r")) and rest is None and whole else ""),
        next=rest,
    )


def full_metadata(reader: IndexReader, document: StoredDocument, link: str, accesses: int) -> dict[str, object]:
    """Everything that is known of a document besides its text."""
    from dataclasses import asdict

    tags = reader.tags_of([document.id]).get(document.id, ())
    record = asdict(to_record(document, tags=tags, link=link, accesses={document.uid: accesses}))
    return {
        **record,
        "aliases": reader.aliases_of(document.id),
        "links": [asdict(link) for link in reader.links_of(document.id)],
        "frontmatter": dict(document.frontmatter),
    }


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
    return next((d for d in reader.documents_by_name(name) if not sources or d.source in sources), None)


def _ambiguous(name: str, found: Sequence[StoredDocument]) -> UsageError:
    shown = ", ".join(f"{d.uid[:13]} ({d.path})" for d in found[:_SHOWN_CANDIDATES])
    more = f" and {len(found) - _SHOWN_CANDIDATES} more" if len(found) > _SHOWN_CANDIDATES else ""
    return UsageError(f"{name!r} begins the id of {len(found)} documents", f"give more of it: {shown}{more}")


def _resolve_link(reader: IndexReader, target: str, heading: str, sources: Sequence[str]) -> Place:
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


def _fit(lines: Sequence[str], max_tokens: int) -> tuple[list[str], int]:
    """As many lines as fit, at least one, so that going on always ends."""
    shown: list[str] = []
    size = 0
    for line in lines:
        cost = tokens.count(f"{line}\n")
        if shown and size + cost > max_tokens:
            break
        shown.append(line)
        size += cost
    return shown, size
