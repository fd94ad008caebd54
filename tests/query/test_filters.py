"""Filters in a query: values, combination, and errors."""

from datetime import datetime

import pytest

from tests.tables import tables
from vault_index.errors import UsageError
from vault_index.fields import Filters
from vault_index.query.language.filters import add_filter
from vault_index.query.language.parse import parse_query

CASES = tables(__file__)

NOVEMBER = datetime(2026, 11, 1).timestamp()


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("tag:#Food/Drinks tag:b", Filters(tags=("food/drinks", "b"))),
        ("kind:notes KIND:Memory", Filters(kinds=("note", "memory"))),
        ('path:"my folder" type:Decision', Filters(paths=("my folder",), types=("decision",))),
        ("source:vault project:api by:alice", Filters(sources=("vault",), projects=("api",), authors=("alice",))),
        ("entered_by:alice by:bob", Filters(authors=("alice", "bob"))),
        ("session:ses_1", Filters(sessions=("ses_1",))),
        ('title:"some words" file:*.canvas', Filters(titles=("some words",), files=("*.canvas",))),
        ("concept:wal bead:bd-12 confidence:High", Filters(concepts=("wal",), beads=("bd-12",), confidences=("high",))),
        ("after:2026-11 is:expired", Filters(after=NOVEMBER, states=("expired",))),
        ("(see type:note, path:a(1).md)", Filters(types=("note",), paths=("a(1).md",))),
        ("[status:done] [due]", Filters(properties=(("status", "done"), ("due", None)))),
        ('["due date":"in May"] [a.b: c d ]', Filters(properties=(("due date", "in May"), ("a.b", "c d")))),
        ("[DONE:yes]", Filters(properties=(("DONE", "yes"),))),
        ("(type:a OR type:b) AND kind:note", Filters(types=("a", "b"), kinds=("note",))),
        ("[status:a] OR [Status:b]", Filters(properties=(("status", "a"), ("Status", "b")))),
        ("-tag:a NOT [k:v]", Filters(without=(Filters(tags=("a",)), Filters(properties=(("k", "v"),))))),
        ("-(type:a before:2026-11)", Filters(without=(Filters(types=("a",)), Filters(before=NOVEMBER)))),
        ("NOT NOT tag:a", Filters(tags=("a",))),
    ],
)  # fmt: skip
def test_parse_query_takes_filters_out_of_the_words(text: str, filters: Filters) -> None:
    query = parse_query(text)
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
