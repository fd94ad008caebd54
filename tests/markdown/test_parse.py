import pytest

from tests.tables import tables
from vault_index.markdown.parse import parse

CASES = tables(__file__)


@pytest.mark.parametrize(("text", "title", "in_text"), CASES["parse_chooses_the_title"])
def test_parse_chooses_the_title(text: str, title: str, in_text: bool) -> None:
    document = parse(text, "name")
    assert (document.title, document.title_in_text) == (title, in_text)


@pytest.mark.parametrize(("front", "tags", "aliases"), CASES["parse_reads_frontmatter_tags_and_aliases"])
def test_parse_reads_frontmatter_tags_and_aliases(front: str, tags: list[str], aliases: list[str]) -> None:
    body = "#a #Z #b" if front == "tags: [z, b]" else ""  # follows them
    document = parse(f"---\n{front}\n---\n{body}\n", "name")
    assert [*document.tags] == tags
    assert [*document.aliases] == aliases


def test_parse_makes_text_of_frontmatter_if_a_note_has_no_body() -> None:
    text = "---\ntitle: A\nsubtitle: why\nfacts: [one, {two: 3}]\ndraft: true\nempty:\n---\n\n%% nothing %%\n"
    (block,) = parse(text, "name").blocks
    assert (block.start_line, block.end_line) == (1, 7)
    assert block.text == "A\nwhy\none\n3"


def test_parse_omits_ids_and_times_from_the_text_of_a_bodyless_note() -> None:
    text = (
        "---\nid: 5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f\ntype: decision\ntitle: Use WAL\n"
        "created: 2026-11-21T10:00:00+00:00\nexpires: 2027-02-01\nsupersedes: [6f0c3f0e]\n---\n"
    )
    (block,) = parse(text, "name").blocks
    assert block.text == "Use WAL\ndecision"


@pytest.mark.parametrize("text", ["---\n---\n", "%%hidden%%", "%%\nhidden\n%%\n", "---\ndraft: true\n---\n"])
def test_parse_uses_the_name_of_a_note_without_any_text(text: str) -> None:
    assert [block.text for block in parse(text, "name").blocks] == ["name"]


def test_parse_does_not_add_the_name_to_a_note_with_text() -> None:
    """Otherwise a renamed empty memory would be embedded again."""
    text = "---\ndigest: something\n---\n"
    assert parse(text, "one").blocks == parse(text, "two").blocks


@pytest.mark.parametrize("text", ["", "\n\n", " \t\r\n", "\ufeff", "\u3000\n"])
def test_parse_makes_no_blocks_of_a_blank_file(text: str) -> None:
    assert parse(text, "name").blocks == ()
