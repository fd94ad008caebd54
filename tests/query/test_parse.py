import contextlib
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_index.errors import UsageError
from vault_index.query.parse import match_expression, parse_query, parse_time


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("wal mode", '"wal" OR "mode"'),
        ('"wal mode" sqlite', '"sqlite" OR "wal mode"'),
        ("what is the wal", '"wal"'),
        ("to be or not to be", '"to" OR "be" OR "or" OR "not" OR "to" OR "be"'),
        ("foo-bar c++ don't", '"foo-bar" OR "c++" OR "don\'t"'),
        ('sqlite -"slow disk" -java', '("sqlite") NOT ("slow disk" OR "java")'),
        ('an "unbalanced quote', '"""unbalanced" OR "quote"'),
        ("* ... ?!", ""),
        ("", ""),
        ("tag:x", ""),
        ("useEffect", '("useEffect" OR "use Effect")'),
        ("全文検索", '("全文" OR "文検" OR "検索")'),
        ('"全文検索"', '" 全文 文検 検索 "'),
        ("索", '"索"*'),
    ],
)
def test_words_become_a_quoted_expression(text: str, expression: str) -> None:
    assert match_expression(parse_query(text), every=False) == expression


def test_match_all_joins_by_and() -> None:
    assert match_expression(parse_query("wal mode"), every=True) == '"wal" AND "mode"'


def test_filters_are_taken_out_of_the_text() -> None:
    query = parse_query('coffee tag:#Food/Drinks kind:notes path:"my folder" type:Decision source:vault')
    assert query.text == "coffee"
    assert query.filters.tags == ("food/drinks",)
    assert query.filters.kinds == ("note",)
    assert query.filters.paths == ("my folder",)
    assert query.filters.types == ("decision",)
    assert query.filters.sources == ("vault",)


def test_an_unknown_key_is_a_word() -> None:
    assert parse_query("std::vector http://x.org 12:30").words == ("std::vector", "http://x.org", "12:30")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026", datetime(2026, 1, 1)),
        ("2026-11", datetime(2026, 11, 1)),
        ("2026-11-21", datetime(2026, 11, 21)),
        ("2026-11-21T14:30", datetime(2026, 11, 21, 14, 30)),
        ("2026-11-21t14:30:00z", datetime.fromisoformat("2026-11-21T14:30:00+00:00")),
        ("today", datetime(2026, 11, 21)),
        ("yesterday", datetime(2026, 11, 20)),
    ],
)
def test_times(text: str, expected: datetime) -> None:
    assert parse_time(text, now=datetime(2026, 11, 21, 9, 14)) == expected.timestamp()


@pytest.mark.parametrize("text", ["after:soon", "before:2026-13-01", "kind:book"])
def test_a_filter_that_cannot_be_read_says_how_to_write_it(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_query(text)
    assert caught.value.hint


@given(st.text(max_size=80))
def test_any_text_is_read(text: str) -> None:
    with contextlib.suppress(UsageError):  # a date or a kind that cannot be read
        assert match_expression(parse_query(text), every=False).count('"') % 2 == 0
