import pytest

from vault_index.markdown.recalled import drop_recalled

BEGIN, END = '<vault-index-recall token="0a1b2c3d">', '</vault-index-recall token="0a1b2c3d">'


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (f"before\n{BEGIN}\nrecalled\n{END}\nafter", "before\nafter"),
        (f"{BEGIN}\nrecalled\n{END}", ""),
        (f"a\n  {BEGIN}  \r\nx\r\n{END}\r\nb\n{BEGIN}\ny\n{END}\nc", "a\nb\nc"),
        # What stands inside cannot end it: it does not know the token.
        (f'{BEGIN}\n</vault-index-recall token="ffff">\nstill inside\n{END}\nout', "out"),
        (f'{BEGIN}\n<vault-index-recall token="ffff">\n{END}\nout', "out"),
        ("nothing of ours", "nothing of ours"),
    ],
)
def test_recalled_text_is_dropped(text: str, rest: str) -> None:
    assert drop_recalled(text) == rest


@pytest.mark.parametrize(
    "text",
    [
        f"{BEGIN}\nnever ended",
        f'{BEGIN}\nended by another\n</vault-index-recall token="ffff">',
        f"{END}\nthe wrong way round\n{BEGIN}",
        f"in a line {BEGIN} of text\n{END}",
        '<vault-index-recall token="not hex">\nx\n</vault-index-recall token="not hex">',
    ],
)
def test_what_is_no_block_is_left_alone(text: str) -> None:
    assert drop_recalled(text) == text


def test_many_that_do_not_end_take_no_longer_than_other_text() -> None:
    text = f"{BEGIN}\n" * 50_000
    assert drop_recalled(text) == text
