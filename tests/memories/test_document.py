from typing import Any

import pytest

from tests.tables import tables
from vault_index.errors import UsageError
from vault_index.markdown.parse import title_of
from vault_index.memories.create import new_document
from vault_index.memories.file.document import body_of, changes_of, with_body, with_paragraph, with_section

CASES = tables(__file__)
UID = "5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f"
CREATED = "2026-11-21T10:00:00+00:00"


def file_of(fields: dict[str, Any], body: str) -> str:
    return new_document({**changes_of(fields), "id": UID, "created": CREATED, "updated": CREATED}, body)


def test_new_file_has_its_given_keys_in_order() -> None:
    fields = {
        "type": "decision", "title": "Use WAL: always", "digest": "", "tags": ("sqlite", "ops/storage"),
        "expires": "2027-02-01",
        "facts": ("one, two", "# three"), "supersedes": (), "bead_id": "1e3", "entered_by": "agent",
    }  # fmt: skip
    assert file_of(fields, "\n\nText\r\nmore  \n\n") == (
        "---\n"
        f"id: {UID}\n"
        "type: decision\n"
        "title: 'Use WAL: always'\n"
        "tags: [sqlite, ops/storage]\n"
        f"created: {CREATED}\n"
        f"updated: {CREATED}\n"
        "entered_by: agent\n"
        "expires: 2027-02-01\n"
        "facts: ['one, two', '# three']\n"
        "bead_id: '1e3'\n"
        "---\n"
        "Text\nmore\n"
    )


def test_body_of_returns_the_text_after_the_frontmatter() -> None:
    assert [(text, body_of(text)) for text, body in CASES["bodies"] if body_of(text) != body] == []


def test_title_of_finds_a_title_in_the_body() -> None:
    assert [(body, title_of(body)) for body, title in CASES["titles"] if title_of(body) != title] == []
    assert title_of("word " * 30) == "word " * 15 + "word…"
    assert title_of("長" * 200) == "長" * 79 + "…"


def test_with_body_replaces_the_body() -> None:
    for text, changed in CASES["replaced"]:
        assert with_body(text, "new\n\nlines\n") == changed
        assert body_of(with_body(text, "")) == ""


def test_appended_adds_a_paragraph() -> None:
    for text, changed in CASES["appended"]:
        assert with_paragraph(text, "\nmore\nlines\n") == changed
        assert with_paragraph(text, " \n") == text


@pytest.mark.parametrize(("heading", "old", "new"), CASES["with_section_replaces_the_text_under_a_heading"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_with_section_replaces_the_text_under_a_heading(heading: str, old: str, new: str, newline: str) -> None:
    assert CASES["note"].count(old) == 1 or heading == "Empty#Evening"
    before, _, after = CASES["note"].rpartition(old)
    changed = with_section(CASES["note"].replace("\n", newline), heading, "NEW\n", append=False)
    assert changed == f"{before}{new}{after}".replace("\n", newline)


@pytest.mark.parametrize(
    ("heading", "behind"),
    [("Monday", "more tea\n"), ("Tuesday", "## Tuesday\n"), ("# Log", "more tea\n\n## Tuesday\n")],
)
def test_with_section_appends_under_a_heading(heading: str, behind: str) -> None:
    changed = with_section(CASES["note"], heading, "NEW", append=True)
    assert changed == CASES["note"].replace(behind, f"{behind}\nNEW\n", 1)
    assert with_section(CASES["note"], heading, "\n", append=True) == CASES["note"]


def test_with_section_keeps_a_last_line_without_end_and_empties_a_section() -> None:
    assert with_section("\ufeff# A\nold", "A", "new\n", append=False) == "\ufeff# A\nnew"
    assert with_section("# A\nold", "A", "new\n", append=True) == "# A\nold\n\nnew"
    assert with_section("# A", "A", "new\n", append=True) == "# A\n\nnew"
    assert with_section("# A\nold\n\n# B\n", "A", "", append=False) == "# A\n\n# B\n"


@pytest.mark.parametrize(("heading", "message", "hint"), CASES["with_section_refuses_a_missing_or_repeated_heading"])
def test_with_section_refuses_a_missing_or_repeated_heading(heading: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        with_section(CASES["note"], heading, "new", append=False)
    assert hint in raised.value.hint
