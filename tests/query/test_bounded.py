"""Where too many texts match to score them all: what finds the best of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.query.readers import query_terms, reader_of
from vault_index.models import Filters
from vault_index.query.language.parse import parse_query
from vault_index.query.ranking import retrieval
from vault_index.query.ranking.retrieval import bounded_expressions, rarity, scoring_expression, terms_meant
from vault_index.store import reader as store_reader
from vault_index.store.reader import IndexReader

FILES = {
    f"{number:02}.md": " ".join(
        word for word, every in (("amber", 1), ("basil", 2), ("cedar", 3), ("delta", 13)) if number % every == 0
    )
    + f" {'reed ' * number}\n"
    for number in range(40)
}


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexReader]:
    with reader_of(tmp_path_factory.mktemp("bounded"), FILES) as opened:
        yield opened


def held(reader: IndexReader, question: str) -> dict[str, int]:
    parsed = parse_query(question)
    return rarity(reader, terms_meant(parsed.terms, {}), query_terms(reader, question))


def test_words_are_ordered_by_how_many_texts_hold_them(reader: IndexReader) -> None:
    assert held(reader, "amber zzzz delta Basil") == {'"delta"': 4, '"Basil"': 20, '"amber"': 40}
    assert held(reader, "delt* cedars") == {'"delt"*': 4, '"cedars"': 14}
    assert held(reader, "the") == {}


@pytest.mark.parametrize(
    ("texts", "expressions"),
    [
        ({"a": 5_000, "b": 10_000}, None),
        ({"a": 500_000}, ()),
        ({"a": 200_000, "b": 300_000}, ("(a) AND (b)",)),
        # All four would stand together in too few texts, in three groups as well.
        ({"a": 60_000, "b": 70_000, "c": 80_000, "d": 90_000}, ("(a OR c) AND (b OR d)",)),
        # Two rare words find by themselves, with whatever stands beside them.
        (
            {"a": 10, "b": 20, "c": 200_000, "d": 300_000},
            ("(a OR c) AND (b OR d)", "(a OR b) AND (c OR d)", "(a OR b)"),
        ),
        ({"a": 10, "b": 15_000, "c": 16_000}, ()),
        # More than two million places are not read: what nearly every text holds tells nothing.
        ({"a": 600_000, "b": 700_000, "c": 800_000}, ("(a) AND (b)",)),
    ],
)
def test_the_best_of_many_texts_hold_several_words(texts: dict[str, int], expressions: object) -> None:
    assert bounded_expressions(texts, 1_000_000) == expressions


def test_what_few_words_found_is_scored_by_all_but_the_commonest() -> None:
    assert scoring_expression({"a": 10, "b": 20_000}) == ""
    assert scoring_expression({"a": 10, "b": 20_000, "c": 300_000}) == "(a OR b)"
    assert scoring_expression({"a": 300_000}) == "(a)"


def candidates(reader: IndexReader, limit: int, bounded: tuple[str, ...] | None, filters: Filters) -> dict[int, float]:
    return dict(reader.text_candidates("amber OR basil OR cedar", limit, filters, bounded=bounded))


def test_what_is_found_so_has_its_whole_score(reader: IndexReader) -> None:
    every = candidates(reader, 40, None, Filters())
    found = candidates(reader, 6, ("(basil) AND (cedar OR amber)", "(cedar) AND (basil OR amber)"), Filters())
    assert len(every) == 40
    assert len(found) == 6
    assert found == pytest.approx({chunk_id: every[chunk_id] for chunk_id in found})
    assert found.keys() == {*list(every)[:6]}


def test_where_too_few_are_found_all_that_match_are_looked_at(reader: IndexReader) -> None:
    bounded = ("(basil) AND (cedar) AND (amber)", "(cedar) AND (basil OR amber)")
    assert candidates(reader, 30, bounded, Filters()) == pytest.approx(candidates(reader, 30, None, Filters()))


def test_of_a_word_in_too_many_texts_the_newest_are_scored(
    reader: IndexReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_reader, "_MOST_SCORED", 10)
    ids = sorted(candidates(reader, 40, None, Filters()))
    assert candidates(reader, 5, (), Filters()).keys() <= {*ids[-10:]}


def test_all_that_a_narrow_filter_lets_through_are_looked_at(reader: IndexReader) -> None:
    filters = Filters(paths=("0*.md",))
    assert len(candidates(reader, 5, ("(cedar) AND (delta)",), filters)) == 5


@pytest.mark.parametrize("question", ["amber basil cedar", "delta amber", "ced* basil", "zzzz amber", "cedar -delta"])
def test_a_small_index_is_answered_alike_both_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    from tests.api.vaults import opened, write

    with opened(tmp_path) as index:
        write(tmp_path / "vault", FILES)
        index.sync()
        plain = index.search(question, mode="text").results
        monkeypatch.setattr(retrieval, "MOST_TEXTS", 0)
        monkeypatch.setattr(retrieval, "ENOUGH_TEXTS", 1)
        assert [hit.path for hit in index.search(question, mode="text").results] == [hit.path for hit in plain]
