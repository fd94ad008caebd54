"""Chunks as the index hands them out."""

from typing import Any

from vault_index.models import FileStamp
from vault_index.store.records import ChunkRecord


def chunk_record(text: str = "A heron.", chunk_id: int = 1, **fields: Any) -> ChunkRecord:
    """A chunk with `text`; its lines follow from it."""
    start_line = fields.pop("start_line", 1)
    values: dict[str, Any] = {
        "document_id": 1, "uid": "a" * 32, "kind": "note", "source": "vault", "path": "note.md", "title": "",
        "headings": (), "end_line": start_line + text.count("\n"), "tokens": 1, "stamp": FileStamp(1, 2, 3),
        "type": None, "digest": "", "created": 0.0, "updated": 0.0, "entered_by": None, "project": None,
        "expires": None, "valid_until": None, "confidence": None,
    }  # fmt: skip
    return ChunkRecord(chunk_id=chunk_id, text=text, start_line=start_line, **(values | fields))
