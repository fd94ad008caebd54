"""Data of real clients (1.18.33 and 1.1.65), compared with expectations written by hand."""

from pathlib import Path

from tests.sources.opencode.stores import Store, copied, transcripts
from vault_index.sources.opencode.database import Database
from vault_index.sources.opencode.tree import Tree

FIXED, EXPLAINED, DELEGATED, CHILD, RECALLED = (
    Path(__file__).with_name("expected").joinpath(f"{name}.md").read_text("utf-8")
    for name in ("fixed", "explained", "delegated", "child", "recalled")
)
TITLES = [
    "Scripted session title — Übersicht",
    "Usages of check()",
    "Find usages (@general subagent)",
    "Recall décision",
]


def body(text: str) -> str:
    return text.split("\n---\n\n", 1)[1]


def test_database_of_opencode_1_18_holds_four_sessions(tmp_path: Path) -> None:
    problems: list[str] = []
    store = Database(copied("opencode.db", tmp_path))
    found = transcripts(store, problems)
    store.close()
    assert problems == []
    assert list(found) == TITLES
    assert [transcript.turns for transcript in found.values()] == [6, 4, 2, 6]
    assert body(found[TITLES[0]].text) == f"{FIXED}\n{EXPLAINED}"
    assert found[TITLES[1]].text == DELEGATED
    assert 'parent: "[[ses_e02fa2c21ffeTF61TeyS6jmsWx]]"\n' in found[TITLES[2]].text
    assert body(found[TITLES[2]].text) == CHILD
    assert body(found[TITLES[3]].text) == RECALLED


def test_database_with_all_rows_in_the_wal_is_read(tmp_path: Path) -> None:
    folder = copied("sqlite-wal-fresh", tmp_path)
    before = {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("-shm")}
    problems: list[str] = []
    store = Database(folder / "opencode.db")
    found = transcripts(store, problems)
    store.close()
    assert problems == []
    assert {title: transcript.turns for title, transcript in found.items()} == {TITLES[0]: 2}
    assert body(found[TITLES[0]].text) == FIXED
    # Reading must keep the files that only the client may move.
    assert {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("-shm")} == before


def test_tree_of_opencode_1_1_holds_four_sessions(tmp_path: Path) -> None:
    problems: list[str] = []
    found = transcripts(Tree(copied("json-1.1.65", tmp_path) / "storage"), problems)
    assert problems == []
    assert list(found) == TITLES
    assert [transcript.turns for transcript in found.values()] == [6, 4, 2, 6]
    # 1.1 refused two tools for a missing argument; all else is as in 1.18, seconds later.
    refused = 'The bash tool was called with invalid arguments: [ { "expected": "string", "code": "invalid_type",'
    text = body(found[TITLES[0]].text)
    assert text.count(f"(error: `{refused}") == 3
    assert (
        "Grüße — 修正しました 🙂\n\n## User · 2026-11-21 07:33\n\nWarum? Explain in German. [[scene:explain]]\n" in text
    )
    assert "Señal: naïve café, Ελληνικά, עברית, 日本語のテスト.\n" in text
    child = DELEGATED.replace("ses_e02fa224effeYR56P6lfU9yV2U", "ses_e02f95ad0ffe354Ara0oG12vIR")
    assert body(found[TITLES[1]].text) == body(child)
    assert body(found[TITLES[2]].text) == CHILD
    assert body(found[TITLES[3]].text) == RECALLED
    front = found[TITLES[2]].text.split("\n---\n")[0]
    assert 'directory: "/home/user/demo-1.1/project"\n' in front
    assert 'created: "2026-11-21T07:33:53+00:00"\n' in front
    assert 'version: "1.1.65"\nturns: 2\ntokens: 240\nparent: "[[ses_e02f95c2dffetUWLyhhgfYI0r7]]"' in front


def test_sessions_include_reasoning_output_and_diffs_on_request(tmp_path: Path) -> None:
    database = Database(copied("opencode.db", tmp_path))
    stores: tuple[Store, ...] = (database, Tree(copied("json-1.1.65", tmp_path) / "storage"))
    comparison = "The comparison is inverted: != should be ==. Prüfe auch Umlaute: äöü ß — 日本語 🙂."
    for store in stores:
        text = transcripts(store, [], ("reasoning", "output", "diffs"))[TITLES[0]].text
        assert f"> *Reasoning*\n> {comparison}" in text
        assert "- edit: `app.py` (ok)\n\n```text\nEdit applied successfully.\n```\n\n```diff\n" in text
        assert "\n+    return password == stored\n" in text
    database.close()
