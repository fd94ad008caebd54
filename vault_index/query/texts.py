"""Reads the texts of places from their files and cuts them to a token budget, for `get`."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace

from vault_index.errors import NotFoundError, UsageError, VaultIndexError
from vault_index.markdown.normalize import fenced_lines, split_lines
from vault_index.query.reader import Reader
from vault_index.query.references import Place
from vault_index.results.base import FailedItem
from vault_index.results.texts import DocumentText, Texts
from vault_index.sources.source import Source
from vault_index.store.documents import aliases_of, content_hashes, links_of
from vault_index.store.pool import Connections
from vault_index.store.records import StoredDocument

_FIELDS = (
    "subtitle",
    "facts",
    "concepts",
    "files_read",
    "files_modified",
    "bead_id",
    "confidence",
    "supersedes",
)
"""Frontmatter fields of a memory that `get` shows separately from its text."""


def get_texts(
    connections: Connections,
    sources: Mapping[str, Source],
    refs: str | Sequence[str] | None,
    resolve: Callable[[Connections, str], Place],
    *,
    full: bool,
    max_tokens: int | None,
    neighbors: int,
    holds: Callable[[str, str, str], bool],
) -> Texts:
    """Return the current texts of references, and record that they were opened.

    A whole document is returned without frontmatter unless `full`. References without a text are
    listed in `failed`. `holds` tells whether the caller may see the current text of a file, given
    its source and path. If no reference has a text, raises NotFoundError or UsageError.
    """
    wanted = [refs] if isinstance(refs, str) else refs
    if not wanted:
        raise UsageError("no document given", "give an id, a path, or [[Note#Heading]]")
    texts, errors = [], []
    for ref in wanted:
        try:
            place = resolve(connections, ref)
            texts.append(_text_of(connections, sources, place, full, max_tokens, neighbors, holds))
        except VaultIndexError as error:
            errors.append((ref, error))
    if not texts:
        first = errors[0][1]
        raise type(first)("; ".join(error.message for _, error in errors), first.hint) from first
    return Texts(
        tuple(texts), tuple(FailedItem(ref, error.message, error.hint) for ref, error in errors)
    )


def _text_of(
    connections: Connections,
    sources: Mapping[str, Source],
    place: Place,
    full: bool,
    max_tokens: int | None,
    neighbors: int,
    holds: Callable[[str, str, str], bool],
) -> DocumentText:
    bare = place.is_whole and not full
    place = with_neighbors(connections.reader, place, neighbors)
    document, source = place.document, sources.get(place.document.source)
    if source is None:  # on another machine, which published it
        place, body = _published(connections.reader, place, bare=bare)
        text = read_place(place, body, bare=bare, max_tokens=max_tokens, whole_tokens=None)
    else:
        found = source.look(document.path)
        raw = source.read(found) if found else None
        if raw is None or not holds(document.source, document.path, raw.text):
            raise NotFoundError(
                f"{document.path} was deleted after it was indexed", "run `vault-index sync`"
            )
        now, then = raw.ref.stamp, document.stamp
        # The stamp of a file that was just written is not reliable as a whole, but its token count
        # is.
        same = (now.size, now.mtime_ns) == (then.size, then.mtime_ns)
        counted = document.tokens if same else None
        text = read_place(place, raw.text, bare=bare, max_tokens=max_tokens, whole_tokens=counted)
    if full:
        text = replace(text, metadata=full_metadata(connections, document, source))
    # Reading must work even if the disk is full or the database is locked.
    with suppress(VaultIndexError):
        connections.state.record_access(document.uid, time.time())
    return text


def _published(reader: Reader, place: Place, *, bare: bool) -> tuple[Place, str]:
    """Return the indexed lines of a document; with `bare`, its place begins with its text."""
    chunks = reader.chunks_of(place.document.id, fields=not bare)
    lines = {
        number: line
        for chunk in chunks
        for number, line in enumerate(chunk.text.split("\n"), chunk.start_line)
    }
    text = "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))
    return replace(place, first=max(place.first, min(lines, default=1))) if bare else place, text


def with_neighbors(reader: Reader, place: Place, count: int) -> Place:
    """Return the place extended by `count` chunks before and after it."""
    chunks = reader.chunks_of(place.document.id)
    last = place.last or place.document.line_count
    inside = [
        number
        for number, chunk in enumerate(chunks)
        if place.overlaps(chunk.start_line, chunk.end_line)
    ]
    if not inside or count <= 0:
        return place
    around = chunks[max(inside[0] - count, 0) : inside[-1] + count + 1]
    return replace(
        place,
        first=min(place.first, *(c.start_line for c in around)),
        last=max(last, *(c.end_line for c in around)),
    )


def read_place(
    place: Place, text: str, *, bare: bool, max_tokens: int | None, whole_tokens: int | None
) -> DocumentText:
    """Return the text of a place, cut at a line after `max_tokens`.

    `next` is then the reference of the rest. With `bare` the text begins below the frontmatter,
    unless there is no other text. `whole_tokens` is the token count of the whole document in the
    index, if it is still valid; it saves loading the tokenizer.
    """
    document, lines = place.document, split_lines(text)
    start = _body_start(lines) if bare and document.frontmatter else 1
    first = min(max(place.first, start), max(len(lines), 1))
    last = min(place.last or len(lines), len(lines))
    whole = first == start and last == len(lines)
    whole_text = lines[first - 1 : last]
    shown, size = _fit(whole_text, whole_tokens if whole else None, max_tokens)
    cut = len(shown) < len(whole_text)
    rest = f"{document.uid}:{first + len(shown)}-{last}" if cut else None
    ends = whole and not cut and text.endswith(("\n", "\r"))
    front = document.frontmatter if whole and start > 1 and document.kind == "memory" else {}
    return DocumentText(
        id=document.uid,
        kind=document.kind,
        source=document.source,
        path=document.path,
        title=document.title,
        lines=(first, max(first + len(shown) - 1, first)),
        tokens=size,
        content="\n".join(shown) + "\n" * bool(shown and ends),
        next=rest,
        fields={key: front[key] for key in _FIELDS if front.get(key)},
        **document.states(time.time()),
    )


def _body_start(lines: Sequence[str]) -> int:
    """Return the first line below the frontmatter that has text; 1 if there is none."""
    top = fenced_lines(lines)
    body = (number for number, line in enumerate(lines, start=1) if number > top and line.strip())
    return next(body, 1) if top else 1


def full_metadata(
    connections: Connections, document: StoredDocument, source: Source | None
) -> dict[str, object]:
    """Return all known properties of a document except its text."""
    import shlex  # late: rarely needed

    from vault_index.query.documents import Records
    from vault_index.query.links import link_targets
    from vault_index.query.resume import resume_command

    reader = connections.reader
    makers = {document.source: source.link} if source else {}
    [record] = Records(reader, connections.state, makers).of([document])
    states = document.states(time.time())
    command = resume_command(document) if document.kind == "session" else None
    links = links_of(reader, document.id)
    targets = link_targets(reader, document, links)
    return {
        **{key: value for key, value in asdict(record).items() if value or key not in states},
        **({"resume": shlex.join(command)} if command else {}),
        "content_hash": content_hashes(reader, {document.id})[document.id],
        "aliases": aliases_of(reader, document.id),
        "links": [
            {**link._asdict(), "missing": targets.get(link.target, 0) is None} for link in links
        ],
        "frontmatter": dict(document.frontmatter),
    }


def _fit(
    lines: Sequence[str], counted: int | None, max_tokens: int | None
) -> tuple[Sequence[str], int]:
    """Return the lines that fit, at least one so that paging ends, and their token count.

    `counted` is the known token count of all lines.
    """
    total = _count("\n".join(lines)) if counted is None else counted
    if max_tokens is None or total <= max_tokens:
        return lines, total
    size = 0
    for number, line in enumerate(lines):
        cost = _count(f"{line}\n")
        if number and size + cost > max_tokens:
            return lines[:number], size
        size += cost
    return lines, total


def _count(text: str) -> int:
    from vault_index import tokens  # late: takes 20 ms, and whole documents are already counted

    return tokens.count(text)
