"""What names alone decide."""

from vault_index.sources.names import is_document_name, is_folder_name, is_readable_name, parts_of, shown_name

DOCUMENTS = (
    "note.md", "NOTE.MD", "notes.markdown", "board.canvas", "笔记.md", "~tilde.md", "a~.md", "#1.md", "conflict.md",
    "How to resolve a conflicted copy.md", "sync-conflict-notes.md",
)  # fmt: skip
OTHERS = (
    "note.txt", "md", ".md", ".hidden.md", ".note.md.icloud", "~$note.md", "note.md~", "note.md.tmp", "note.tmp",
    "note.sync-conflict-20260102-101112-ABCDEFG.md", "note (conflicted copy 2026-01-02 101112).md",
    "note (Ann's conflicted copy 2026-01-02).md", "note (Ann's Conflicted Copy).canvas", "note.md.swp",
)  # fmt: skip
FOLDERS = ("Notes", "#1 project")
OTHER_FOLDERS = (
    "node_modules", "@eaDir", "#recycle", "$RECYCLE.BIN", "$Recycle.Bin", "__MACOSX", ".obsidian", ".trash",
)  # fmt: skip


def test_names_of_documents_and_folders() -> None:
    assert [name for name in DOCUMENTS if not is_document_name(name)] == []
    assert [name for name in OTHERS if is_document_name(name)] == []
    assert [name for name in FOLDERS if not is_folder_name(name)] == []
    assert [name for name in OTHER_FOLDERS if is_folder_name(name)] == []


def test_names_that_are_no_utf8() -> None:
    assert is_readable_name("café 笔记 🎉")
    assert not is_readable_name("caf\udce9")
    assert shown_name("caf\udce9/x") == "caf\\xe9/x"


def test_parts_of_refuses_paths_that_lead_elsewhere() -> None:
    for path in ("", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "./a", "a\0b"):
        assert parts_of(path) is None, path
