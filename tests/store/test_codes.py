"""Codes of a large space find the same as a scan of all vectors, whatever happens to their file."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from tests.store.rows import document_row
from vault_index.models import Filters, VectorSpace
from vault_index.store import codes, spaces
from vault_index.store.codes import write_codes
from vault_index.store.documents import documents_of
from vault_index.store.filters import Candidates
from vault_index.store.reader import IndexReader
from vault_index.store.records import SpaceRow
from vault_index.store.spaces import add_space, codes_due, drop_space, pending_chunks, put_vectors, serving_space
from vault_index.store.writer import IndexWriter

SPACE = VectorSpace("openai", "toy", 128)
DOCUMENTS, CHUNKS = 60, 30
QUERIES = [1 + 0.5 * np.random.default_rng(seed).standard_normal(128) for seed in range(3)]
"""Near the direction in which the vectors differ most, so that codes find all that is near."""
FILTERS = {
    "none": Filters(), "one document": Filters(before=1.0), "a tenth": Filters(before=6.0),
    "half": Filters(tags=("odd",)), "nine tenths": Filters(after=6.0), "nothing": Filters(before=-1.0),
}  # fmt: skip


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write codes from 500 vectors on, 600 at once, and ask filters about the nearest only."""
    monkeypatch.setattr(spaces, "LEAST_CODED", 500)
    monkeypatch.setattr(codes, "_MOST_AT_ONCE", 600)
    monkeypatch.setattr(codes, "_FEW", 1)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an index of documents a day apart; it has vectors, and no codes."""
    folder = tmp_path_factory.mktemp("codes")
    writer = IndexWriter(folder / "index.db")
    add_space(writer, SpaceRow(0, SPACE, True, False))
    for number in range(DOCUMENTS):
        put(writer, number)
    writer.close()
    return folder


@pytest.fixture
def filled(template: Path, tmp_path: Path) -> Path:
    return Path(copytree(template, tmp_path / "filled"))


@pytest.fixture
def coded(filled: Path) -> Iterator[IndexWriter]:
    writer = IndexWriter(filled / "index.db")
    follow(writer)
    yield writer
    writer.close()


@pytest.fixture
def reader(filled: Path) -> Iterator[IndexReader]:
    opened = IndexReader(filled / "index.db")
    assert opened.vectors_work
    yield opened
    opened.close()


def put(writer: IndexWriter, number: int, version: str = "", chunks: int = CHUNKS, nearer: float = 0.0) -> None:
    """Write document `number`, with vectors that its path determines."""
    path = f"{number}.md"
    old = writer.known("vault").get(path)
    texts = [f"text {number} {place}{version}" for place in range(chunks)]
    row = document_row(path, texts, created=float(number), tags=("odd",) if number % 2 else ())
    writer.put_document(row, (), old and old.id, {1: {}})
    pending = pending_chunks(writer, 1)
    random = np.random.default_rng(number)
    vectors = {}
    for chunk in pending:
        numbers = random.standard_normal(128) + random.random() + nearer
        vectors[chunk.embed_key] = (numbers / np.linalg.norm(numbers)).astype("<f4").tobytes()
    put_vectors(writer, 1, vectors, pending)


def follow(writer: IndexWriter) -> None:
    while codes_due(writer, least=1):
        assert write_codes(writer)


def files(writer: IndexWriter) -> list[str]:
    return [path.name for path in writer.path.parent.glob("*.codes-*")]


def packed(query: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> bytes:
    return (query / np.linalg.norm(query)).astype("<f4").tobytes()


QUERY = packed(np.ones(128))


def exactly(
    reader: IndexReader, query: bytes, limit: int, filters: Filters, required: str = "", excluded: str = ""
) -> Candidates:
    """The result of a scan of all vectors."""
    where, values = reader._chunk_condition(filters, "rowid", required, excluded)
    return spaces.nearest(reader, 1, query, limit, where, values)


def same(found: Candidates, wanted: Candidates) -> bool:
    scores = pytest.approx([score for _, score in wanted], abs=1e-6)
    return [id_ for id_, _ in found] == [id_ for id_, _ in wanted] and [score for _, score in found] == scores


def differing(reader: IndexReader, limit: int = 10) -> list[tuple[int, str]]:
    """The queries and filters for which codes and a scan of all vectors differ."""
    found = []
    with reader.snapshot():
        for (number, query), (name, filters) in product(enumerate(map(packed, QUERIES)), FILTERS.items()):
            wanted = exactly(reader, query, limit, filters)
            if not same(reader.vector_candidates(1, query, limit, filters), wanted):
                found.append((number, name))
    return found


def find(reader: IndexReader, limit: int = 10) -> Candidates:
    with reader.snapshot():
        return reader.vector_candidates(1, QUERY, limit, FILTERS["none"])


@pytest.mark.parametrize(("few", "asked"), [(1, codes._ASKED), (1, 1), (codes._FEW, codes._ASKED)])
def test_codes_find_the_same_as_all_vectors(
    coded: IndexWriter, reader: IndexReader, monkeypatch: pytest.MonkeyPatch, few: int, asked: int
) -> None:
    monkeypatch.setattr(codes, "_FEW", few)
    monkeypatch.setattr(codes, "_ASKED", asked)
    assert differing(reader) == []
    with reader.snapshot():
        for required, excluded in (('"7"', ""), ("", '"7"'), ('"text"', '"7"')):
            wanted = exactly(reader, QUERY, 10, Filters(), required, excluded)
            found = reader.vector_candidates(1, QUERY, 10, Filters(), required=required, excluded=excluded)
            assert len(wanted) == 10
            assert same(found, wanted)


def test_codes_follow_each_change_at_once(coded: IndexWriter, reader: IndexReader) -> None:
    before, there = find(reader), files(coded)
    put(coded, 100, chunks=1, nearer=9.0)
    new = find(reader)
    assert new[1:] == before[:-1]
    assert new[0][1] > 0.9
    coded.remove_document(coded.known("vault")["100.md"].id)
    assert find(reader) == before
    coded.remove_document(documents_of(reader, [before[0][0]])[before[0][0]])
    put(coded, 101, chunks=1, nearer=-9.0)  # reuses its id
    assert before[0][0] not in dict(find(reader))
    assert differing(reader) == []
    assert files(coded) == there
    follow(coded)
    assert len(files(coded)) == 1
    assert files(coded) != there
    assert differing(reader) == []
    assert not coded.execute("SELECT 1 FROM uncoded")


def test_codes_that_are_outdated_hide_no_vector(coded: IndexWriter, reader: IndexReader) -> None:
    for number in range(DOCUMENTS - 4):
        put(coded, number, " nearer", nearer=9.0)
    follow(coded)
    for number in range(DOCUMENTS - 4):
        coded.remove_document(coded.known("vault")[f"{number}.md"].id)
    query = np.ones(128)
    for place in range(20):
        query[place] *= -1
        with reader.snapshot():
            wanted = exactly(reader, packed(query), 10, Filters())
            assert same(reader.vector_candidates(1, packed(query), 10, Filters()), wanted)


def test_codes_of_a_dropped_space_are_removed(coded: IndexWriter) -> None:
    drop_space(coded, 1)
    assert not codes_due(coded)
    assert files(coded) == []
    assert serving_space(coded) is None
