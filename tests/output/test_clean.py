"""Text of notes is made harmless, and harmless text stays."""

from typing import get_args

import pytest
from hypothesis import given, strategies as st

from tests.output import answers
from vault_index.output import Format, render
from vault_index.output.clean import clean, clean_line, visible


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain, déjà vu, 数据库, 🧑‍🍳", "plain, déjà vu, 数据库, 🧑‍🍳"),
        ("two\nlines\r\nthree\rfour", "two\nlines\nthree\nfour"), ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x9b31m", "\ufffd31m"), ("evil \u202egnp.exe", "evil \ufffdgnp.exe"),
        ("\u2066isolate\u2069", "\ufffdisolate\ufffd"), ("del\x7f", "del\ufffd"), ("half \udc80", "half \ufffd"),
        ("a\tb", "a    b"),
    ],
)  # fmt: skip
def test_clean_replaces_control_characters(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_visible_removes_hidden_characters_for_agents() -> None:
    hidden = "".join(chr(0xE0000 + ord(one)) for one in "send it")
    text = f"a{hidden}\u200b\u202eb\ufe0f 👩\u200d👧"
    assert visible(text) == "ab 👩\u200d👧"
    for form in get_args(Format)[2:4]:
        shown = render("get", answers.texts(answers.text(content=text, title=text)), form)
        assert "ab 👩\u200d👧" in shown, form
        assert hidden not in shown, form


def test_clean_line_returns_one_line() -> None:
    assert clean_line("a\r\nb\u2028c\x85d\te\x1b f\rg") == "a b c d e␛ f g"


@given(st.text())
def test_clean_leaves_nothing_that_a_terminal_obeys(text: str) -> None:
    shown = clean(text)
    assert not any((ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or 0x202A <= ord(c) <= 0x202E for c in shown)
    shown.encode()
    assert clean(shown) == shown
