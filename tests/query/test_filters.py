"""Filters in a query: values, combination, and errors."""

from typing import Any

import pytest

from tests.tables import filters_of, tables
from vault_index.errors import UsageError
from vault_index.fields import Filters
from vault_index.query.language.filters import add_filter
from vault_index.query.language.parse import parse_query

CASES = tables(__file__)


@pytest.mark.parametrize(("text", "fields"), CASES["parse_query_takes_filters_out_of_the_words"])
def test_parse_query_takes_filters_out_of_the_words(text: str, fields: dict[str, Any]) -> None:
    query, filters = parse_query(text), filters_of(fields)
    assert query.filters == filters
    assert query.required == query.excluded == ""
    assert parse_query(f"bread {text}").filters == filters


def test_parse_query_keeps_the_words_next_to_filters() -> None:
    query = parse_query('bread tag:food OR tag:drinks "rye flour" -wheat')
    assert query.text == "bread rye flour"
    assert (query.required, query.excluded) == ('"rye flour"', '"wheat"')
    assert parse_query("kind:note AND how to bake").required == ""
    assert parse_query("NOT (tag:a OR wheat) bread").excluded == '"wheat"'


def test_parse_query_adds_filters_to_those_of_the_options() -> None:
    given = Filters(tags=("a",), sources=("vault",))
    assert parse_query("bread tag:b", given).filters == Filters(tags=("a", "b"), sources=("vault",))


@pytest.mark.parametrize(
    ("text", "place", "message", "hint"), CASES["parse_query_locates_an_invalid_filter_with_a_hint"]
)
def test_parse_query_locates_an_invalid_filter_with_a_hint(text: str, place: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_query(text)
    assert place in caught.value.message
    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize(("key", "value"), [("property", ":x"), ("is", "new"), ("anytag", "#"), ("after", "soon")])
def test_add_filter_refuses_an_invalid_option_with_a_hint(key: str, value: str) -> None:
    with pytest.raises(UsageError) as caught:
        add_filter(Filters(), key, value)
    assert caught.value.hint
