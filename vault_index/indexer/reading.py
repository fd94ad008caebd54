"""Decide which documents to read, and turn a document into rows: identity, dates, fields, terms."""

import hashlib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vault_index.fields import FIELDS, FILTERS, NOT_SEARCHED
from vault_index.markdown.frontmatter import (
    document_uid,
    first_time,
    last_moment,
    memory_identity,
    plain_text,
    project_in,
    string_list,
    unreviewed_in,
)
from vault_index.markdown.normalize import SENTENCE, scalars
from vault_index.models import (
    UNTRUSTED,
    Chunk,
    DocumentRef,
    Fault,
    FileStamp,
    Kind,
    ParsedDocument,
    RawDocument,
)
from vault_index.sources.sessions.source import SessionSource
from vault_index.sources.source import Source
from vault_index.store.revisions import packed
from vault_index.store.spaces import without_key
from vault_index.store.writer import ChunkRow, DocumentRow, KnownDocument
from vault_index.terms import index_text, index_words
from vault_index.unicode import same_form

ROWS_VERSION = 14
"""Increase it when the same file would give other rows; then every document is read again."""

# A file changed within one clock tick of its stamp may change again with the same stamp.
_RACY_NS = 20_000_000
_COARSE_NS = 2_020_000_000
"""The clock tick of file systems with whole seconds, or even seconds (FAT)."""
_DATE_IN_NAME = re.compile(
    r"(?<!\d)(?:(\d{4})([-_.])(\d\d)\2(\d\d)|((?:19|20)\d\d)(\d\d)(\d\d)(?:\d{4}|\d{6})?)(?!\d)"
)
"""Matches `2018-11-20`, `2018_11_20`, `20181120`, and with a time `201811201633`."""
_DAY = len("2027-02-01")
_DIGEST_CHARACTERS = 200
_REPEATED = 4_000
"""Maximum characters of the title, the tags and so on, which every chunk repeats.

It keeps the size of the index proportional to the text. Documents with very many short sections get
less.
"""
_REPEATED_AT_LEAST = 64_000
_KEY = re.compile(r"^- ([^:\n]+): ", re.MULTILINE)


class RowSettings(NamedTuple):
    """The settings that affect the rows."""

    chunk_tokens: int
    chunk_overlap: int
    memory_dir: str
    deleted: tuple[bytes, frozenset[int]] = (b"", frozenset())
    """Salt and fingerprints of deleted memories; quotes of them are omitted from sessions."""

    def made_with(self, source: Source) -> str:
        """Return a fingerprint of the settings; rows with another one are outdated."""
        return (
            f"{ROWS_VERSION}/{self.chunk_tokens}/{self.chunk_overlap}"
            f"/{self.memory_dir}/{source.shape}"
        )


class Plan(NamedTuple):
    """The work of a sync: the difference between the files and the index.

    `changed` pairs a file with its previous row. A removed row may later match an added file, which
    is then a move.
    """

    added: tuple[DocumentRef, ...]
    changed: tuple[tuple[DocumentRef, KnownDocument], ...]
    removed: tuple[KnownDocument, ...]
    unchanged: int


Job = tuple[DocumentRef, KnownDocument | None]
"""A document to be read, with its indexed state."""
Work = Sequence[Job]


def diff(refs: Iterable[DocumentRef], known: Mapping[str, KnownDocument], made_with: str) -> Plan:
    """Compare by path and stamp; a row made with other settings counts as changed."""
    added: list[DocumentRef] = []
    changed: list[tuple[DocumentRef, KnownDocument]] = []
    unchanged = 0
    gone = dict(known)
    for ref in refs:
        row = gone.pop(ref.path, None)
        if row is None:
            added.append(ref)
        elif row.stamp != ref.stamp or row.made_with != made_with:
            changed.append((ref, row))
        else:
            unchanged += 1
    return Plan(tuple(added), tuple(changed), tuple(gone.values()), unchanged)


class Read(NamedTuple):
    """The rows of a document, and its faults."""

    row: DocumentRow
    faults: tuple[Fault, ...]
    version: bytes = b""
    """For memories: the file, compressed by `packed`."""


