import pytest
from hypothesis import given, strategies as st

from tests.tables import tables
from vault_index.markdown.nest import nest
from vault_index.markdown.parse import parse

CASES = tables(__file__)


@pytest.mark.parametrize(("text", "expected"), CASES["nest_lowers_headings_and_keeps_other_text"])
def test_nest_lowers_headings_and_keeps_other_text(text: str, expected: str) -> None:
    assert nest(text, 2) == expected


@given(st.text(alphabet="#`~-=<>!%$ \n\tab|*[]1.)", max_size=60))
def test_nest_keeps_the_next_turn_a_section_of_its_own(text: str) -> None:
    tops = headings(f"## One\n\n{nest(text, 2)}\n\n## Two\n\nend")
    assert tops == ["One", "Two"]


def headings(markdown: str) -> list[str]:
    """The outermost heading of every section, in order."""
    tops = [block.headings[0] for block in parse(markdown, "name").blocks]
    return list(dict.fromkeys(tops))
