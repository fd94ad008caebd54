"""Code spans, comments, links and tags, and plain words."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.tables import tables
from vault_index.markdown.inline import MAX_CHARACTERS, code_spans, masked, plain_words
from vault_index.markdown.parse import parse
from vault_index.models import Link

CASES = tables(__file__)


@pytest.mark.parametrize(("text", "tags"), CASES["parse_finds_inline_tags"])
def test_parse_finds_inline_tags(text: str, tags: list[str]) -> None:
    assert list(parse(text, "note").tags) == tags


@pytest.mark.parametrize(("text", "links"), CASES["parse_finds_links"])
def test_parse_finds_links(text: str, links: list[list[Any]]) -> None:
    assert list(parse(text, "note").links) == [Link(*link) for link in links]


def test_parse_finds_links_in_properties() -> None:
    document = parse('---\nup: "[[Parent|p]]"\nsee:\n  - "[[Other#x]]"\n---\n[[Body]]\n', "note")
    assert document.links == (Link("Parent", "", "p", 2), Link("Other", "x", "", 4), Link("Body", "", "", 6))


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("status:: done", {"status": ["done"]}),
        ("- due date:: 2026-12-01\n- [ ] **owner**:: [[Jo]]", {"due date": ["2026-12-01"], "owner": ["[[Jo]]"]}),
        ("Text [priority:: high] and (rating::5), too.", {"priority": ["high"], "rating": ["5"]}),
        ("[by:: [[Ann]], [[Bob]]]", {"by": ["[[Ann]], [[Bob]]", "[[Ann]]", "[[Bob]]"]}),
        ("> mood:: good\n\nmood:: better", {"mood": ["good", "better"]}),
        ("Größe:: drei", {"Größe": ["drei"]}),
        ("use std::vector and a::b, `x:: y`, [[a::b]]", {}),
        ("status::\n\n:: no key", {}),
        ("```\nstatus:: done\n[a:: b]\n```", {}),
        ("---\nstatus: done\n---\nText", {}),
        ("long:: " + "x" * 501, {}),
    ],
)  # fmt: skip
def test_parse_finds_dataview_fields(text: str, fields: dict[str, list[str]]) -> None:
    assert parse(text, "note").inline == fields


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a `b` c", ["`b`"]), ("`a` `b`", ["`a`", "`b`"]), ("``a ` b`` c", ["``a ` b``"]), ("`a``b`", ["`a``b`"]),
        ("``a` b", []), ("`a\nb` c", ["`a\nb`"]), ("`a\n\nb`", []), ("- `a\n- b`", []), ("> `a\n> b`", ["`a\n> b`"]),
        (r"\`a` b`", ["` b`"]), (r"`a\` b", [r"`a\`"]), (r"\\`a`", ["`a`"]),
    ],
)  # fmt: skip
def test_code_spans_finds_inline_code(text: str, code: list[str]) -> None:
    assert [text[start:end] for start, end in code_spans(text)] == code


@given(st.text(alphabet="`a \n\\-"))
def test_code_spans_are_in_order_and_masking_keeps_offsets(text: str) -> None:
    spans = code_spans(text)
    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert len(masked(text, spans)) == len(text)


@pytest.mark.parametrize(("written", "words"), CASES["plain_words_removes_markup_of_a_heading"])
def test_plain_words_removes_markup_of_a_heading(written: str, words: str) -> None:
    assert plain_words(written) == words


def test_plain_words_cuts_an_endless_heading_at_a_word() -> None:
    words = plain_words("word " * 1000)
    assert len(words) <= MAX_CHARACTERS
    assert words.endswith("word")


@given(st.text(alphabet="ab*_`[]()=~\\^<>&! \n\0" + "0"))
def test_plain_words_accepts_any_text(text: str) -> None:
    words = plain_words(text)
    assert "\n" not in words
    assert words == words.strip()