class Parsed(NamedTuple):
    """A document that was just written, and was parsed before."""

    raw: RawDocument
    """Its stamp has no ctime, because moving the new file to its path changed that."""
    parsed: ParsedDocument


def read_document(
    source: Source,
    ref: DocumentRef,
    settings: RowSettings,
    known: KnownDocument | None = None,
    written: Parsed | None = None,
) -> Read | FileStamp:
    """Return the rows of a document, or only its new stamp if the rows are unchanged.

    A document that was just `written` is neither read nor parsed. Raises the errors of
    `Source.read`.
    """
    # Imported here because parsing is slow to import, and most syncs find nothing to parse.
    from vault_index.markdown.chunk import chunk, chunk_fields
    from vault_index.markdown.parse import without_quotes

    began = time.time_ns()
    raw = written.raw._replace(ref=ref) if written else source.read(ref)
    stamp, made_with = _believed(raw.ref.stamp, began), settings.made_with(source)
    if known is not None and raw.kind is None and _is_same(raw, known, made_with):
        return stamp
    path = ref.path
    memory = path.startswith(f"{settings.memory_dir}/") and path.endswith(".md")
    raw = raw._replace(
        ref=raw.ref._replace(stamp=stamp), kind=raw.kind or ("memory" if memory else "note")
    )
    quotable = raw.kind == "session" and settings.deleted[1]
    text, omitted = without_quotes(raw.text, *settings.deleted) if quotable else (raw.text, None)
    parsed = written.parsed if written else _parse(text, path, raw.kind)
    row = describe(
        raw,
        parsed,
        chunk(parsed, settings.chunk_tokens, settings.chunk_overlap),
        chunk_fields(parsed, settings.chunk_tokens),
        made_with=made_with,
        born=source.born,
        omitted=omitted,
        unreviewed=unreviewed_in(path, settings.memory_dir) if raw.kind == "memory" else 0,
    )
    kept = source.keep(raw, text, row.updated) if isinstance(source, SessionSource) else ()
    return Read(
        row, (*raw.faults, *parsed.faults, *kept), packed(raw.data) if row.kind == "memory" else b""
    )


def _parse(text: str, path: str, kind: Kind | None) -> ParsedDocument:
    from vault_index.markdown.canvas import parse_canvas
    from vault_index.markdown.parse import parse, parse_transcript

    name = path.rpartition("/")[2].rpartition(".")[0]
    if path.endswith(".canvas"):
        return parse_canvas(text, name)
    return (
        parse_transcript(text, name)
        if kind == "session"
        else parse(text, name, memory=kind == "memory")
    )


def _believed(stamp: FileStamp, read_at: int) -> FileStamp:
    """Return the stamp to store; `UNTRUSTED` if the file changed just before it was read."""
    tick = _RACY_NS if stamp.ctime_ns % 1_000_000_000 else _COARSE_NS
    fresh = read_at - max(stamp.mtime_ns, stamp.ctime_ns) < tick
    return stamp._replace(ctime_ns=UNTRUSTED) if fresh else stamp


def _is_same(raw: RawDocument, known: KnownDocument, made_with: str) -> bool:
    """Return whether the rows would be unchanged. Dates can depend on the file time."""
    was, now = known.stamp, raw.ref.stamp
    rest = (was.size, was.mtime_ns, known.made_with) == (now.size, now.mtime_ns, made_with)
    return rest and raw.content_hash == known.content_hash


