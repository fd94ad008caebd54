"""OpenCode sessions in the index: found, updated, and free of secrets."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.api.vaults import rows, write
from tests.indexer.test_session_secrets import SECRETS, forms_of
from tests.sources.opencode.stores import FIXTURES, Client, tool
from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.config.edit import create_config, set_value
from vault_index.errors import UsageError
from vault_index.results.base import Problem

FIX = "project/ses_e02fa71d5ffeihEmyQeshcxlu5.md"


def open_index(folder: Path, home: str = "home", provider: str = "none", **settings: str) -> VaultIndex:
    """The index of `folder/vault` and of the sessions in `folder/opencode`."""
    place = find_home(folder / home)
    write(folder / "vault", {"login.md": "# Login\n\nThe login compares passwords.\n"})
    create_config(place, folder / "vault", provider=provider, memory_dir=None)
    for key, value in {"enabled": "true", "data": str(folder / "opencode"), **settings}.items():
        set_value(place, "sessions.mirror" if key == "mirror" else f"sessions.opencode.{key}", value)
    return VaultIndex.open(place)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    """The real database, with a note."""
    folder = tmp_path_factory.mktemp("sessions")
    (folder / "opencode").mkdir()
    shutil.copy(FIXTURES / "opencode.db", folder / "opencode")
    with open_index(folder) as index:
        index.sync()
        yield index


def test_search_hit_in_a_session_is_a_turn_with_speaker_and_time(real: VaultIndex) -> None:
    hit = real.search("naïve café Ελληνικά").results[0]
    assert (hit.kind, hit.source, hit.path, hit.project) == ("session", "opencode", FIX, "project")
    assert hit.headings[0].startswith("Assistant · 2026-11-21 ")
    assert datetime.fromisoformat(hit.created) == datetime(2026, 11, 21, 7, 32, 42, tzinfo=UTC)
    assert datetime.fromisoformat(hit.updated) == datetime(2026, 11, 21, 7, 32, 57, tzinfo=UTC)
    assert not hit.changed_since_index
    focused = real.get(f"{hit.path}:{hit.focus[0]}").results[0].content
    assert focused.startswith("Der Vergleich war umgekehrt")


def test_search_filters_sessions_by_kind_project_and_id(real: VaultIndex) -> None:
    assert {hit.kind for hit in real.search("login kind:session").results} == {"session"}
    assert {hit.path for hit in real.search("login kind:note").results} == {"login.md"}
    assert len(real.list(project="project").results) == 4
    assert [found.path for found in real.list(session="ses_e02fa71d").results] == [FIX]
    turns = {found.path: found.turns for found in real.list().results}
    assert (turns[FIX], turns["login.md"]) == (6, None)


def test_get_opens_a_session_by_its_id(real: VaultIndex) -> None:
    (found,) = real.get("ses_e02fa71d5ffeihEmyQeshcxlu5", full=True).results
    assert found.content.startswith('---\ntitle: "Scripted session title — Übersicht"\n')
    assert found.metadata is not None
    assert found.metadata["resume"] == "opencode -s ses_e02fa71d5ffeihEmyQeshcxlu5"


def test_add_refuses_a_source_of_sessions(real: VaultIndex) -> None:
    with pytest.raises(UsageError, match="source 'opencode' cannot store memories"):
        real.add("A fact.", source="opencode")


def test_sync_embeds_only_the_new_turn(client: Client, tmp_path: Path) -> None:
    client.session()
    for number in range(5):
        client.user(f"Question {number} about the weather")
        client.assistant(f"Answer {number}: it rains")
    with open_index(tmp_path, provider="local") as index:
        index.sync()
        before = run(index, "SELECT id, embed_key FROM chunk ORDER BY ordinal")
        client.run("UPDATE session SET title = 'A session'")
        client.user("One more")
        report = index.sync()
        after = run(index, "SELECT id, embed_key FROM chunk ORDER BY ordinal")
    assert (report.changed, report.embedded) == (1, 1)
    assert set(before) < set(after)
    assert len(after) == len(before) + 1


def test_sync_after_each_step_of_a_client_equals_a_fresh_build(client: Client, tmp_path: Path) -> None:
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


def test_sync_keeps_and_names_unreadable_sessions(client: Client, tmp_path: Path) -> None:
    client.begin("A heron at the lake")
    with open_index(tmp_path) as index:

        def sync() -> Problem:
            report = index.sync()
            assert report.removed == 0
            assert [hit.path for hit in index.search("heron").results] == ["api/ses_a.md"]
            (problem,) = report.problems
            return problem

        index.sync()
        client.run("INSERT INTO migration VALUES ('20300101_all_is_new', 0)")
        client.run("ALTER TABLE part RENAME TO piece")
        assert "20300101_all_is_new" in sync().message
        assert [found.code for found in index.status().problems] == ["client_schema"]
        client.run("ALTER TABLE piece RENAME TO part")
        assert index.sync().problems == ()
        (tmp_path / "opencode").rename(tmp_path / "unmounted")
        problem = sync()
        assert problem.code == "source_vanished"
        assert "sessions.opencode.data" in problem.hint
        (tmp_path / "unmounted").rename(tmp_path / "opencode")
        message = client.user("More")
        client.part(message, '{"type": "text", "te', "prt_bad")
        index.sync()
        (problem,) = index.status().problems
        assert problem.message.startswith(f"api/ses_a.md: part prt_bad of message {message} cannot be read")
        client.run("UPDATE session SET revert = json_object('messageID', ?)", message)
        index.sync()
        (problem,) = index.status().problems
        assert problem.message == "1 session holds messages that are left out: api/ses_a.md: 1 rewound message"


@pytest.mark.parametrize("settings", [{"exclude": "api"}, {"enabled": "false"}])
def test_sync_removes_excluded_sessions(client: Client, tmp_path: Path, settings: dict[str, str]) -> None:
    client.begin("A heron at the lake")
    with open_index(tmp_path) as index:
        index.sync()
    with open_index(tmp_path, **settings) as index:
        assert index.sync().removed == 1


def test_sync_indexes_no_secrets_of_a_session(client: Client, tmp_path: Path) -> None:
    secrets = [said for said, _ in SECRETS.values()]
    client.session(title=f"Rotate {secrets[0]}")
    for number, secret in enumerate(secrets):
        client.user(f"Use {secret} for number {number}")
        client.assistant(tool("bash", {"command": f"curl -H 'x: {secret}'"}, output=secret), f"I used {secret}.")
    with open_index(tmp_path, provider="local", include="reasoning,output,diffs") as index:
        index.sync()
        (problem,) = index.status().problems
        stored = b"".join(file.read_bytes() for file in (tmp_path / "home").rglob("*") if file.is_file())
        words = {str(word) for (word,) in run(index, "SELECT word FROM term")}
    assert problem.code == "redacted"
    assert problem.message.startswith("1 session holds credentials: api/ses_a.md: ")
    for kind, (_, hidden) in SECRETS.items():
        assert not any(form in stored for form in forms_of(hidden)), kind
        assert hidden.lower() not in words, kind


def run(index: VaultIndex, statement: str) -> list[Any]:
    with closing(apsw.Connection(str(index.home.index_db))) as connection:
        return connection.execute(statement).fetchall()
