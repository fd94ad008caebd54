"""Texts with a frontmatter, given to `add`: the memory keeps it, and options override it."""

from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from vault_index import VaultIndex
from vault_index.errors import UsageError
from vault_index.markdown.frontmatter import read_frontmatter
from vault_index.memories.file.files import MemoryFiles
from vault_index.models import FileStamp
from vault_index.sources.vault import VaultSource

UID = "5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f"
NOTE = """---
# about birds
title: Where herons nest
tags:
  - Birds  # all of them
  - lake shore
status: 'seen'
entered_by: ann
created: 2025-03-01
expires: in 3 months
related: ["[[Reeds]]"]
---

Herons nest in the reeds.
"""


def head(tmp_path: Path, path: str) -> dict[str, object]:
    return dict(read_frontmatter((tmp_path / "vault" / path).read_text("utf-8").split("\n")).values)


def test_add_keeps_the_frontmatter_of_the_text(index: VaultIndex, tmp_path: Path, now: datetime) -> None:
    stored = index.add(NOTE)
    assert stored.path == "80-memory/note/2025-03-01-where-herons-nest.md"
    expires = str(head(tmp_path, stored.path)["expires"])
    assert timedelta(85) < date.fromisoformat(expires) - now.date() < timedelta(95)
    assert (tmp_path / "vault" / stored.path).read_text("utf-8") == (
        f"---\n# about birds\nid: {stored.id}\ntype: note\ntitle: Where herons nest\n"
        "tags:\n  - birds\n  - lake-shore\nstatus: 'seen'\nentered_by: ann\n"
        f"created: 2025-03-01\nupdated: 2025-03-01\nexpires: {expires}\n"
        'related: ["[[Reeds]]"]\n---\n\nHerons nest in the reeds.\n'
    )
    assert [hit.path for hit in index.search("reeds [status:seen] tag:birds by:ann").results] == [stored.path]


def test_add_does_not_read_the_new_file(index: VaultIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(VaultSource, "read")
    stored = index.add("Herons nest in the reeds.")
    assert [hit.path for hit in index.search("reeds").results] == [stored.path]


def test_add_reads_a_new_file_that_was_edited_at_once(
    index: VaultIndex, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = MemoryFiles.create

    def create_and_edit(files: MemoryFiles, path: str, text: bytes) -> FileStamp:
        stamp = create(files, path, text)
        (vault / path).write_bytes(text.replace(b"heron", b"stork"))
        return stamp

    monkeypatch.setattr(MemoryFiles, "create", create_and_edit)
    index.add("A heron is a bird.")
    assert len(index.search("stork").results) == 1


def test_add_options_override_the_frontmatter(index: VaultIndex, tmp_path: Path) -> None:
    given = NOTE.replace("title:", "type: sighting\ntitle:")
    stored = index.add(given, title="Herons", type="discovery", tags="lake", by="ben", expires="2090-01-01")
    front = head(tmp_path, stored.path)
    expected = {"title": "Herons", "type": "discovery", "tags": ["lake"], "entered_by": "ben", "status": "seen"}
    assert front == {**front, **expected, "expires": "2090-01-01"}


def test_add_keeps_the_id_of_the_file_unless_it_is_taken(index: VaultIndex, tmp_path: Path) -> None:
    stored = index.add(f"---\nid: {UID}\n---\nHerons nest in the reeds.\n")
    assert stored.id == UID
    with pytest.raises(UsageError, match="another text") as caught:
        index.add(f"---\nid: {UID}\n---\nHerons eat fish.\n")
    assert "update" in caught.value.hint
    other = index.add("---\nid: 202503011200\n---\nHerons eat fish.\n")
    assert head(tmp_path, other.path)["imported_id"] == 202503011200
    assert index.get("#202503011200").results[0].id == other.id


def test_add_keeps_line_ends(index: VaultIndex, tmp_path: Path) -> None:
    stored = index.add("\ufeff---\r\ntags: birds lake\r\n---\r\n# Herons\r\n\r\nIn the reeds.")
    text = (tmp_path / "vault" / stored.path).read_bytes().decode()
    assert text.endswith("\r\n---\r\n# Herons\r\n\r\nIn the reeds.\r\n")
    assert "\n" not in text.replace("\r\n", "")
    assert head(tmp_path, stored.path)["tags"] == ["birds", "lake"]
    assert index.list().results[0].title == "Herons"


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("title: Herons: where", "line 2: frontmatter cannot be read"),
        ("type: sighting", "in the frontmatter: 'sighting' is not a valid type"),
        ("expires: 2001-01-01", "in the frontmatter: expires: 2001-01-01 is in the past"),
        ("created: some day", "in the frontmatter: created: not a date"),
        ("facts: [{a: b}]", "in the frontmatter: facts must be text"),
        (f"note: {'AKIA' + 'Z7Q2M4X6P9R3T5VW'}", "line 2 of the text contains what looks like"),
    ],
)
def test_add_refuses_invalid_frontmatter(index: VaultIndex, tmp_path: Path, inside: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        index.add(f"---\n{inside}\n---\nHerons nest in the reeds.\n")
    assert message in caught.value.message
    assert caught.value.hint
    assert not list((tmp_path / "vault").rglob("*.md"))


@pytest.mark.parametrize("text", ["---\nHerons, between two rules\n---\nNest in reeds.", "---\nHerons: no end."])
def test_add_treats_text_between_rules_as_body(index: VaultIndex, text: str) -> None:
    stored = index.add(text, title="Herons")
    assert text in index.get(stored.id).results[0].content


def test_capture_reads_no_frontmatter(index: VaultIndex, tmp_path: Path) -> None:
    index.capture("*Remember*: ---\nproject: other\n---\nHerons nest in the reeds.\n")
    (memory,) = index.list(kind="memory").results
    assert "project" not in head(tmp_path, memory.path)
    assert "project: other" in index.get(memory.id).results[0].content
