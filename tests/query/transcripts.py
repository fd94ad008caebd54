"""Rendered sessions of any client, put into an index without the client."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from tests.query.sessions import make_home
from vault_index import VaultIndex
from vault_index.indexer.reading import describe
from vault_index.markdown.chunk import chunk
from vault_index.markdown.parse import parse_transcript
from vault_index.models import DocumentRef, FileStamp, RawDocument
from vault_index.store.writer import IndexWriter

Turn = tuple[str, str, str]
"""Time as `2026-11-20 09:00`, speaker, and text."""


def utc(local: str) -> str:
    return datetime.fromisoformat(local).astimezone().isoformat(timespec="seconds")


def transcript(session: str, turns: Sequence[Turn], *, ended: str = "", **front: str | int) -> str:
    known = {
        "title": f"Work {session}", "session": session, "client": "opencode", "project": "api",
        "directory": "/home/user/api", "created": utc(turns[0][0]), "updated": utc(ended or turns[-1][0]),
        "turns": len(turns), **front,
    }  # fmt: skip
    lines = [f'{key}: "{value}"' if isinstance(value, str) else f"{key}: {value}" for key, value in known.items()]
    said = "\n\n".join(f"## {who} · {when}\n\n{text}" for when, who, text in turns)
    return "---\n" + "\n".join(lines) + f"\n---\n\n{said}\n"


@contextmanager
def held(folder: Path, texts: Mapping[str, str], *, tokens: int = 200) -> Iterator[VaultIndex]:
    """The index of these sessions by id, in chunks of this many tokens."""
    home, client = make_home(folder)
    client.close()
    with VaultIndex.open(home) as index:
        index.sync()
        writer = IndexWriter(home.index_db)
        for session, text in texts.items():
            ref = DocumentRef("opencode", f"api/{session}.md", FileStamp(len(text), 1, 1))
            raw = RawDocument(ref, text, sha256(text.encode()).digest(), kind="session")
            parsed = parse_transcript(text, session)
            writer.put_document(describe(raw, parsed, chunk(parsed, tokens, tokens // 4), made_with=""), (), None, {})
        writer.close()
        yield index
