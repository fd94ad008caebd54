import pytest
from hypothesis import given, strategies as st

from tests.tables import tables
from vault_index.markdown import blocks
from vault_index.markdown.blocks import read_structure
from vault_index.markdown.normalize import split_lines
from vault_index.markdown.parse import parse

CASES = tables(__file__)


def places(text: str) -> list[tuple[int, int]]:
    return [(block.start_line, block.end_line) for block in read_structure(split_lines(text)).blocks]


@pytest.mark.parametrize(("text", "expected"), CASES["blocks_have_their_lines"])
def test_blocks_have_their_lines(text: str, expected: list[list[int]]) -> None:
    assert [*map(list, places(text))] == expected


def test_headings_form_a_path() -> None:
    text = "top\n# A\na\n### C\nc\n## B\nb\n# D **d** #\n\n# \nlast\n> # not\n\n```\n# not\n```\n"
    structure = read_structure(split_lines(text))
    assert [(block.start_line, block.headings, block.is_heading) for block in structure.blocks] == [
        (1, (), False), (2, ("A",), True), (3, ("A",), False), (4, ("A", "C"), True), (5, ("A", "C"), False),
        (6, ("A", "B"), True), (7, ("A", "B"), False), (8, ("D d",), True), (10, (), True), (11, (), False),
        (12, (), False), (14, (), False),
    ]  # fmt: skip
    assert structure.first_h1 == "A"


def test_structure_code_lines_are_fences_indented_code_and_formulas() -> None:
    text = "a\n```\nb\n```\n\n    c\n\n$$\nd\n$$\n- e\n  ~~~\n  f\n  ~~~\n"
    assert read_structure(split_lines(text)).code_lines == {2, 3, 4, 6, 8, 9, 10, 12, 13, 14}


def test_structure_splits_too_many_lines_plainly_with_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# A\na\nb\n\n```\n# c\n```\nd\n## B ##\n#tag\n"
    exact = parse(text, "note")
    monkeypatch.setattr(blocks, "MAX_LINES", 5)
    plain = parse(text, "note")
    assert plain.blocks == exact.blocks
    assert plain.tags == exact.tags == ("tag",)
    assert exact.faults == ()
    assert [(fault.code, fault.line) for fault in plain.faults] == [("markdown", 1)]


MARKDOWN = st.lists(
    st.sampled_from(
        ["# A", "## B", "text", "more text", "", "  ", "- item", "  - nested", "1. one", "> quote", "```", "~~~", "$$",
         "$$ x", "| a | b |", "|---|---|", "<div>", "</div>", "<!--", "-->", "---", "===", "    code", "[a]: b", "[a]:",
         "\t", "%% c %%", "%%", "`a", "[[b|c]]", "[d](e.md)", "#tag", "^id", "\u00a0", "* * *", "-", "+ \t- a",
         ">\t- b", "\\"]
    ),
    max_size=30,
)  # fmt: skip


@given(MARKDOWN, st.sampled_from(["\n", "\r\n", "\r"]))
def test_blocks_cover_every_line_once_and_in_order(lines: list[str], end: str) -> None:
    lines = [line for line in lines if "%%" not in line]
    structure = read_structure(split_lines(end.join(lines)))
    position = 0
    for block in structure.blocks:
        assert position < block.start_line <= block.end_line <= len(lines)
        assert all(not line.strip() for line in lines[position : block.start_line - 1])
        assert block.text == "\n".join(lines[block.start_line - 1 : block.end_line])
        assert lines[block.start_line - 1].strip()
        assert lines[block.end_line - 1].strip()
        position = block.end_line
    assert all(not line.strip() for line in lines[position:])


@given(MARKDOWN)
def test_parse_ignores_the_kind_of_line_ends(lines: list[str]) -> None:
    unix = parse("\n".join(lines), "note")
    assert parse("\r\n".join(lines), "note") == unix
    assert parse("\r".join(lines), "note") == unix
    assert parse("\ufeff" + "\n".join(lines), "note") == unix


@given(st.text() | st.text(alphabet="#-*+>|`~$%[]()!<= \t\n\r1.a:\\^_\0&"))
def test_parse_accepts_any_text(text: str) -> None:
    assert parse(text, text[:5]).line_count == len(split_lines(text))
