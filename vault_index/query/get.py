"""Opening a place: its text within a budget, its neighbours, and everything that is known of its document."""

from collections.abc import Sequence
from dataclasses import replace

from vault_index.markdown.normalize import split_lines
from vault_index.query.present import to_record
from vault_index.query.references import Place
from vault_index.results import DocumentText
from vault_index.store.reader import IndexReader
from vault_index.store.records import StoredDocument


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
    size = whole_tokens if whole and whole_tokens is not None else _count("\n".join(shown))
    rest = None
    if max_tokens is not None and size > max_tokens:
        fitting, cost = _fit(shown, max_tokens)
        if len(fitting) < len(shown):  # a last line that is too long is shown, and nothing is left
            shown, size = fitting, cost
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
    session = document.frontmatter.get("session") if document.kind == "session" else None
    return {
        **record,
        **({"resume": f"opencode -s {session}"} if session else {}),
        "aliases": reader.aliases_of(document.id),
        "links": [asdict(link) for link in reader.links_of(document.id)],
        "frontmatter": dict(document.frontmatter),
    }


def _fit(lines: Sequence[str], max_tokens: int) -> tuple[list[str], int]:
    """As many lines as fit, at least one, so that going on always ends."""
    shown: list[str] = []
    size = 0
    for line in lines:
        cost = _count(f"{line}\n")
        if shown and size + cost > max_tokens:
            break
        shown.append(line)
        size += cost
    return shown, size


def _count(text: str) -> int:
    from vault_index import tokens  # 20 ms, and a whole document was counted when it was indexed

    return tokens.count(text)
