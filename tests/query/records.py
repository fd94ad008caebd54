"""Chunks as the index returns them."""

from typing import Any

from vault_index.store.records import ChunkRecord, StoredDocument


def chunk_record(text: str = "A heron.", chunk_id: int = 1, **fields: Any) -> ChunkRecord:
    """A chunk with `text`; its lines follow from it. `fields` are those of the chunk or of its document."""
    start_line = fields.pop("start_line", 1)
    values: dict[str, Any] = {
        "id": fields.pop("document_id", 1), "uid": "a" * 32, "kind": "note", "source": "vault", "path": "note.md",
        "title": "", "size": 1, "mtime_ns": 2, "ctime_ns": 3, "inode": 4, "line_count": 1, "tokens": 1,
        "type": None, "digest": "", "created": 0.0, "updated": 0.0, "entered_by": None, "project": None,
        "expires": None, "valid_until": None, "confidence": None, "superseded_by": None, "archived": None,
        "unreviewed": 0, "frontmatter_json": "{}",
    }  # fmt: skip
    of_chunk = {"ordinal": chunk_id, "headings": (), "end_line": start_line + text.count("\n"), "tokens": 1}
    of_chunk |= {name: fields.pop(name) for name in of_chunk.keys() & fields.keys()}
    document = StoredDocument(**(values | fields))
    return ChunkRecord(chunk_id=chunk_id, document=document, text=text, start_line=start_line, **of_chunk)
