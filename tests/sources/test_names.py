"""What names alone decide."""

import pytest

from vault_index.sources.names import is_document_name, is_folder_name, is_readable_name, parts_of, shown_name


@pytest.mark.parametrize(
    "name",
    [
        "note.md",
        "NOTE.MD",
        "notes.markdown",
        "board.canvas",
        "笔记.md",
        "~tilde.md",
        "a~.md",
        "#1.md",
        "conflict.md",
        "How to resolve a conflicted copy.md",
        "sync-conflict-notes.md",
    ],
)
def test_documents(name: str) -> None:
    assert is_document_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "note.txt",
        "md",
        ".md",
        ".hidden.md",
        ".note.md.icloud",
        "~$note.md",
        "note.md~",
        "note.md.tmp",
        "note.tmp",
        "note.sync-conflict-20260102-101112-ABCDEFG.md",
        "note (conflicted copy 2026-01-02 101112).md",
        "note (Ann's conflicted copy 2026-01-02).md",
        "note (Ann's Conflicted Copy).canvas",
        "note.md.swp",
    ],
)
def test_no_documents(name: str) -> None:
    assert not is_document_name(name)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Notes", True),
        ("node_modules", False),
        ("@eaDir", False),
        ("#recycle", False),
        ("$RECYCLE.BIN", False),
        ("$Recycle.Bin", False),
        ("__MACOSX", False),
        (".obsidian", False),
        (".trash", False),
        ("#1 project", True),
    ],
)
def test_folders(name: str, wanted: bool) -> None:
    assert is_folder_name(name) is wanted


def test_names_that_are_no_utf8() -> None:
    assert is_readable_name("café 笔记 🎉")
    assert not is_readable_name("caf\udce9")
    assert shown_name("caf\udce9/x") == "caf\\xe9/x"


@pytest.mark.parametrize("path", ["", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "./a", "a\0b"])
def test_no_paths(path: str) -> None:
    assert parts_of(path) is None
