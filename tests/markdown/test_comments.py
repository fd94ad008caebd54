import pytest

from tests.tables import tables
from vault_index.markdown.parse import parse

CASES = tables(__file__)


def body(text: str) -> list[str]:
    """The remaining text, line by line."""
    document = parse(text, "note")
    lines = [""] * document.line_count
    for block in document.blocks:
        lines[block.start_line - 1 : block.end_line] = block.text.split("\n")
    return lines


@pytest.mark.parametrize(("text", "left"), CASES["comments_are_blanked_outside_code"])
def test_comments_are_blanked_outside_code(text: str, left: list[str]) -> None:
    assert body(text) == left


def test_comments_yield_no_tags_links_or_text() -> None:
    document = parse("# Title %%hidden%%\n\n%% #hidden [[hidden]] %%\n\n[[shown]] #shown\n", "note")
    assert "hidden" not in repr(document)
    assert document.title == "Title"
    assert document.tags == ("shown",)
    assert [link.target for link in document.links] == ["shown"]
    assert document.links[0].line == 5
