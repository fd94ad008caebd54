"""Candidate selection when too many texts match to score them all."""

import math
from pathlib import Path

import pytest

from tests.api.vaults import indexed, paths_found
from vault_index.models import Filters
from vault_index.query.ranking import retrieval
from vault_index.query.ranking.retrieval import bounded_expressions
from vault_index.store.reader import IndexReader

NOTES = {
    f"{number:02}.md": " ".join(
        word for word, every in (("amber", 1), ("basil", 2), ("cedar", 3), ("delta", 13)) if number % every == 0
    )
    + f" {'reed ' * number}\n"
    for number in range(40)
}


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


def test_bounded_candidates_fall_back_to_all_matches_if_too_few(reader: IndexReader) -> None:
    bounded = ("(basil) AND (cedar) AND (amber)", "(cedar) AND (basil OR amber)")
    assert candidates(reader, 30, bounded, Filters()) == pytest.approx(candidates(reader, 30, None, Filters()))


def test_bounded_candidates_include_all_that_pass_a_narrow_filter(reader: IndexReader) -> None:
    filters = Filters(paths=("0*.md",))
    assert len(candidates(reader, 5, ("(cedar) AND (delta)",), filters)) == 5


def test_bounded_search_of_a_small_index_equals_the_full_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with indexed(tmp_path, NOTES) as index:
        for question in ("amber basil cedar", "delta amber", "ced* basil", "zzzz amber", "cedar -delta"):
            plain = paths_found(index, question, mode="text")
            with monkeypatch.context() as patch:
                patch.setattr(retrieval, "MOST_TEXTS", 0)
                assert paths_found(index, question, mode="text") == plain, question
