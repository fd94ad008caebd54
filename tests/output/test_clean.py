"""Text of notes is made harmless, and only what is harmful is touched."""

import pytest
from hypothesis import given, strategies as st

from vault_index.output.clean import clean, clean_line


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
def test_clean(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_a_line_stays_one() -> None:
    assert clean_line("a\r\nb\u2028c\x85d\te\x1b f\rg") == "a b c d e␛ f g"


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    shown = clean(text)
    assert not any((ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or 0x202A <= ord(c) <= 0x202E for c in shown)
    shown.encode()
    assert clean(shown) == shown