def describe(
    raw: RawDocument,
    parsed: ParsedDocument,
    chunks: Sequence[Chunk],
    fields: Sequence[Chunk] = (),
    *,
    made_with: str,
    born: Callable[[str], float | None] = lambda path: None,
    omitted: str | None = None,
    unreviewed: int = 0,
) -> DocumentRow:
    """Return the rows of one document. Equal files give equal rows at any time.

    `born` returns the creation time of a path, for documents that do not state it.
    """
    path, kind = raw.ref.path, raw.kind or "note"
    front = {**dict(raw.labels), **parsed.frontmatter}
    memory = kind == "memory"
    own = front if memory else {}  # for keys that mean something only in memories
    named = not (memory and _is_made(path, front))
    given = parsed.title_given and (parsed.title_in_text or named)
    stated = parsed.title if given and parsed.title_in_text else ""
    return DocumentRow(
        uid=_uid(kind, front, raw.ref.source, path),
        source=raw.ref.source,
        path=path,
        name=same_form(_name(raw)),
        kind=kind,
        title=parsed.title,
        content_hash=raw.content_hash,
        size=raw.ref.stamp.size,
        mtime_ns=raw.ref.stamp.mtime_ns,
        ctime_ns=raw.ref.stamp.ctime_ns,
        inode=raw.ref.stamp.inode,
        made_with=made_with,
        line_count=parsed.line_count,
        type=plain_text(front.get("type")) or ("note" if memory else None),
        digest=plain_text(front.get("digest")) or (_first_sentences(chunks) if memory else ""),
        unreviewed=unreviewed,
        superseded_by=plain_text(own.get("superseded_by")),
        frontmatter={
            **front,
            **{f"{key}::": list(values) for key, values in parsed.inline.items()},
        },
        tags=parsed.tags,
        aliases=parsed.aliases,
        links=parsed.links,
        chunks=tuple(
            chunk_rows(
                path if named else still_said(path, parsed.title),
                searched(parsed, kind, given=given),
                chunks,
                fields,
            )
        ),
        identity=memory_identity(raw.text, front, stated) if memory else None,
        title_given=given,
        name_given=named,
        omitted=omitted,
        **_times(raw, front, own, born),
        **_filter_columns(front, own),
    )


def searched(parsed: ParsedDocument, kind: Kind, *, given: bool) -> ParsedDocument:
    """Return the document with the title and the fields that search uses."""
    front = parsed.frontmatter
    if kind == "session":
        # Model, folder and version are the same in most sessions, and would only be noise.
        front = {key: front.get(key) for key in ("project", "tags")}
    return parsed._replace(title_given=given, frontmatter=front)


def _times(
    raw: RawDocument,
    front: Mapping[str, Any],
    own: Mapping[str, Any],
    born: Callable[[str], float | None],
) -> dict[str, Any]:
    modified = raw.ref.stamp.mtime_ns / 1e9
    created = first_time(front.get("created"), front.get("date"), _day_in(_name(raw)))
    return {
        "created": created or min(modified, born(raw.ref.path) or modified),
        "updated": first_time(front.get("updated"), front.get("modified")) or modified,
        "expires": last_moment(own.get("expires")),
        "valid_until": last_moment(own.get("valid_until")),
        "archived": first_time(own.get("archived")),
    }


