"""Rows for tests of the store: a document of some chunks, with vectors of four dimensions."""

import hashlib
import struct
from collections.abc import Sequence

from vault_index.models import Vector, VectorSpace
from vault_index.store.writer import ChunkRow, DocumentRow

SPACE = VectorSpace("openai", "toy", 4, "https://x")


def vector(*values: float) -> Vector:
    length = sum(value * value for value in values) ** 0.5
    return struct.pack("<4f", *(value / length for value in values))


def chunk_row(text: str, line: int = 1, *, title: str = "T") -> ChunkRow:
    return ChunkRow(
        start_line=line, end_line=line, headings=(title,), context=title, text=text, tokens=len(text.split()),
        embed_key=hashlib.sha256(text.encode()).digest(), terms=(title, "", title, "", "", "note.md", text),
    )  # fmt: skip


def document_row(
    path: str,
    texts: Sequence[str],
    *,
    source: str = "vault",
    title: str = "T",
    tags: Sequence[str] = (),
    created: float = 0.0,
) -> DocumentRow:
    return DocumentRow(
        uid=hashlib.sha256(path.encode()).hexdigest()[:32],
        source=source, path=path, name=path.rpartition("/")[2].removesuffix(".md").casefold(), kind="note", title=title,
        content_hash=hashlib.sha256("\n".join(texts).encode()).digest(), size=1, mtime_ns=2, ctime_ns=3, inode=4,
        made_with="1", line_count=len(texts), created=created, updated=created, type=None, digest="", project=None,
        entered_by=None, expires=None, valid_until=None, confidence=None, superseded_by=None, archived=None,
        unreviewed=0, frontmatter={}, tags=tuple(tags), aliases=(), links=(),
        chunks=tuple(chunk_row(text, line, title=title) for line, text in enumerate(texts, start=1)),
    )  # fmt: skip
