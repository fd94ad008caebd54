"""Texts are packed with their neighbours, and come back as they were."""

from tests.store.rows import document_row
from vault_index.models import Filters
from vault_index.store.connection import Database
from vault_index.store.documents import chunks_of
from vault_index.store.reader import IndexReader
from vault_index.store.writer import IndexWriter


def blocks(db: Database) -> list[tuple[int, int]]:
    """How many chunks each block holds, and how many bytes of text."""
    return db.execute("SELECT count(*), sum(bytes) FROM chunk GROUP BY block_id ORDER BY min(ordinal)")


def test_a_document_is_cut_where_a_block_is_full(writer: IndexWriter, reader: IndexReader) -> None:
    texts = [f"{n} {'ä' * 1000}" for n in range(12)]
    writer.put_document(document_row("a.md", texts), (), None, {})
    assert blocks(writer) == [(5, 10_010), (4, 8_008), (3, 6_008)]
    (document_id,) = (row.id for row in writer.known("vault").values())
    assert [chunk.text for chunk in chunks_of(reader, document_id)] == texts


def test_a_text_that_is_larger_than_a_block_has_one_of_its_own(writer: IndexWriter, reader: IndexReader) -> None:
    texts = ["short", "long " * 10_000, "short again", ""]
    writer.put_document(document_row("a.md", texts), (), None, {})
    assert [chunks for chunks, _ in blocks(writer)] == [2, 2]
    (document_id,) = (row.id for row in writer.known("vault").values())
    assert [chunk.text for chunk in chunks_of(reader, document_id)] == texts


def test_blocks_go_with_their_document(writer: IndexWriter) -> None:
    writer.put_document(document_row("a.md", ["one", "two"]), (), None, {})
    document_id = writer.known("vault")["a.md"].id
    writer.put_document(document_row("a.md", ["two", "three"]), (), document_id, {})
    assert writer.value("SELECT count(*) FROM text_block") == 1
    writer.remove_document(document_id)
    assert writer.value("SELECT count(*) FROM text_block") == 0


def test_chunks_that_say_the_same_are_found_by_their_texts(writer: IndexWriter, reader: IndexReader) -> None:
    writer.put_document(document_row("a.md", ["same", "else"]), (), None, {})
    writer.put_document(document_row("b.md", ["what is as long", "same"]), (), None, {})
    ids = [chunk_id for chunk_id, _ in reader.text_candidates('"same" OR "else" OR "long"', 10, Filters())]
    assert len(ids) == 4
    assert sorted(chunk.document.path for chunk in reader.same_texts(ids, {"same"})) == ["a.md", "b.md"]


def test_free_pages_are_given_back(writer: IndexWriter) -> None:
    writer.execute("INSERT INTO text_block (body) VALUES (zeroblob(3000000))")
    pages = writer.value("PRAGMA page_count")
    writer.give_back()
    assert writer.value("PRAGMA page_count") == pages
    writer.execute("DELETE FROM text_block")
    assert writer.value("PRAGMA page_count") == pages
    writer.give_back()
    assert writer.value("PRAGMA page_count") < pages / 2