def _filter_columns(front: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns for filters, filled from the frontmatter; `own` is that of a memory."""
    columns = {
        one.column: plain_text((own if one.of_memories else front).get(one.frontmatter[0]))
        for one in FILTERS.values()
        if one.column and one.frontmatter
    }
    return columns | {"project": project_in(front)}


def _name(raw: RawDocument) -> str:
    return raw.ref.path.rpartition("/")[2].rpartition(".")[0]


def _day_in(name: str) -> str:
    match = _DATE_IN_NAME.search(name)
    return "-".join(filter(str.isdigit, filter(None, match.groups()))) if match else ""


def _is_made(path: str, front: Mapping[str, Any]) -> bool:
    """Return whether a memory has a generated file name: `<type>/<day>-<words of its title>`.

    A memory written by hand has no id and a chosen name.
    """
    folder, name = ("", *path.split("/"))[-2:]
    day = str(front.get("created"))[:_DAY]
    return (
        "id" in front
        and folder in (*FIELDS["type"].choices, "inbox", "waiting")
        and name.startswith(f"{day}-")
    )


def still_said(path: str, title: str) -> str:
    """Return a generated path without its words if these are from an earlier title.

    A new title does not rename the file.
    """
    folder, _, name = path.removesuffix(".md").rpartition("/")
    words = (word for word in name[_DAY:].split("-") if not word.isdecimal())
    return path if {*words} <= {"", *index_words(title)} else f"{folder}/{name[:_DAY]}"


def _uid(kind: Kind, front: Mapping[str, Any], source: str, path: str) -> str:
    session = plain_text(front.get("session")) if kind == "session" else None
    if session:  # the same for every source of the session
        return document_uid(None, "session", session)
    return document_uid(front.get("id") if kind == "memory" else None, source, path)


def chunk_rows(
    path: str, parsed: ParsedDocument, chunks: Sequence[Chunk], texts: Sequence[Chunk]
) -> Iterator[ChunkRow]:
    """Yield the rows of all chunks; `texts` are the chunks of the frontmatter.

    Every other chunk has the frontmatter in a column, so that required and excluded words may match
    in different places. For the same reason, a generated title is a field of all chunks except the
    first, which contains it.
    """
    both = *texts, *chunks
    room = min(
        _REPEATED, (_REPEATED_AT_LEAST + sum(len(one.text) for one in both)) // max(len(both), 1)
    )
    given, title, place = (
        parsed.title_given,
        index_text(parsed.title[:room]),
        index_text(path[:room]),
    )
    aliases, tags = (
        index_text("\n".join(parsed.aliases)[:room]),
        index_text(" ".join(parsed.tags)[:room]),
    )
    front = parsed.frontmatter
    searched = [value for key, value in front.items() if key not in NOT_SEARCHED]
    fields = index_text("\n".join(scalars(searched))[:room])
    for number, chunk in enumerate(both):
        of_fields = number < len(texts)
        text = chunk.text
        if of_fields:
            text = _KEY.sub(lambda key: "" if key[1] in front else key[0], text)
        headings = _within(chunk.headings, room)
        context = "" if of_fields else embedding_context(parsed, headings, room)
        yield ChunkRow(
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            headings=headings,
            context=context,
            text=chunk.text,
            tokens=chunk.tokens,
            embed_key=embed_key(context, without_key(chunk.text) if of_fields else chunk.text),
            terms=(
                title if given else "",
                aliases,
                index_text("\n".join(headings)),
                tags,
                fields if given or number == len(texts) else f"{title}\n{fields}",
                place,
                index_text(text),
            ),
            of_fields=of_fields,
        )


def _within(headings: tuple[str, ...], room: int) -> tuple[str, ...]:
    """Return the headings, truncated evenly if they exceed `room` characters."""
    return (
        headings
        if sum(map(len, headings)) <= room
        else tuple(one[: room // len(headings)] for one in headings)
    )


def embedding_context(parsed: ParsedDocument, headings: Sequence[str], room: int) -> str:
    """Return the text embedded before a chunk: `[tags] title > heading path`.

    Only a title in the document counts: with the file name as title, a new name would cost new
    embeddings. Only frontmatter tags count: a new inline tag must not change the other chunks of
    the note. Each part has at most `room` characters.
    """
    title = (parsed.title[:room],) if parsed.title_in_text else ()
    crumbs = " > ".join((*title, *(headings[1:] if headings[:1] == title else headings)))
    own = parsed.frontmatter.get("tags", parsed.frontmatter.get("tag"))
    tags = " ".join(tag.lstrip("#") for tag in string_list(own, split_spaces=True))
    return " ".join(part for part in (f"[{tags[:room]}]" if tags else "", crumbs) if part)


def embed_key(context: str, text: str) -> bytes:
    """Return the key of an embedding: the SHA-256 of context and text."""
    return hashlib.sha256(f"{context}\0{text}".encode("utf-8", "surrogatepass")).digest()


def _first_sentences(chunks: Sequence[Chunk]) -> str:
    """Return the first sentences of the body, about 200 characters."""
    text = next((c.text for c in chunks), "")
    plain = " ".join(line for line in text.split("\n") if line.strip() and not line.startswith("#"))
    digest = ""
    for sentence in SENTENCE.findall(plain):
        if digest and len(digest) + len(sentence) > _DIGEST_CHARACTERS:
            break
        digest += sentence
    return digest.strip()[: _DIGEST_CHARACTERS * 2]
