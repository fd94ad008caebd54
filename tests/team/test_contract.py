"""What a search asks of a reader: the same answers from SQLite and from PostgreSQL."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.store import test_filters
from tests.store.rows import document_row
from tests.store.test_filters import ROWS
from tests.tables import filters_of, tables
from vault_index.models import Filters
from vault_index.query.reader import Reader
from vault_index.store.document_names import refresh_names
from vault_index.store.documents import Order, documents_by_key, documents_page, hidden_chunks, tag_counts, value_counts
from vault_index.store.reader import IndexReader
from vault_index.store.vocabulary import count_words
from vault_index.store.writer import DocumentRow, IndexWriter
from vault_index.team.connections import PoolConnections
from vault_index.team.database import connect
from vault_index.team.rows import put_documents
from vault_index.terms import index_text


def text_row(path: str, *texts: str, title: str, **fields: Any) -> DocumentRow:
    row = document_row(path, texts, title=title)
    chunks = (chunk._replace(terms=(*chunk.terms[:6], index_text(chunk.text))) for chunk in row.chunks)
    return replace(row, chunks=tuple(chunks), **fields)


TEXTS = (
    text_row("heron.md", "The grey heron waits at the pond.", "A heron, a heron and data-center.", title="Heron"),
    text_row("otter.md", "The otter swims; useEffect runs.", "全文検索の仕組み", title="Otter"),
    text_row("pond.md", "A pond with fish and a heron.", "Ponds freeze.", title="Pond life", aliases=("lake",)),
    text_row("project.md", "text", title="T", project="[[Big Things]]"),
)
ALL_ROWS: tuple[DocumentRow, ...] = (*ROWS, *(replace(row, path=f"texts/{row.path}") for row in TEXTS))


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def reader(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    if request.param == "sqlite":
        yield from sqlite_reader(tmp_path_factory.mktemp("contract"))
    else:
        yield from pool_reader(request.getfixturevalue("module_pool_dsn"), tmp_path_factory.mktemp("state"))


def sqlite_reader(folder: Path) -> Iterator[Reader]:
    writer = IndexWriter(folder / "index.db")
    for row in ALL_ROWS:
        writer.put_document(row, (), None, {})
    count_words(writer)
    refresh_names(writer)
    writer.close()
    reader = IndexReader(folder / "index.db")
    yield reader
    reader.close()


def pool_reader(dsn: str, folder: Path) -> Iterator[Reader]:
    with connect(dsn) as pool, pool.transaction():
        pool.execute("INSERT INTO source (name) VALUES (%s)", (ALL_ROWS[0].source,))
        put_documents(pool, [(row, b"1") for row in ALL_ROWS], 20.0)
    connections = PoolConnections(dsn, folder / "state.db")
    with connections.lend(None) as lent:
        yield lent.reader
    connections.close()


def paths(reader: Reader, filters: Filters) -> set[str]:
    documents, total = documents_page(reader, filters, Order("path", False), -1, 0)
    assert total == len(documents)
    return {document.path for document in documents} & {row.path for row in ROWS}


def texts(reader: Reader, chunk_ids: list[int]) -> list[str]:
    found = reader.chunks(chunk_ids)
    return [found[id_].text for id_ in chunk_ids]


FILTERS = tables(test_filters.__file__)


@pytest.mark.parametrize(("fields", "expected"), FILTERS["filters_select_documents"])
def test_filters_select_documents(reader: Reader, fields: dict[str, Any], expected: list[str]) -> None:
    filters = filters_of(fields)
    assert paths(reader, filters) == {*expected}
    assert paths(reader, Filters(without=(filters,))) == {row.path for row in ROWS} - {*expected}


@pytest.mark.parametrize("project", ["big things", "Big_Things", "#project/big-things"])
def test_filters_compare_projects_by_their_form(reader: Reader, project: str) -> None:
    assert documents_page(reader, Filters(projects=(project,)), Order())[1] == 1


@pytest.mark.parametrize("value", ["a'b", "[x", "*^", "a^b*", "$.x", "50%_", "\\d", "?" * 3, "{a}", "(a|b)*"])
def test_filters_treat_any_text_as_a_value(reader: Reader, value: str) -> None:
    filters = Filters(titles=(value,), properties=((value, value),), paths=(value,), sessions=(value,))
    assert documents_page(reader, filters, Order()) == ([], 0)


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ('"heron"', {0, 1, 4}),
        ('"grey heron"', {0}),
        ('"heron grey"', set()),
        ('"swim"', {2}),
        ('"wait" OR "fish"', {0, 4}),
        ('"pond" AND ("fish" OR "freeze")', {4, 5}),
        ('"pond" NOT "fish"', {0, 5}),
        ('"fro"*', set()),
        ('"fre"*', {5}),
        ('"data center"', {1}),
        ('"effect"', {2}),
        ('"全文"', {3}),
        ('"文検" AND "検索"', {3}),
        ('"waiting"', {0}),
        ('"\'"', set()),
        ('"\\"', set()),
    ],
)
def test_text_candidates_match_expressions(reader: Reader, match: str, expected: set[int]) -> None:
    every = [text for row in TEXTS for text in (chunk.text for chunk in row.chunks)]
    found = reader.text_candidates(match, 20, Filters())
    assert {*texts(reader, [id_ for id_, _ in found])} == {every[number] for number in expected}
    assert {id_ for id_, _ in reader.bm25(match, [id_ for id_, _ in found])} == {id_ for id_, _ in found}
    assert reader.count_matches(match) == len(expected)


def test_text_candidates_rank_by_bm25_and_meet_conditions(reader: Reader) -> None:
    found = reader.text_candidates('"heron" OR "pond"', 20, Filters())
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert texts(reader, [found[0][0]])[0] in (TEXTS[0].chunks[0].text, TEXTS[2].chunks[0].text)
    limited = reader.text_candidates('"heron"', 20, Filters(paths=("texts/pond.md",)), excluded='"freeze"')
    assert texts(reader, [id_ for id_, _ in limited]) == ["A pond with fish and a heron."]
    assert len(reader.text_candidates('"heron"', 2, Filters(), required='"pond"')) == 2


def test_name_candidates_find_titles_and_aliases(reader: Reader) -> None:
    named = {row.path for match in ('"heron"', '"lake"') for row in documents_named(reader, match)}
    assert named == {"texts/heron.md", "texts/pond.md"}


def documents_named(reader: Reader, match: str) -> list[Any]:
    found = [id_ for id_, _ in reader.name_candidates(match, 10, Filters())]
    return [*documents_by_key(reader, found).values()]


def test_vocabulary_counts_words(reader: Reader) -> None:
    words = reader.vocabulary()
    found = words.frequencies(["heron", "herons", "unheard", "全文"])
    assert found["heron"] == found["herons"] >= 3
    assert (found["unheard"], "全文" in found) == (0, False)
    assert words.look_up(["heron", "unheard"]).keys() == {"heron"}
    assert [word for word, _ in words.beginning_with("fre", 5)] == ["freeze"]
    assert "otter" in {word for length in words.of_lengths(5, 5) for word in length}
    assert words.completions("swi", "swi", 5) == ["swims"]
    assert words.count_beginning("heron") >= 3
    assert reader.stems(["ponds", "a b"]) == {"ponds": "pond"}


def test_counts_and_lists(reader: Reader) -> None:
    assert reader.count("document") == len(ALL_ROWS)
    assert reader.count("chunk") == sum(len(row.chunks) for row in ALL_ROWS)
    assert dict(value_counts(reader, "kind"))["session"] == 1
    assert dict(tag_counts(reader, Filters()))["x"] == 1
    hidden = hidden_chunks(reader, 200.0)
    assert {chunk.document.path for chunk in reader.chunks([*hidden]).values()} == {
        "80-memory/a.md", "80-memory/c.md", "80-memory/inbox/waiting/w.md",
    }  # fmt: skip


def test_newest_chunks_and_texts(reader: Reader) -> None:
    newest = reader.newest_chunks(Filters(paths=("texts",)), 10, excluded='"otter"')
    assert len(newest) == 3
    whole = documents_page(reader, Filters(paths=("texts/heron.md",)), Order())[0][0]
    chunks = reader.chunks_of(whole.id)
    assert [chunk.text for chunk in chunks] == [chunk.text for chunk in TEXTS[0].chunks]
    assert len(reader.chunks_of(whole.id, first=1, limit=1)) == 1
    assert reader.same_texts([chunk.chunk_id for chunk in chunks], {chunks[0].text}) == chunks[:1]
