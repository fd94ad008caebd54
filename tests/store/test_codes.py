"""The codes of a large space: the same is found as by looking at every vector, whatever happens to their file."""

import numpy as np
import pytest

from tests.store.rows import document_row
from vault_index.models import Filters, VectorSpace
from vault_index.store import codes, spaces
from vault_index.store.codes import write_codes
from vault_index.store.documents import documents_of
from vault_index.store.reader import IndexReader
from vault_index.store.records import SpaceRow
from vault_index.store.spaces import add_space, codes_due, drop_space, pending_chunks, put_vectors, serving_space
from vault_index.store.ties import Candidates
from vault_index.store.writer import IndexWriter

SPACE = VectorSpace("openai", "toy", 128)
ROWS = 3_000
QUERY = (np.ones(128, "<f4") / np.sqrt(np.float32(128))).tobytes()
ALL = Filters()


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spaces, "LEAST_CODED", 1000)


@pytest.fixture
def coded(writer: IndexWriter) -> IndexWriter:
    """Documents a day apart, of thirty chunks each, with codes."""
    add_space(writer, SpaceRow(0, SPACE, True, False))
    for number in range(ROWS // 30):
        put(writer, f"{number}.md", [f"text {number} {place}" for place in range(30)], created=float(number))
    follow(writer)
    return writer


def put(writer: IndexWriter, path: str, texts: list[str], created: float = 0.0, nearer: float = 0.0) -> None:
    old = writer.known("vault").get(path)
    row = document_row(path, texts, created=created, tags=("odd",) if int(created) % 2 else ())
    writer.put_document(row, (), old and old.id, {1: {}})
    chunks = pending_chunks(writer, 1)
    random = np.random.default_rng(int.from_bytes(path.encode(), "little"))
    vectors = {}
    for chunk in chunks:
        numbers = random.standard_normal(128) + random.random() + nearer
        vectors[chunk.embed_key] = (numbers / np.linalg.norm(numbers)).astype("<f4").tobytes()
    put_vectors(writer, 1, vectors, chunks)


def follow(writer: IndexWriter) -> None:
    while codes_due(writer, least=1):
        assert write_codes(writer)


def files(writer: IndexWriter) -> list[str]:
    return [path.name for path in writer.path.parent.glob("*.codes-*")]


def find(
    reader: IndexReader, limit: int = 10, filters: Filters = ALL, *, required: str = "", excluded: str = ""
) -> Candidates:
    with reader.snapshot():
        return reader.vector_candidates(1, QUERY, limit, filters, required=required, excluded=excluded)


def exactly(
    reader: IndexReader, limit: int = 10, filters: Filters = ALL, *, required: str = "", excluded: str = ""
) -> Candidates:
    with reader.snapshot():
        where, values = reader._chunk_condition(filters, "rowid", required, excluded)
        return spaces.nearest(reader, 1, QUERY, limit, where, values)


def same(found: Candidates, wanted: Candidates) -> bool:
    return [id_ for id_, _ in found] == [id_ for id_, _ in wanted] and [score for _, score in found] == pytest.approx(
        [score for _, score in wanted], abs=1e-6
    )


FILTERS = {
    "none": Filters(),
    "one of a hundred": Filters(before=1.0),
    "a tenth": Filters(before=10.0),
    "half": Filters(tags=("odd",)),
    "nine tenths": Filters(after=10.0),
    "nothing": Filters(before=-1.0),
}


@pytest.mark.parametrize("name", FILTERS)
def test_codes_find_what_all_vectors_do(coded: IndexWriter, reader: IndexReader, name: str) -> None:
    reader.vectors_work()
    wanted = exactly(reader, filters=FILTERS[name])
    assert same(find(reader, filters=FILTERS[name]), wanted)
    assert bool(wanted) == (name != "nothing")


def test_broad_filters_are_asked_about_the_nearest(
    coded: IndexWriter, reader: IndexReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codes, "_FEW", 1)
    monkeypatch.setattr(codes, "_ASKED", 1)
    reader.vectors_work()
    for name in ("half", "nine tenths"):
        assert same(find(reader, filters=FILTERS[name]), exactly(reader, filters=FILTERS[name]))
    wanted = exactly(reader, required='"text"', excluded='"7"')
    assert same(find(reader, required='"text"', excluded='"7"'), wanted)


def test_conditions_on_words_hold(coded: IndexWriter, reader: IndexReader) -> None:
    reader.vectors_work()
    for required, excluded in (('"7"', ""), ("", '"7"'), ('"text"', '"7"')):
        wanted = exactly(reader, required=required, excluded=excluded)
        assert len(wanted) == 10
        assert same(find(reader, required=required, excluded=excluded), wanted)


def test_what_came_changed_or_went_since_is_known_at_once(coded: IndexWriter, reader: IndexReader) -> None:
    reader.vectors_work()
    before, there = find(reader), files(coded)
    put(coded, "new.md", ["nearest of all"], nearer=9.0)
    new = find(reader)
    assert new[1:] == before[:-1]
    assert new[0][1] > 0.9
    coded.remove_document(coded.known("vault")["new.md"].id)
    assert find(reader) == before
    coded.remove_document(documents_of(reader, [before[0][0]])[before[0][0]])
    put(coded, "other.md", ["takes its id"], nearer=-9.0)
    assert same(find(reader), exactly(reader))
    assert before[0][0] not in dict(find(reader))
    assert files(coded) == there
    follow(coded)
    assert len(files(coded)) == 1
    assert files(coded) != there
    assert same(find(reader), exactly(reader))
    assert not coded.execute("SELECT 1 FROM uncoded")


def test_large_parts_may_go(coded: IndexWriter, reader: IndexReader) -> None:
    reader.vectors_work()
    for id_ in {*documents_of(reader, [id_ for id_, _ in find(reader, 60)]).values()}:
        coded.remove_document(id_)
    assert same(find(reader), exactly(reader))
    follow(coded)
    assert same(find(reader), exactly(reader))
    for known in coded.known("vault").values():
        coded.remove_document(known.id)
    assert find(reader) == []
    follow(coded)
    assert find(reader) == []


def test_without_a_whole_file_vec0_answers_and_it_is_written_again(coded: IndexWriter, reader: IndexReader) -> None:
    reader.vectors_work()
    wanted = exactly(reader)
    for left in (None, b"torn"):
        (name,) = files(coded)
        path = coded.path.with_name(name)
        size = path.stat().st_size
        path.unlink()
        if left is not None:
            path.write_bytes(left)
        assert same(find(reader), wanted)  # it is mapped
        codes._opened.cache_clear()
        assert same(find(reader), wanted)
        put(coded, f"{name}.md", ["something"], nearer=-9.0)
        follow(coded)
        (again,) = files(coded)
        assert again != name
        assert coded.path.with_name(again).stat().st_size == size + 8 * 3
        assert coded.path.with_name(again).stat().st_mode & 0o777 == 0o600
        assert same(find(reader), wanted)


def test_a_file_that_was_not_named_in_time_goes(coded: IndexWriter, reader: IndexReader) -> None:
    (name,) = files(coded)
    coded.path.with_name(f"{coded.path.name}.codes-lost").write_bytes(b"")
    follow(coded)
    assert files(coded) == [name]


def test_a_disk_that_is_full_costs_speed_only(
    coded: IndexWriter, reader: IndexReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader.vectors_work()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    put(coded, "new.md", ["nearest of all"], nearer=9.0)
    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        assert codes_due(coded, least=1)
        assert not write_codes(coded)
    assert len(files(coded)) == 1
    assert same(find(reader), exactly(reader))


def test_a_space_that_goes_takes_its_codes_along(coded: IndexWriter) -> None:
    drop_space(coded, 1)
    assert not codes_due(coded)
    assert files(coded) == []
    assert serving_space(coded) is None


def test_small_spaces_have_none(writer: IndexWriter) -> None:
    add_space(writer, SpaceRow(0, SPACE, True, False))
    put(writer, "a.md", [f"text {place}" for place in range(100)])
    assert not codes_due(writer, least=1)
    assert not writer.execute("SELECT 1 FROM uncoded")
