import pytest

from vault_index.markdown.parse import parse


@pytest.mark.parametrize(
    ("text", "title", "in_text"),
    [
        ("---\ntitle: From frontmatter\n---\n# Heading", "From frontmatter", True),
        ("---\ntitle: 2026-01-31\n---\n", "2026-01-31", True), ("---\ntitle: \n---\n# Heading", "Heading", True),
        ("---\ntitle: [a]\n---\n# Heading", "Heading", True), ("---\ntitle: yes\n---\n", "yes", True),
        ("text\n\n## Two\n\n# **One** [[x|y]]\n\n# Later", "One y", True), ("#\n\n# Real", "Real", True),
        ("```\n# code\n```\n", "name", False), ("## Two only", "name", False), ("", "name", False),
    ],
)  # fmt: skip
def test_title(text: str, title: str, in_text: bool) -> None:
    document = parse(text, "name")
    assert (document.title, document.title_in_text) == (title, in_text)


@pytest.mark.parametrize(
    ("front", "tags", "aliases"),
    [
        ("tags: [A, b/C]\naliases: [X, Y]", ("a", "b/c"), ("X", "Y")),
        ("tags: a, b c\naliases: Two words, Other", ("a", "b", "c"), ("Two words", "Other")),
        ("tag: a\nalias: X", ("a",), ("X",)),
        ("tags:\n  - '#a'\n  - project:x\n  - two words\n  - 2024\n  -", ("a", "project/x", "two-words", "2024"), ()),
        ("tags: a\ntag: b\naliases: [X]\nalias: X", ("a", "b"), ("X",)),
        ("tags: [z, b]", ("z", "b", "a"), ()),
        ("tags: {{tags}}\naliases: [X]", (), ("X",)),
    ],
)
def test_tags_and_aliases_of_the_frontmatter(front: str, tags: tuple[str, ...], aliases: tuple[str, ...]) -> None:
    body = "#a #Z #b" if front == "tags: [z, b]" else ""  # comes after them
    document = parse(f"---\n{front}\n---\n{body}\n", "name")
    assert document.tags == tags
    assert document.aliases == aliases


def test_a_note_without_a_body_is_what_its_frontmatter_says() -> None:
    text = "---\ntitle: A\nsubtitle: why\nfacts: [one, {two: 3}]\ndraft: true\nempty:\n---\n\n%% nothing %%\n"
    (block,) = parse(text, "name").blocks
    assert (block.start_line, block.end_line) == (1, 7)
    assert block.text == "A\nwhy\none\n3"


def test_ids_and_times_are_no_text_of_a_note_without_a_body() -> None:
    text = (
        "---\nid: 5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f\ntype: decision\ntitle: Use WAL\n"
        "created: 2026-11-21T10:00:00+00:00\nexpires: 2027-02-01\nsupersedes: [6f0c3f0e]\n---\n"
    )
    (block,) = parse(text, "name").blocks
    assert block.text == "Use WAL\ndecision"


@pytest.mark.parametrize("text", ["---\n---\n", "%%hidden%%", "%%\nhidden\n%%\n", "---\ndraft: true\n---\n"])
def test_a_note_that_says_nothing_at_all_is_its_name(text: str) -> None:
    assert [block.text for block in parse(text, "name").blocks] == ["name"]


def test_the_name_is_no_part_of_a_text_that_says_something() -> None:
    """Else the text of an empty memory would be embedded again when its file is renamed."""
    text = "---\ndigest: something\n---\n"
    assert parse(text, "one").blocks == parse(text, "two").blocks


@pytest.mark.parametrize("text", ["", "\n\n", " \t\r\n", "\ufeff", "\u3000\n"])
def test_a_blank_file_has_no_blocks(text: str) -> None:
    assert parse(text, "name").blocks == ()
