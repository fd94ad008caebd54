import pytest
from hypothesis import given, strategies as st

from vault_index.markdown.nest import nest
from vault_index.markdown.parse import parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One\ntext\n## Two\n###### Six", "### One\ntext\n#### Two\n###### Six"),
        ("## Goal\nx\n#### Deep", "### Goal\nx\n##### Deep"), ("#tag and #1", "#tag and #1"),
        ("```\n# code\n```\n# heading", "```\n# code\n```\n### heading"),
        ("Title\n=====\ntext", "Title\n\\=====\ntext"), ("Title\n---\ntext", "Title\n***\ntext"),
        ("above\n\n---\n\nbelow", "above\n\n---\n\nbelow"), ("a | b\n--- | ---\n1 | 2", "a | b\n--- | ---\n1 | 2"),
        ("~~~py\nopen", "~~~py\nopen\n~~~"), ("<!-- open\ntext", "\\<!-- open\ntext"), ("<div>\ntext", "<div>\ntext"),
        ("a %% b", "a %\\% b"), ("`%%time` and %%", "`%%time` and %\\%"), ("$$ open\n# x", "\\$$ open\n### x"),
        ("$$\n# no heading\n$$\n# heading", "$$\n# no heading\n$$\n### heading"),
        ("\n\n  indented\r\nline\r", "  indented\nline"), ("", ""),
    ],
)  # fmt: skip
def test_nest_lowers_headings_and_keeps_other_text(text: str, expected: str) -> None:
    assert nest(text, 2) == expected


@pytest.mark.parametrize(
    "text",
    [
        "1. Do:\n   ```bash\n   make\n```", "- ```\n  open in a list", "> ```\n> open in a quotation",
        "- a\n  <!-- open in a list", "* x\n\n      ```\n",
    ],
)  # fmt: skip
def test_nest_contains_fences_of_lists_and_quotations(text: str) -> None:
    assert headings(f"## One\n\n{nest(text, 2)}\n\n## Two\n\nend") == ["One", "Two"]


@given(st.text(alphabet="#`~-=<>!%$ \n\tab|*[]1.)", max_size=60))
def test_nest_keeps_the_next_turn_a_section_of_its_own(text: str) -> None:
    tops = headings(f"## One\n\n{nest(text, 2)}\n\n## Two\n\nend")
    assert tops == ["One", "Two"]


def headings(markdown: str) -> list[str]:
    """The outermost heading of every section, in order."""
    tops = [block.headings[0] for block in parse(markdown, "name").blocks]
    return list(dict.fromkeys(tops))
