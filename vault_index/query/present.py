"""From stored rows to what is answered: times as text, links that open the note, hits."""

from __future__ import annotations

from datetime import datetime

TYPE_CHECKING = False  # spares a list the import of what makes hits; type checkers know the name
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from vault_index.query.highlight import Focus
    from vault_index.query.ranking.rank import Ranked
    from vault_index.results import DocumentRecord, Explanation, Hit
    from vault_index.store.records import ChunkRecord, StoredDocument


def iso_time(seconds: float) -> str:
    """Local time with its offset, to the second."""
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")


def to_hit(
    hit: Ranked,
    place: Focus,
    *,
    better: Collection[int],
    tags: tuple[str, ...],
    link: str,
    accesses: int,
    changed: bool,
    also: tuple[str, ...],
    explain: Explanation | None,
) -> Hit:
    """`better` are the lines of the file that better hits point at: what two hits show is not the same."""
    from vault_index.query.highlight import snippet
    from vault_index.results.search import Hit

    chunk = hit.chunk
    others = {line - chunk.start_line for line in better}
    return Hit(
        id=chunk.uid,
        kind=chunk.kind,
        source=chunk.source,
        path=chunk.path,
        title=chunk.title,
        headings=chunk.headings,
        lines=(chunk.start_line, chunk.end_line),
        score=round(hit.score, 4),
        tags=tags,
        type=chunk.type,
        digest=chunk.digest,
        snippet=snippet(chunk.text, place.first, place.column, others),
        focus=in_file(chunk, place.first, place.last),
        tokens=chunk.tokens,
        created=iso_time(chunk.created),
        updated=iso_time(chunk.updated),
        entered_by=chunk.entered_by,
        project=chunk.project,
        expires=_date(chunk.expires),
        valid_until=_date(chunk.valid_until),
        confidence=chunk.confidence,
        accesses=accesses,
        changed_since_index=changed,
        also=also,
        link=link,
        explain=explain,
    )


def in_file(chunk: ChunkRecord, first: int, last: int) -> tuple[int, int]:
    """Lines of a chunk as lines of its file."""
    return min(chunk.start_line + first, chunk.end_line), min(chunk.start_line + last, chunk.end_line)


def to_record(
    document: StoredDocument, *, tags: tuple[str, ...], link: str, accesses: Mapping[str, int]
) -> DocumentRecord:
    from vault_index.results.documents import DocumentRecord

    turns = document.frontmatter.get("turns") if document.kind == "session" else None
    return DocumentRecord(
        id=document.uid,
        kind=document.kind,
        source=document.source,
        path=document.path,
        title=document.title,
        tags=tags,
        type=document.type,
        digest=document.digest,
        lines=(1, document.line_count),
        tokens=document.tokens,
        created=iso_time(document.created),
        updated=iso_time(document.updated),
        entered_by=document.entered_by,
        project=document.project,
        expires=_date(document.expires),
        valid_until=_date(document.valid_until),
        confidence=document.confidence,
        accesses=accesses.get(document.uid, 0),
        turns=turns if isinstance(turns, int) else None,
        link=link,
    )


def _date(seconds: float | None) -> str | None:
    return None if seconds is None else iso_time(seconds)
