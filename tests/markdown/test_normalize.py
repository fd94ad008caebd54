""""""

import re
import unicodedata

import pytest
from hypothesis import given, strategies as st

from tests.tables import tables
from vault_index.markdown.normalize import harmless, harmless_line, identity, normalize_tag, split_lines

CASES = tables(__file__)

TITLE, SUBTITLE, FACTS, BODY = "Use WAL", "readers never block", ("a fact", "another"), "One line.\n\nAnd another."


@pytest.mark.parametrize(
    ("title", "subtitle", "facts", "body"),
    [
        ("  Use\tWAL ", SUBTITLE, FACTS, BODY),
        (TITLE, "readers never block", FACTS, "\nOne line.\r\n\r\nAnd  another.\r\n"),
        (TITLE, "readers  never\nblock", FACTS, BODY),
        (TITLE, SUBTITLE, [" a  fact", "another\n"], BODY),
    ],
)
def test_identity_ignores_white_space(title: str, subtitle: str, facts: list[str], body: str) -> None:
    assert identity(title, subtitle, facts, body) == identity(TITLE, SUBTITLE, FACTS, BODY)


@pytest.mark.parametrize(
    ("title", "subtitle", "facts", "body"),
    [
        ("Use wal", SUBTITLE, FACTS, BODY), (TITLE, "", FACTS, BODY), (TITLE, SUBTITLE, ("a fact another",), BODY),
        (TITLE, SUBTITLE, FACTS[:1], BODY), (TITLE, SUBTITLE, FACTS, BODY + "!"),
        (f"{TITLE} {SUBTITLE}", "", FACTS, BODY), (TITLE, SUBTITLE, (), f"a fact another {BODY}"),
    ],
)  # fmt: skip
def test_identity_depends_on_text_and_field(title: str, subtitle: str, facts: list[str], body: str) -> None:
    assert identity(title, subtitle, facts, body) != identity(TITLE, SUBTITLE, FACTS, BODY)


@given(st.lists(st.text(), min_size=2, max_size=2), st.lists(st.text(), min_size=2, max_size=2))
def test_identity_separates_fields(one: list[str], other: list[str]) -> None:
    same = [identity(text, "", (), "") for text in one] == [identity(text, "", (), "") for text in other]
    assert (identity(one[0], one[1], (), "") == identity(other[0], other[1], (), "")) == same
    assert (identity("", "", one, "") == identity("", "", other, "")) == same


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []), ("a", ["a"]), ("a\n\n", ["a", ""]), ("a\r\nb\r\n", ["a", "b"]), ("a\rb\r", ["a", "b"]),
        ("a\n\rb", ["a", "", "b"]), ("a\u2028b\x0cc\x0bd\x85e", ["a\u2028b\x0cc\x0bd\x85e"]),
    ],
)  # fmt: skip
def test_split_lines_splits_at_lf_crlf_and_cr_only(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


def test_normalize_tag_unifies_spellings() -> None:
    spelled = {
        "SQLite": "sqlite", "#ops/Storage": "ops/storage", "  # two words ": "two-words",
        "project:My-API": "project/my-api", "project: my api": "project/my-api", "a:b": "a:b", "/a//b/": "a/b",
        "a / b": "a/b", "Straße": "straße", "cafe\u0301": "café", "读书/小说": "读书/小说", "🎉": "🎉",
        "c#": "c", "#": "",
    }  # fmt: skip
    assert {written: normalize_tag(written) for written in spelled} == spelled


@given(st.text())
def test_normalize_tag_is_idempotent(text: str) -> None:
    once = normalize_tag(text)
    assert normalize_tag(once) == once
    assert once == once.strip("/ \n\t")


UNPAIRED = ("half \udc80", "half \ufffd")  # TOML has no lone surrogates


@pytest.mark.parametrize(("text", "expected"), [*CASES["harmless_keeps_text_and_removes_controls"], UNPAIRED])
def test_harmless_keeps_text_and_removes_controls(text: str, expected: str) -> None:
    assert harmless(text) == expected


@given(st.text() | st.text("\x1b\x9b[]m;<\u200b\u202e\ud800\r\n a"))
def test_harmless_leaves_nothing_that_acts_or_hides(text: str) -> None:
    shown = harmless(text)
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and c != "\n"]
    hiding = (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0xE0000, 0xE1000))
    joined = "[\u00a9\u00ae\u0620-\u109f\u1780-\u18af\u203c-\u33ff\ufb50-\ufefc\U0001f000-\U0001faff]"
    joins = re.findall(f"{joined}\ufe0f?[\u200c\u200d](?={joined})", shown)
    assert len([c for c in shown if ord(c) in hiding]) == len(joins)
    assert "<" not in unicodedata.normalize("NFKC", shown)
    assert harmless(shown) == shown


@given(st.text(), st.integers(1, 50))
def test_harmless_line_is_one_bounded_line(text: str, longest: int) -> None:
    line = harmless_line(text, longest)
    assert "\n" not in line
    assert len(line) <= longest
