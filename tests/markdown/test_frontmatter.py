import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.tables import tables
from vault_index.markdown.frontmatter import Frontmatter, read_frontmatter, string_list
from vault_index.markdown.parse import parse

CASES = tables(__file__)


def read(inside: str) -> Frontmatter:
    return read_frontmatter(["---", *inside.split("\n"), "---", "body"])


NO_TOML = [("a: [1, null]", {"a": [1, None]}), ("a: 99999999999999999999", {"a": 99999999999999999999})]


@pytest.mark.parametrize(("inside", "values"), [*CASES["frontmatter_values_are_json"], *NO_TOML])
def test_frontmatter_values_are_json(inside: str, values: dict[str, Any]) -> None:
    front = read(inside)
    assert front.values == values
    assert front.faults == ()
    assert front.lines == inside.count("\n") + 3
    json.dumps(front.values)


@pytest.mark.parametrize(
    "lines", [[], ["", "---", "a: b", "---"], [" ---", "a: b", "---"], ["---", "a: b"], ["---", "a: b", "..."]]
)
def test_frontmatter_needs_a_fence_in_the_first_line_and_at_its_end(lines: list[str]) -> None:
    assert read_frontmatter(lines) == Frontmatter()


@pytest.mark.parametrize(("inside", "texts"), CASES["frontmatter_texts_have_their_lines"])
def test_frontmatter_texts_have_their_lines(inside: str, texts: list[list[str | int]]) -> None:
    assert [*map(list, read_frontmatter(["---", *inside.split("\n"), "---"]).texts)] == texts


@pytest.mark.parametrize(
    ("inside", "line", "values"), CASES["frontmatter_reports_broken_yaml_and_keeps_readable_values"]
)
def test_frontmatter_reports_broken_yaml_and_keeps_readable_values(
    inside: str, line: int, values: dict[str, Any]
) -> None:
    front = read(inside)
    assert [fault.code for fault in front.faults] == ["frontmatter"]
    assert front.faults[0].line == line
    assert front.faults[0].message.startswith("frontmatter cannot be read: ")
    assert "\n" not in front.faults[0].message
    assert front.values == values
    assert front.lines == inside.count("\n") + 3


BOMBS = {
    "aliases of aliases": "a: &a [x, x]\n"
    + "\n".join(f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]" for i in range(20)),
    "an alias": "a: &a [x]\nb: *a",
    "deep flow": "a: " + "[" * 30_000,
    "deep flow, closed": "a: " + "[" * 200 + "]" * 200,
    "deep mappings": "a: " + "{a: " * 200,
    "deep sequences": "- " * 30_000 + "a",
    "deep blocks": "\n".join(" " * depth + "a:" for depth in range(300)),
    "deep keys": "? " * 30_000 + "a",
    "endless": "a: b\n" * 40_000,
}


@pytest.mark.parametrize("inside", BOMBS.values(), ids=BOMBS.keys())
def test_frontmatter_reports_yaml_bombs(inside: str) -> None:
    front = read(inside)
    assert {fault.code for fault in front.faults} == {"frontmatter"}
    json.dumps(front.values)


def test_frontmatter_keeps_a_huge_number_in_hexadecimal() -> None:
    front = read("a: 0x" + "f" * 5000)
    assert front.values == {"a": "0x" + "f" * 5000}
    json.dumps(front.values)


DATED = {
    "created: 2018/11/20": [], "created: 20 Nov 2018": [], "created: 2018-11": [], 'created: "[[2018-11-20]]"': [],
    "created: [[2018-11-20]]": [], "Date: Tuesday, November 20th 2018, 1:02:03 pm": [], "created: 20181120": [],
    "modified: soon": [(3, "modified: 'soon' is not a date")], "created: {{date}}": [(3, "{{")],
    "created: next friday": [(3, "created: 'next friday' is not a date")], "created:": [], "created: <% x %>": [],
    "date: 2026-02-30": [(3, "date: '2026-02-30' is not a date")], "expires: soon": [],
}  # fmt: skip


def test_frontmatter_reports_an_invalid_date_with_its_line() -> None:
    for line, faults in DATED.items():
        found = parse(f"---\na: b\n{line}\n---\nbody", "name").faults
        assert [fault.line for fault in found] == [at for at, _ in faults], line
        assert all(said in one.message or said == "{{" for one, (_, said) in zip(found, faults, strict=True)), line
    assert parse("---\nexpires: soon\n---\nbody", "name", memory=True).faults[0].line == 2


def test_frontmatter_that_is_prose_is_body_and_a_fault() -> None:
    document = parse("---\nsome prose\n---\nmore", "note")
    assert "some prose" in "\n".join(block.text for block in document.blocks)
    assert document.faults[0].line == 1


def test_frontmatter_is_blanked_but_counted() -> None:
    document = parse("\ufeff--- \ntitle: A\n---\t\n\nbody #b\n", "note")
    assert [(block.start_line, block.end_line, block.text) for block in document.blocks] == [(5, 5, "body #b")]
    assert (document.title, document.line_count) == ("A", 5)


@pytest.mark.parametrize(
    ("value", "words", "split"),
    [
        (None, [], False), ("a, b c", ["a", "b c"], False), ("a, b c", ["a", "b", "c"], True),
        (["a, b", "c d"], ["a, b", "c d"], True),
        (["a", None, 2024, True, 1.5, {"x": 1}, ["link"]], ["a", "2024", "true", "1.5", "link"], False),
        (7, ["7"], False), ({"a": 1}, [], False), (" , ", [], False),
    ],
)  # fmt: skip
def test_string_list_accepts_many_notations(value: Any, words: list[str], split: bool) -> None:
    assert string_list(value, split_spaces=split) == words


@given(st.text(alphabet="ab:-[]{}&*!|>'\"%@`#,? \n\t01.~<\0\x85\ud800"))
def test_frontmatter_accepts_any_text(inside: str) -> None:
    front = read(inside)
    json.dumps(front.values)
    assert all(fault.line is not None and fault.line >= 1 for fault in front.faults)
