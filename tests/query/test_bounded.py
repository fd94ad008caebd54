"""Candidate selection when too many texts match to score them all."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.vaults import indexed, paths_found
from tests.query.readers import query_terms, reader_of
from vault_index.models import Filters
from vault_index.query.language.parse import parse_query
from vault_index.query.ranking import retrieval
from vault_index.query.ranking.retrieval import (
    bounded_expressions,
    rarity,
    terms_meant,
    with_completions,
)
from vault_index.store import reader as store_reader
from vault_index.store.reader import IndexReader

FILES = {
    f"{number:02}.md": " ".join(
        word for word, every in (("amber", 1), ("basil", 2), ("cedar", 3), ("delta", 13)) if number % every == 0
    )
    + f" {'reed ' * number}\n"
    for number in range(40)
}


BEGINNINGS = {
    **{f"into {number:02}.md": "what goes into the insect\n" for number in range(9)},
    **{f"often {number}.md": "how to install and to insulate\n" for number in range(3)},
    "once.md": "instead of inspiration installed\n",
}


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexReader]:
    with reader_of(tmp_path_factory.mktemp("bounded"), FILES) as opened:
        yield opened


def rarities(reader: IndexReader, question: str) -> dict[str, int]:
    parsed = parse_query(question)
    return rarity(reader, terms_meant(parsed.terms, {}), query_terms(reader, question))


def test_phrase_of_common_words_may_count_as_rare(reader: IndexReader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval, "_COUNTED", 5)
    # Two of the newest five texts hold the first phrase and none the second, which reverses the words.
    assert rarities(reader, "amber-basil cedar-basil") == {'"cedar-basil"': 1, '"amber-basil"': 17}
    monkeypatch.setattr(retrieval, "_SAMPLE", 1)  # cedar follows basil in all texts
    assert rarities(reader, "basil-cedar delta-reed delta-ree*") == {
        '"delta-ree"*': 4,
        '"delta-reed"': 4,
        '"basil-cedar"': 8,
    }
    monkeypatch.setattr(retrieval, "MOST_SCORED_BY", 10)  # a prefix in more texts is not counted
    assert rarities(reader, "basil-ceda*") == {'"basil-ceda"*': 14}


def test_prefix_of_too_many_words_uses_the_most_common_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval, "MOST_TEXTS", 5)
    monkeypatch.setattr(retrieval, "_MOST_COMPLETIONS", 3)
    with reader_of(tmp_path, BEGINNINGS) as opened:
        terms = with_completions(opened, parse_query("ins* install insp*").terms)
        # The prefix may itself be a word; the stem of `ins` is `in`, which is no word here.
        assert [term.words for term in terms] == [("ins", "insect", "install"), (), ()]
        assert with_completions(opened, parse_query("th*").terms)[0].words == ("th",)  # the rest are stopwords


@pytest.mark.parametrize(
    ("texts", "expressions"),
    [
        ({"a": 5_000, "b": 10_000}, None),
        ({"a": 500_000}, []),
        ({"a": 20, "b": 500_000}, ["(a)", "(a) AND (b)"]),
        # With either of two others, the rarest word would find half of its texts.
        ({"a": 60_000, "b": 300_000, "c": 400_000}, ["(a) AND (b) AND (c)"]),
        ({"a": 30_000, "b": 200_000, "c": 300_000}, ["(a) AND (b OR c)"]),
        # Rare words search alone, whatever the others are; common ones only together.
        (
            {"a": 10, "b": 20, "c": 40_000, "d": 300_000},
            ["(a OR b)", "(a OR b) AND (c OR d)", "(c) AND (d)"],
        ),
        # More than two million positions are not read: a word in nearly every text is not informative. Groups of many
        # words have at least two.
        (
            dict.fromkeys("abcdefg", 60_000),
            ["(a OR d OR g) AND (b OR e) AND (c OR f)"],
        ),
    ],
)
def test_bounded_expressions_require_several_words(texts: dict[str, int], expressions: object) -> None:
    found = bounded_expressions(texts, 1_000_000)
    assert (None if found is None else [expression for expression, _ in found]) == expressions


def candidates(
    reader: IndexReader, limit: int, bounded: tuple[str, ...] | None, filters: Filters, ceiling: float = math.inf
) -> dict[int, float]:
    asked = None if bounded is None else [(expression, ceiling) for expression in bounded]
    return dict(reader.text_candidates("amber OR basil OR cedar", limit, filters, bounded=asked))


def test_bounded_candidates_have_their_full_score(reader: IndexReader) -> None:
    every = candidates(reader, 40, None, Filters())
    found = candidates(reader, 6, ("(basil) AND (cedar OR amber)", "(cedar) AND (basil OR amber)"), Filters())
    assert len(every) == 40
    assert len(found) == 6
    assert found == pytest.approx({chunk_id: every[chunk_id] for chunk_id in found})
    assert found.keys() == {*list(every)[:6]}


def test_bounded_candidates_fall_back_to_all_matches_if_too_few(reader: IndexReader) -> None:
    bounded = ("(basil) AND (cedar) AND (amber)", "(cedar) AND (basil OR amber)")
    assert candidates(reader, 30, bounded, Filters()) == pytest.approx(candidates(reader, 30, None, Filters()))


def test_bounded_candidates_of_a_frequent_word_are_the_newest(
    reader: IndexReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_reader, "_MOST_SCORED", 10)
    ids = sorted(candidates(reader, 40, None, Filters()))
    assert candidates(reader, 5, (), Filters()).keys() <= {*ids[-10:]}


def test_bounded_candidates_include_all_that_pass_a_narrow_filter(reader: IndexReader) -> None:
    filters = Filters(paths=("0*.md",))
    assert len(candidates(reader, 5, ("(cedar) AND (delta)",), filters)) == 5


def test_bounded_search_of_a_small_index_equals_the_full_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with indexed(tmp_path, FILES) as index:
        for question in ("amber basil cedar", "delta amber", "ced* basil", "zzzz amber", "cedar -delta"):
            plain = paths_found(index, question, mode="text")
            with monkeypatch.context() as patch:
                patch.setattr(retrieval, "MOST_TEXTS", 0)
                assert paths_found(index, question, mode="text") == plain, question
