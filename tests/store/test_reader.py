from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.rows import document_row
from vault_index.store.documents import (
    HIDDEN,
    documents_by_key,
    documents_by_path,
    documents_of,
    first_chunks,
    hidden_chunks,
    tags_of,
)
from vault_index.store.reader import IndexReader
from vault_index.store.state import State
from vault_index.store.vocabulary import count_words
from vault_index.store.writer import DocumentRow, IndexWriter

NEWER = "b" * 32


def row(path: str, *texts: str, created: float = 0.0, **fields: object) -> DocumentRow:
    return replace(document_row(path, texts, created=created), **fields)  # type: ignore[arg-type]


def put(writer: IndexWriter, *rows: DocumentRow) -> None:
    for one in rows:
        writer.put_document(one, (), None, {})
    count_words(writer)


def paths(reader: IndexReader, chunk_ids: list[int] | set[int]) -> list[str]:
    records = reader.chunks(list(chunk_ids))
    return [records[chunk_id].document.path for chunk_id in chunk_ids]


def test_stems_equal_those_of_the_index(reader: IndexReader) -> None:
    for _ in range(2):
        assert reader.stems({"running", "cafés", "数据", "x\u19b0y"}) == {
            "running": "run", "cafés": "cafe", "数据": "数据",
        }  # fmt: skip
    assert reader.stems(set()) == {}


@pytest.mark.parametrize(
    ("now", "hidden"),
    [(50.0, set()), (99.0, set()), (100.0, {"expires.md"}), (150.0, {"expires.md"}), (200.0, {"expires.md", "old.md"})],
)
def test_hidden_chunks_follow_the_clock(writer: IndexWriter, reader: IndexReader, now: float, hidden: set[str]) -> None:
    put(
        writer,
        row("expires.md", "text", expires=100.0),
        row("old.md", "text", "more", superseded_by=NEWER.upper()),
        row("new.md", "text", created=200.0, uid=NEWER),
        row("plain.md", "text"),
        row("archived.md", "text", archived=100.0),
        row("inbox.md", "text", unreviewed=1),
        row("waiting.md", "text", unreviewed=2),
        row("lost.md", "text", superseded_by="c" * 32),  # by a missing one
    )
    hidden |= {"waiting.md", "lost.md"} | ({"archived.md"} if now >= 100.0 else set())
    assert set(paths(reader, hidden_chunks(reader, now))) == hidden
    for state, shown in (("expired", {"expires.md"}), ("superseded", {"old.md", "lost.md"}),
                         ("archived", {"archived.md"}), ("unreviewed", {"waiting.md"})):  # fmt: skip
        assert set(paths(reader, hidden_chunks(reader, now, shown=[state]))) == hidden - shown, state
    assert hidden_chunks(reader, now, shown=HIDDEN) == set()


def test_reads_accept_more_ids_than_statement_parameters(
    writer: IndexWriter, reader: IndexReader, tmp_path: Path
) -> None:
    put(writer, row("a.md", "A heron."))
    (document,) = documents_by_path(reader, "a.md")
    many = [document.id, *range(1000, 41_000)]
    assert list(documents_by_key(reader, many)) == list(first_chunks(reader, many)) == [document.id]
    assert list(documents_of(reader, list(first_chunks(reader, many).values()) * 40_000).values()) == [document.id]
    assert tags_of(reader, many) == {}
    assert len(reader.chunks(many)) <= 1
    state = State(tmp_path / "state.db")
    state.record_access("uid", 1.0)
    assert state.accesses(["uid", *map(str, many)]) == {"uid": 1}
    state.close()
