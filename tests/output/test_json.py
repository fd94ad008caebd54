"""JSON keeps every value, and is safe on a terminal."""

import json

from hypothesis import given, strategies as st

from tests.output import answers
from vault_index.output import render


@given(st.text(st.characters(exclude_categories=[])))
def test_render_json_is_printable_and_restores_every_string(text: str) -> None:
    shown = render("search", {"query": text}, "json")
    assert json.loads(shown) == {"query": text}
    shown.encode()
    assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or 0x202A <= ord(c) <= 0x202E for c in shown)


def test_render_json_is_one_line_in_a_pipe_and_indented_on_a_terminal() -> None:
    answer = answers.search(answers.hit(snippet="two\nlines"))
    assert "\n" not in render("search", answer, "json")
    shown = render("search", answer, "json", terminal=True)
    assert shown.count("\n") > 20
    assert json.loads(shown) == answer


def test_render_jsonl_has_one_record_per_line() -> None:
    answer = answers.search(answers.hit(0), answers.hit(1))
    assert [json.loads(line) for line in render("search", answer, "jsonl").split("\n")] == answer["results"]
    assert render("search", answers.search(), "jsonl") == ""
    assert json.loads(render("stats", {"documents": 1}, "jsonl")) == {"documents": 1}
