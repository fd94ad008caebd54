"""Quotations within a budget: the best first, long ones cut at sentences, no repetition."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from vault_index import tokens
from vault_index.query.pack import Candidate, pack, quote
from vault_index.results.texts import RecalledSource

TOKEN = "0123456789abcdef"
SENTENCES = "The first sentence says one thing. The second sentence says another thing. " * 10


def candidate(number: int = 0, text: str = "Readers never wait.", **changes: Any) -> Candidate:
    values: dict[str, Any] = {
        "id": f"0000000{number}-8a1b-4c2d-9e3f-6b7a8c9d0e1f",
        "kind": "memory",
        "source": "vault",
        "path": f"80-memory/{number}.md",
        "title": f"Title {number}",
        "lines": (9, 12),
        "type": "decision",
        "created": "2026-11-21T10:00:00+00:00",
        "entered_by": "ann",
        "project": None,
        "why": "project",
        "whole": True,
    }
    source = RecalledSource(**(values | changes))
    return Candidate(source, ("decision", "ann", "2026-11-21"), source.title, text)


def many(count: int, text: str = "{} is said here, in so many words.") -> list[Candidate]:
    return [candidate(number, text.format(number)) for number in range(count)]


def paths(lasting: list[Candidate], others: list[Candidate], budget: int) -> list[str]:
    _, sources = pack(lasting, others, (), budget, TOKEN)
    return [source.path.removeprefix("80-memory/") for source in sources]


def test_quote_shows_place_fields_title_and_text() -> None:
    quoted = quote(candidate(text="One.\n\n  - two\n"), 100)
    assert quoted is not None
    assert quoted.text == "`80-memory/0.md:9-12` · decision · ann · 2026-11-21\n> **Title 0**\n> One.\n>   - two"
    assert quoted.source.whole


def test_pack_keeps_the_order_of_groups_and_the_budget() -> None:
    others = [candidate(3, "found"), candidate(4, ""), candidate(5, "rest")]
    assert paths(many(2), others, 1200) == ["0.md", "1.md", "3.md", "4.md", "5.md"]
    text, _ = pack(many(2), others, (), 200, TOKEN)
    assert 100 < tokens.count(text) <= 200


def test_pack_leaves_room_for_found_texts_among_lasting_ones() -> None:
    found = [candidate(100 + number, f"found {number}") for number in range(3)]
    shown = paths(many(40), found, 600)
    first = shown.index("100.md")
    assert shown[:first] == [f"{number}.md" for number in range(first)]
    assert first >= 3
    assert shown[first : first + 3] == ["100.md", "101.md", "102.md"]
    assert shown[first + 3] == f"{first}.md"


def test_quote_cuts_a_long_text_at_a_sentence() -> None:
    quoted = quote(candidate(text=SENTENCES), 80)
    assert quoted is not None
    assert quoted.text.endswith("thing. …")
    assert quoted.tokens <= 80
    assert not quoted.source.whole
    words = quote(candidate(text="word " * 500), 80)
    assert words is not None
    assert words.text.endswith("word …")


@pytest.mark.parametrize("text", ["x" * 200_000, "数" * 50_000, " " * 200_000 + "x", "\n" * 50_000, "a.\n" * 20_000])
def test_pack_fits_huge_lines(text: str) -> None:
    block, sources = pack([candidate(text=text), candidate(1)], (), (), 400, TOKEN)
    assert tokens.count(block) <= 400
    assert "80-memory/1.md" in [source.path for source in sources]


def test_pack_quotes_the_same_text_once() -> None:
    assert paths([candidate(0)], [candidate(1, " readers  NEVER wait.\n")], 1200) == ["0.md"]


@given(st.lists(st.text(max_size=300), max_size=8), st.integers(1, 600), st.sampled_from(["0000", "f3" * 32]))
def test_pack_never_exceeds_the_budget(texts: list[str], budget: int, token: str) -> None:
    candidates = [candidate(number, text) for number, text in enumerate(texts)]
    text, sources = pack(candidates[:4], candidates[4:], (), budget, token)
    assert tokens.count(text) <= budget
    assert bool(text) is bool(sources)
