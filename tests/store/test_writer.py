from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from tests.store.rows import SPACE, document_row, vector
from vault_index.models import Filters
from vault_index.store.connection import count_rows
from vault_index.store.documents import tag_counts
from vault_index.store.reader import IndexReader
from vault_index.store.records import SpaceRow
from vault_index.store.spaces import (
    add_space,
    count_pending,
    pending_chunks,
    put_vectors,
    read_spaces,
    serve_space,
    serving_space,
)
from vault_index.store.writer import IndexWriter

ALL = Filters()


def found(reader: IndexReader, match: str, filters: Filters = ALL) -> list[str]:
    ids = [chunk_id for chunk_id, _ in reader.text_candidates(match, 10, filters)]
    records = reader.chunks(ids)
    return [records[chunk_id].text for chunk_id in ids]


def check_integrity(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "index.db"))
    connection.execute("INSERT INTO chunk_fts (chunk_fts) VALUES ('integrity-check')")
    chunks = connection.execute("SELECT id FROM chunk ORDER BY id").fetchall()
    assert connection.execute("SELECT rowid FROM chunk_fts ORDER BY rowid").fetchall() == chunks
    connection.close()


def only_id(writer: IndexWriter, path: str) -> int:
    return writer.known("vault")[path].id


def test_put_document_makes_new_text_searchable_and_removes_old_text(
    writer: IndexWriter, reader: IndexReader, tmp_path: Path
) -> None:
    writer.put_document(document_row("a.md", ["running water", "cold coffee"]), (), None, {})
    assert found(reader, '"run"') == ["running water"]
    writer.put_document(document_row("a.md", ["cold coffee", "hot tea"]), (), only_id(writer, "a.md"), {})
    assert found(reader, '"run"') == []
    assert found(reader, '"tea" OR "coffee"') == ["cold coffee", "hot tea"]
    check_integrity(tmp_path)


def test_put_document_keeps_rows_of_unchanged_chunks(writer: IndexWriter, reader: IndexReader, tmp_path: Path) -> None:
    space = add_space(writer, SpaceRow(0, SPACE, True, False))
    writer.put_document(document_row("a.md", ["one", "two"]), (), None, {space.id: {}})
    pending = pending_chunks(writer, space.id, 0, 10)
    known = {chunk.embed_key: vector(1, number, 0, 0) for number, chunk in enumerate(pending)}
    assert put_vectors(writer, space.id, known, pending) == 2
    # A line above, another title, another path: the same embedded texts.
    row = replace(document_row("b.md", ["new", "one", "two"]), title="Other")
    writer.put_document(row, (), only_id(writer, "a.md"), {space.id: {}})
    assert [chunk.embed_text for chunk in pending_chunks(writer, space.id, 0, 10)] == ["T\nnew"]
    assert reader.vectors_work
    nearest = reader.vector_candidates(space.id, vector(1, 0, 0, 0), 10, ALL)
    assert [reader.chunks([id_])[id_].text for id_, _ in nearest] == ["one", "two"]
    assert nearest[0][1] == pytest.approx(1.0, abs=1e-6)
    check_integrity(tmp_path)


def test_put_document_keeps_all_equal_chunks(writer: IndexWriter, reader: IndexReader, tmp_path: Path) -> None:
    writer.put_document(document_row("a.md", ["same", "same", "same"]), (), None, {})
    writer.put_document(document_row("a.md", ["same", "same"]), (), only_id(writer, "a.md"), {})
    assert found(reader, '"same"') == ["same", "same"]
    check_integrity(tmp_path)


def test_remove_document_removes_all_its_rows(writer: IndexWriter, reader: IndexReader, tmp_path: Path) -> None:
    space = add_space(writer, SpaceRow(0, SPACE, True, False))
    writer.put_document(document_row("a.md", ["one", "two"], tags=["x"]), (), None, {space.id: {}})
    writer.put_document(document_row("a.md", ["two", "three"]), (), only_id(writer, "a.md"), {space.id: {}})
    assert writer.value("SELECT count(*) FROM text_block") == 1
    writer.remove_document(only_id(writer, "a.md"))
    assert writer.value("SELECT count(*) FROM text_block") == 0
    assert count_rows(reader, "document") == count_rows(reader, "chunk") == len(tag_counts(reader, Filters())) == 0
    assert count_pending(writer, space.id) == 0
    check_integrity(tmp_path)


def test_put_document_keeps_old_rows_after_a_failed_write(writer: IndexWriter, reader: IndexReader) -> None:
    writer.put_document(document_row("a.md", ["old text"]), (), None, {})
    broken = replace(document_row("a.md", ["new text"]), frontmatter={"x": object()})
    with pytest.raises(TypeError):
        writer.put_document(broken, (), only_id(writer, "a.md"), {})
    assert found(reader, '"text"') == ["old text"]


def test_put_vectors_skips_changed_chunks(writer: IndexWriter) -> None:
    space = add_space(writer, SpaceRow(0, SPACE, True, False))
    writer.put_document(document_row("a.md", ["one"]), (), None, {space.id: {}})
    pending = pending_chunks(writer, space.id, 0, 10)
    writer.put_document(document_row("a.md", ["two"]), (), only_id(writer, "a.md"), {space.id: {}})
    assert put_vectors(writer, space.id, {pending[0].embed_key: vector(1, 0, 0, 0)}, pending) == 0
    assert count_pending(writer, space.id) == 1


def test_vector_space_is_built_while_another_serves(writer: IndexWriter, reader: IndexReader) -> None:
    old = add_space(writer, SpaceRow(0, SPACE, True, False))
    writer.put_document(document_row("a.md", ["one"]), (), None, {old.id: {}})
    chunks = pending_chunks(writer, old.id, 0, 10)
    put_vectors(writer, old.id, {chunks[0].embed_key: vector(1, 0, 0, 0)}, chunks)
    new = add_space(writer, SpaceRow(0, SPACE._replace(model="other"), False, False))
    serving = serving_space(reader)
    assert serving is not None
    assert serving.space == SPACE
    assert count_pending(writer, new.id) == 1
    put_vectors(writer, new.id, {chunks[0].embed_key: vector(0, 1, 0, 0)}, pending_chunks(writer, new.id, 0, 10))
    serve_space(writer, new.id)
    assert [row.space.model for row in read_spaces(reader)] == ["other"]
    assert reader.vectors_work
    assert reader.vector_candidates(new.id, vector(0, 1, 0, 0), 5, ALL)[0][1] == pytest.approx(1.0, abs=1e-6)


def test_snapshot_shows_a_reader_one_state(writer: IndexWriter, reader: IndexReader) -> None:
    writer.put_document(document_row("a.md", ["one"]), (), None, {})
    with reader.snapshot():
        assert count_rows(reader, "document") == 1
        writer.put_document(document_row("b.md", ["two"]), (), None, {})
        assert count_rows(reader, "document") == 1
    assert count_rows(reader, "document") == 2
