import pytest
from hypothesis import given, strategies as st

from vault_index.markdown.normalize import split_lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\rb\r", ["a", "b"]),
        ("a\r\rb", ["a", "", "b"]),
        ("a\n\rb", ["a", "", "b"]),
        ("a\u2028b\x0cc\x0bd\x85e", ["a\u2028b\x0cc\x0bd\x85e"]),
    ],
)
def test_lines_end_at_lf_crlf_and_cr_only(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@given(st.lists(st.text(alphabet="ab \u2028\x0c")), st.sampled_from(["\n", "\r\n", "\r"]))
def test_every_line_end_counts_the_same(lines: list[str], end: str) -> None:
    assert split_lines("".join(line + end for line in lines)) == lines
