import pytest
from hypothesis import given, strategies as st

from vault_index.markdown.words import MAX_CHARACTERS, plain_words


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("**Bold** and *italic* and _more_", "Bold and italic and more"), ("**a *b* c**", "a b c"),
        ("==marked== ~~gone~~", "marked gone"), ("snake_case and __init__.py", "snake_case and __init__.py"),
        ("`__init__` of `a*b*c`", "__init__ of a*b*c"), ("2 * 3 * 4", "2 * 3 * 4"), (r"\*kept\*", "*kept*"),
        ("[[folder/Note#Part|shown]]", "shown"), ("[[Note#Part]]", "Note > Part"),
        ("see [the docs](https://example.org/a_(b)) now", "see the docs now"), ("[![alt](image.png)](page.md)", "alt"),
        ("[text][ref] and [ ] box", "text and [ ] box"), ("Note[^1]", "Note"), ("Title ^block-id", "Title"),
        ('<a id="x"></a>Title<br>', "Title"), ("List<string>", "List<string>"), ("R&amp;D", "R&D"), ("", ""),
        ("\0001\0 [[x]]", "1 x"),
    ],
)  # fmt: skip
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
