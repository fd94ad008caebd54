"""Resolves references: ids, prefixes of ids, paths and wikilinks, with optional lines."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from vault_index.errors import NotFoundError, UsageError
from vault_index.query.reader import Reader
from vault_index.store.documents import (
    documents_by_id,
    documents_by_name,
    documents_by_path,
    memories_by_old_id,
)
from vault_index.store.records import ChunkRecord, StoredDocument
from vault_index.unicode import same_form

_LINES = re.compile(r"^(?P<ref>.+?):(?P<first>\d+)(?P<dash>-(?P<last>\d+)?)?$", re.DOTALL)
_WIKILINK = re.compile(r"^!?\[\[(?P<target>[^\]|#]*)(?:#(?P<heading>[^\]|]*))?(?:\|[^\]]*)?\]\]$")
_ID = re.compile(r"^[0-9a-f][0-9a-f-]{3,35}$")
_SHOWN_CANDIDATES = 5
_NOT_IN_LINKS = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\]")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d{1,9}[.)])(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Place:
    """A document and a range of its lines (1-based, inclusive; None: to the end)."""

    document: StoredDocument
    first: int = 1
    last: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole document."""
        return self.first == 1 and self.last is None

    def overlaps(self, first: int, last: int) -> bool:
        """Return whether it contains some of these lines of its document."""
        own_last = self.document.line_count if self.last is None else self.last
        return first <= max(own_last, self.first) and last >= self.first


def resolve(
    reader: Reader, reference: str, *, memory_dir: str, sources: Sequence[str] = ()
) -> Place:
    """Return the place of a reference.

    Raises NotFoundError. Raises UsageError for an ambiguous reference or a reversed range of lines.
    """
    reference = reference.strip()
    if not reference:
        raise UsageError("empty reference", "give an id, a path, or [[a note]]")
    if link := _WIKILINK.match(reference):
        return _resolve_link(
            reader, link["target"].strip(), (link["heading"] or "").strip(), sources
        )
    if document := _find(reader, reference, memory_dir, sources):
        return Place(document)
    lines = _LINES.match(reference)
    if lines and (document := _find(reader, lines["ref"], memory_dir, sources)):
        first = max(int(lines["first"]), 1)
        to_end = lines["dash"] and not lines["last"]
        last = None if to_end else int(lines["last"] or first)
        if last is not None and last < first:
            raise UsageError(
                f"the lines of {reference} are reversed", f"give the lines as {last}-{first}"
            )
        return Place(document, first, last)
    raise NotFoundError(
        f"not found: {reference!r}", f"look for it with `vault-index search {reference!r}`"
    )


def _find(
    reader: Reader, name: str, memory_dir: str, sources: Sequence[str]
) -> StoredDocument | None:
    """Return the document with this path, id or name.

    Raises UsageError if several documents match equally well.
    """
    found = next(filter(None, _matches(reader, name, memory_dir, sources)), ())
    if len(found) > 1:
        places = ", ".join(f"{one.source}:{one.path}" for one in found[:_SHOWN_CANDIDATES])
        more = len(found) - _SHOWN_CANDIDATES
        raise UsageError(
            f"{len(found)} documents match {name!r}",
            f"give the path of one: {places}" + (f" and {more} more" if more > 0 else ""),
        )
    return found[0] if found else None


def _matches(
    reader: Reader, name: str, memory_dir: str, sources: Sequence[str]
) -> Iterator[Sequence[StoredDocument]]:
    """Yield the equally good matches of each kind of reference."""
    for path in (name, f"{name}.md", f"{memory_dir}/{name}.md", f"{memory_dir}/{name}"):
        yield _best(documents_by_path(reader, path, sources))
    source, _, inside = name.partition(":")  # `vault:path`, as in `also` of a hit
    if not sources or source in sources:
        yield _best(documents_by_path(reader, inside, (source,)))
    if _ID.match(name.lower()):
        found = documents_by_id(reader, name.lower())
        yield [one for one in found if not sources or one.source in sources]
    named = documents_by_name(reader, name)
    yield _best([one for one in named if not sources or one.source in sources])
    old_id = name.removeprefix("#")  # id of an imported memory in its former program: `#12` or 12
    if name.startswith("#") or old_id.isdigit():
        yield memories_by_old_id(reader, old_id, sources)


def _best(found: Sequence[StoredDocument]) -> Sequence[StoredDocument]:
    """Return the first document, and those with the same path in other vaults."""
    return [one for one in found if one.path == found[0].path]


def _resolve_link(reader: Reader, target: str, heading: str, sources: Sequence[str]) -> Place:
    from vault_index.query.links import linked  # late: most references are not links

    document = linked(reader, target, sources)
    if document is None:
        raise NotFoundError(
            f"note not found: {target!r}", f"look for it with `vault-index search {target!r}`"
        )
    return Place(document) if not heading else _section(reader, document, heading)


def _section(reader: Reader, document: StoredDocument, heading: str) -> Place:
    """Return the first section with this heading, or the block with this `^mark`."""
    chunks = reader.chunks_of(document.id, fields=False)
    path, mark = (
        [_heading(part) for part in heading.split("#")],
        heading.rpartition("#")[2].strip().casefold(),
    )
    for number, chunk in enumerate(chunks):
        if mark.startswith("^"):
            if block := _block(chunk.text.split("\n"), mark):
                return Place(document, chunk.start_line + block[0], chunk.start_line + block[1])
            continue
        names = [_heading(name) for name in chunk.headings]
        for depth in (depth for depth, name in enumerate(names, start=1) if name == path[-1]):
            above = iter(names[:depth])
            # The iterator checks the order; the link may skip headings in between.
            if all(part in above for part in path):
                return Place(document, chunk.start_line, _last_line(chunks[number:], depth))
    raise NotFoundError(
        f"{document.path} has no heading or block {heading!r}", f"open it with get {document.path}"
    )


def _last_line(chunks: Sequence[ChunkRecord], depth: int) -> int:
    """Return the last line of the section that the first of these chunks begins."""
    return max(
        one.end_line
        for one in takewhile(lambda one: one.headings[:depth] == chunks[0].headings[:depth], chunks)
    )


def _heading(text: str) -> str:
    """Return a heading as Obsidian compares it: without punctuation and emphasis."""
    return " ".join(_NOT_IN_LINKS.sub(" ", same_form(text)).split())


def _block(lines: Sequence[str], mark: str) -> tuple[int, int] | None:
    """Return the first and last line (from 0) of the block with this mark, or None.

    A block is a paragraph, or a list item with its children. A mark on a line of its own belongs to
    the block above.
    """
    last = next(
        (number for number, line in enumerate(lines) if line.casefold().split()[-1:] == [mark]),
        None,
    )
    if last is None:
        return None
    first, alone = last, lines[last].strip().casefold() == mark
    while first and alone and not lines[first - 1].strip():
        first -= 1
    while first and not _is_apart(lines[first - 1]) and (alone or not _ITEM.match(lines[first])):
        first -= 1
    if not alone and (item := _ITEM.match(lines[first])):
        deeper = takewhile(lambda line: not line[: item.end(1) + 1].strip(), lines[last + 1 :])
        last += max(
            (number for number, line in enumerate(deeper, start=1) if line.strip()), default=0
        )
    return first, last


def _is_apart(line: str) -> bool:
    """Return whether a line is blank or a heading, and so part of no block below it."""
    return not line.strip() or line.lstrip().startswith("#")
