"""Sessions of OpenCode in the index: found, followed, kept apart, and never with what is secret in them."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.api.vaults import rows, write
from tests.sources.opencode.stores import FIXTURES, Client, tool
from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.config.edit import create_config, set_value
from vault_index.errors import UsageError

FIX = "project/ses_e02fa71d5ffeihEmyQeshcxlu5.md"


def open_index(folder: Path, home: str = "home", provider: str = "none", **settings: str) -> VaultIndex:
    """The index of `folder/vault` and of the sessions in `folder/opencode`."""
    place = find_home(folder / home)
    write(folder / "vault", {"login.md": "# Login\n\nThe login compares passwords.\n"})
    create_config(place, folder / "vault", provider=provider, memory_dir=None)
    for key, value in {"enabled": "true", "data": str(folder / "opencode"), **settings}.items():
        set_value(place, f"opencode.{key}", value)
    return VaultIndex.open(place)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    """The real database, beside a note."""
    folder = tmp_path_factory.mktemp("sessions")
    (folder / "opencode").mkdir()
    shutil.copy(FIXTURES / "opencode.db", folder / "opencode")
    with open_index(folder) as index:
        index.sync()
        yield index


def test_a_hit_is_a_turn_with_its_speaker_and_its_time(real: VaultIndex) -> None:
    hit = real.search("naïve café Ελληνικά").results[0]
    assert (hit.kind, hit.source, hit.path, hit.project) == ("session", "opencode", FIX, "project")
    assert hit.headings[0].startswith("Assistant · 2026-11-21 ")
    assert datetime.fromisoformat(hit.created) == datetime(2026, 11, 21, 7, 32, 42, tzinfo=UTC)
    assert datetime.fromisoformat(hit.updated) == datetime(2026, 11, 21, 7, 32, 57, tzinfo=UTC)
    assert not hit.changed_since_index
    focused = real.get(f"{hit.path}:{hit.focus[0]}").results[0].content
    assert focused.startswith("Der Vergleich war umgekehrt")


@pytest.mark.parametrize("word", ["修正しました", "日本語のテスト", "עברית", "Señal", "schlägt", "Grüße"])
def test_every_script_is_found(real: VaultIndex, word: str) -> None:
    assert FIX in [hit.path for hit in real.search(word, kind="session").results]


def test_filters_of_kind_project_and_session(real: VaultIndex) -> None:
    assert {hit.kind for hit in real.search("login kind:session").results} == {"session"}
    assert {hit.path for hit in real.search("login kind:note").results} == {"login.md"}
    assert len(real.list(project="project").results) == 4
    assert [found.path for found in real.list(session="ses_e02fa71d").results] == [FIX]


def test_a_session_is_opened_by_its_id(real: VaultIndex) -> None:
    (found,) = real.get("ses_e02fa71d5ffeihEmyQeshcxlu5", full=True).results
    assert found.content.startswith('---\ntitle: "Scripted session title — Übersicht"\n')
    assert found.metadata is not None
    assert found.metadata["resume"] == "opencode -s ses_e02fa71d5ffeihEmyQeshcxlu5"


def test_a_turn_is_opened_with_the_turns_around_it(real: VaultIndex) -> None:
    hit = real.search("日本語のテスト").results[0]
    (alone,) = real.get(f"{hit.path}:{hit.focus[0]}").results
    (around,) = real.get(f"{hit.path}:{hit.focus[0]}", neighbors=1).results
    assert "## " not in alone.content
    assert [line[:12] for line in around.content.split("\n") if line.startswith("## ")] == [
        "## User · 20",
        "## Assistant",
        "## User · 20",
    ]


def test_a_list_says_how_many_turns_a_session_has(real: VaultIndex) -> None:
    turns = {found.path: found.turns for found in real.list().results}
    assert (turns[FIX], turns["login.md"]) == (6, None)


def test_the_timeline_goes_across_sessions_and_notes(tmp_path: Path, client: Client) -> None:
    client.session()  # on 2026-11-18
    client.user("Hello")
    write(tmp_path / "vault", {f"2026-11-{day}.md": "A day.\n" for day in (17, 19)})
    with open_index(tmp_path) as index:
        index.sync()
        around = index.timeline("ses_a")
        assert [one.path for one in around.before][-1:] == ["2026-11-17.md"]
        assert around.anchor.path == "api/ses_a.md"
        assert [one.path for one in around.after][:1] == ["2026-11-19.md"]


def test_a_note_may_link_to_a_session(tmp_path: Path, client: Client) -> None:
    client.session()
    client.user("Hello")
    write(tmp_path / "vault", {"why.md": "Decided in [[ses_a]].\n"})
    with open_index(tmp_path) as index:
        index.sync()
        assert [(one.path, one.relations) for one in index.related("ses_a").results] == [("why.md", ("backlink",))]
        assert [one.path for one in index.related("why.md").results] == ["api/ses_a.md"]


def test_a_task_and_its_session_are_linked(real: VaultIndex) -> None:
    child, parent = "project/ses_e02fa224effeYR56P6lfU9yV2U.md", "project/ses_e02fa2c21ffeTF61TeyS6jmsWx.md"
    found: dict[str, set[str]] = {path: {one.path for one in real.related(path).results} for path in (child, parent)}
    assert parent in found[child]
    assert child in found[parent]


def test_memories_are_not_written_to_sessions(real: VaultIndex) -> None:
    with pytest.raises(UsageError, match="no memory is written to source 'opencode'"):
        real.add("A fact.", source="opencode")


def test_a_new_turn_costs_the_turn(client: Client, tmp_path: Path) -> None:
    client.session()
    for number in range(5):
        client.user(f"Question {number} about the weather")
        client.assistant(f"Answer {number}: it rains")
    with open_index(tmp_path, provider="local") as index:
        index.sync()
        before = chunk_ids(index)
        client.run("UPDATE session SET title = 'A session'")
        client.user("One more")
        report = index.sync()
        after = chunk_ids(index)
    assert (report.changed, report.embedded) == (1, 1)
    assert set(before) < set(after)
    assert len(after) == len(before) + 1


def test_whatever_a_client_does_the_index_is_that_of_a_fresh_build(client: Client, tmp_path: Path) -> None:
    with open_index(tmp_path) as index:

        def follow() -> None:
            index.sync()
            with open_index(tmp_path, home="fresh") as fresh:
                fresh.sync()
                assert rows(index.home.index_db) == rows(fresh.home.index_db)
            shutil.rmtree(tmp_path / "fresh")

        client.session("ses_a", "New session")
        first = client.user("First")
        follow()
        client.assistant("Answer", tool("bash", {"command": "ls"}, metadata={"exit": 1}))
        client.run("UPDATE session SET title = 'It has a name'")
        follow()
        second = client.user("Second")
        client.assistant("In the mid", done=False)
        client.fork("ses_a", "ses_f", until=second)
        follow()
        client.run("UPDATE session SET revert = json_object('messageID', ?) WHERE id = 'ses_a'", second)
        client.user("New in the fork", session="ses_f")
        follow()
        client.run("DELETE FROM message WHERE session_id = 'ses_a' AND id <> ?", first)
        client.run("UPDATE session SET revert = NULL")
        follow()
        client.run("DELETE FROM session WHERE id = 'ses_a'")
        follow()
        assert [found.path for found in index.list(kind="session").results] == ["api/ses_f.md"]


def test_what_cannot_be_read_is_kept_and_named(client: Client, tmp_path: Path) -> None:
    client.begin("A heron at the lake")
    with open_index(tmp_path) as index:
        index.sync()
        client.run("INSERT INTO migration VALUES ('20300101_all_is_new', 0)")
        client.run("ALTER TABLE part RENAME TO piece")
        report = index.sync()
        assert report.removed == 0
        (problem,) = report.problems
        assert "20300101_all_is_new" in problem.message
        assert [found.code for found in index.status().problems] == ["opencode_schema"]
        assert [hit.path for hit in index.search("heron").results] == ["api/ses_a.md"]
        client.run("ALTER TABLE piece RENAME TO part")
        index.sync()
        assert index.status().problems == ()


def test_sessions_whose_folder_is_gone_are_kept(client: Client, tmp_path: Path) -> None:
    client.begin("A heron at the lake")
    with open_index(tmp_path) as index:
        index.sync()
        (tmp_path / "opencode").rename(tmp_path / "unmounted")
        (problem,) = index.sync().problems
        assert problem.code == "source_vanished"
        assert "opencode.data" in problem.hint
        assert [hit.path for hit in index.search("heron").results] == ["api/ses_a.md"]


def test_a_broken_part_is_named_and_the_rest_is_found(client: Client, tmp_path: Path) -> None:
    client.session()
    message = client.user("A heron at the lake")
    client.part(message, '{"type": "text", "te', "prt_bad")
    with open_index(tmp_path) as index:
        index.sync()
        (problem,) = index.status().problems
        assert problem.message.startswith(f"api/ses_a.md: part prt_bad of message {message} cannot be read")
        assert [hit.path for hit in index.search("heron").results] == ["api/ses_a.md"]


SECRETS = {
    "github": "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "aws": "AKIAQ3EGRVZTN4W7M2XB",
    "anthropic": "sk-ant-api03-" + "Zk3vT9qL1xWm8RbNc5Yd" * 4 + "-AA",
    "slack": "xoxb-" + "123456789012-1234567890123-" + "aBcDeFgHiJkLmNoPqRsTuVwX",
    "url": "postgres://admin:Tr0ub4dor-and-3@db.example.org/app",
}


def test_a_secret_is_nowhere_and_its_session_is_named(client: Client, tmp_path: Path) -> None:
    client.session(title=f"Rotate {SECRETS['github']}")
    for number, secret in enumerate(SECRETS.values()):
        client.user(f"Use {secret} for number {number}")
        client.assistant(tool("bash", {"command": f"curl -H 'x: {secret}'"}, output=secret), f"I used {secret}.")
    with open_index(tmp_path, provider="local", include="reasoning,output,diffs") as index:
        index.sync()
        (problem,) = index.status().problems
        stored = b"".join(file.read_bytes() for file in (tmp_path / "home").rglob("*") if file.is_file())
        words = terms(index)
    assert problem.code == "redacted"
    assert problem.message.startswith("1 session holds credentials: api/ses_a.md: ")
    for kind, secret in SECRETS.items():
        hidden = "Tr0ub4dor-and-3" if kind == "url" else secret
        assert hidden.encode() not in stored, kind
        assert hidden.lower() not in words, kind


def test_excluded_projects_leave_the_index(client: Client, tmp_path: Path) -> None:
    client.begin("A heron at the lake")
    with open_index(tmp_path) as index:
        index.sync()
    with open_index(tmp_path, exclude="api") as index:
        assert index.sync().removed == 1


def test_sessions_that_are_switched_off_leave_the_index(client: Client, tmp_path: Path) -> None:
    client.begin("A heron at the lake")
    with open_index(tmp_path) as index:
        index.sync()
    with open_index(tmp_path, enabled="false") as index:
        assert index.sync().removed == 1


def chunk_ids(index: VaultIndex) -> list[Any]:
    connection = apsw.Connection(str(index.home.index_db))
    try:
        return connection.execute("SELECT id, embed_key FROM chunk ORDER BY ordinal").fetchall()
    finally:
        connection.close()


def terms(index: VaultIndex) -> set[str]:
    connection = apsw.Connection(str(index.home.index_db))
    try:
        return {str(word) for (word,) in connection.execute("SELECT word FROM term")}
    finally:
        connection.close()
