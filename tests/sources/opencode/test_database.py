from pathlib import Path

import apsw
import pytest

from tests.sources.opencode.stores import Client, messages, one
from vault_index.errors import BusyError, VaultIndexError
from vault_index.sources.opencode.database import Database
from vault_index.sources.opencode.entries import read_messages
from vault_index.sources.sessions import client_database
from vault_index.sources.sessions.client_database import UnknownSchemaError
from vault_index.sources.sessions.model import Text


def read(client: Client, problems: list[str] | None = None, session: str = "ses_a") -> list[str]:
    store = Database(client.path)
    try:
        found = messages(store, session, problems)
    finally:
        store.close()
    return [part.text for message in found for part in message.parts if isinstance(part, Text)]


def test_database_reads_during_a_transaction_of_the_client(client: Client) -> None:
    client.session()
    client.user("first")
    client.run("BEGIN IMMEDIATE")
    client.user("second, not yet committed")
    assert read(client) == ["first"]
    client.run("COMMIT")
    store = Database(client.path)
    reading = store.messages("ses_a", [])
    next(reading)
    client.user("third")  # an open reader does not block writes of a client
    assert len(list(reading)) == 1  # the state at its beginning
    with pytest.raises(apsw.ReadOnlyError):
        store._connection.execute("DELETE FROM session")
    store.close()


def test_database_orders_by_time_then_id(client: Client) -> None:
    client.session()
    client.user("wrapped", id_="msg_0001")  # ids restart every 795 days
    client.user("later", id_="msg_fff1")
    at = client.tick()
    for id_ in ("msg_b", "msg_a"):
        client.message("ses_a", at, {"role": "user", "time": {"created": at}}, id_)
        client.part(id_, {"type": "text", "text": id_})
    assert read(client) == ["wrapped", "later", "msg_a", "msg_b"]


def test_database_names_broken_rows_and_reads_the_rest(client: Client) -> None:
    client.session()
    before = client.user("before")
    client.run("INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES"
               " ('prt_z', ?, 'ses_a', 9e12, 0, CAST(x'7b22ff227d' AS TEXT))", before)  # fmt: skip
    broken = client.user("", id_="msg_broken")
    client.part(broken, '{"type": "text", "te', "prt_bad")
    client.part(broken, {"type": "text", "text": "beside it"})
    client.message("ses_a", client.tick(), "not JSON", "msg_bad")
    client.message("ses_a", client.tick(), {"role": "narrator"}, "msg_role")
    client.message("ses_a", client.tick(), {"role": "user", "time": {}}, "msg_empty")
    client.user("after")
    problems: list[str] = []
    assert read(client, problems) == ["before", "", "beside it", "after"]
    named = (
        f"part prt_z of message {before} cannot be read (nested too deeply or not UTF-8)",
        "part prt_bad of message msg_broken", "message msg_bad cannot be read", "message msg_role has an unknown",
        "message msg_empty has no parts",
    )  # fmt: skip
    assert [problem.startswith(words) for problem, words in zip(problems, named, strict=True)] == [True] * 5


def test_database_accepts_missing_newer_columns(client: Client) -> None:
    client.session(parent_id=None)
    client.user("still read")
    for column in ("revert", "version", "slug"):
        client.run(f"ALTER TABLE session DROP COLUMN {column}")
    assert read(client) == ["still read"]


def test_database_refuses_other_files(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_text("not a database, but long enough to have a header of sixteen bytes and more")
    with pytest.raises(VaultIndexError, match="damaged"):
        Database(path)
    path.unlink()
    with pytest.raises(VaultIndexError, match="cannot be read"):
        Database(path)
    apsw.Connection(str(path)).close()
    with pytest.raises(UnknownSchemaError, match="no migration is recorded"):
        Database(path)


@pytest.mark.parametrize(
    ("sql", "limit", "reason"),
    [
        ("CREATE VIEW part AS SELECT * FROM piece", {}, "access to view"),
        ("CREATE VIEW part AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
         " SELECT piece.* FROM piece, n", {}, "cannot be read"),
        ("CREATE VIRTUAL TABLE part USING fts5 (id, message_id, session_id, time_created, data)", {}, "no such module"),
        ("CREATE TABLE part AS SELECT * FROM piece", {"_SECONDS": -1.0}, "interrupted"),
        ("CREATE TABLE part AS SELECT * FROM piece", {"_MOST_BYTES": 100}, "of rows"),
    ],
)  # fmt: skip
def test_database_reads_tables_only_and_within_limits(
    client: Client, monkeypatch: pytest.MonkeyPatch, sql: str, limit: dict[str, float], reason: str
) -> None:
    client.session()
    client.user("Hello")
    client.run("ALTER TABLE part RENAME TO piece")
    client.run(sql)
    for name, value in limit.items():
        monkeypatch.setattr(client_database, name, value)
    monkeypatch.setattr(client_database, "_OPERATIONS", 1)
    with pytest.raises(VaultIndexError, match=reason):
        read(client)


def test_database_names_and_skips_a_huge_value(client: Client) -> None:
    client.session()
    message = client.user("before")
    client.run("UPDATE session SET revert = zeroblob(?)", client_database.LARGEST_VALUE + 1)
    client.run("INSERT INTO part SELECT 'prt_huge', message_id, session_id, 0, 0, zeroblob(40000000) FROM part")
    client.message("ses_a", client.tick(), {"role": "user"}, "msg_huge")
    client.run("UPDATE message SET data = zeroblob(40000000) WHERE id = 'msg_huge'")
    problems: list[str] = []
    assert read(client, problems) == ["before"]
    assert [problem.partition(" cannot")[0] for problem in problems] == [
        f"part prt_huge of message {message}", "message msg_huge",
    ]  # fmt: skip


def test_database_that_is_locked_is_reported_as_busy(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault_index.sources.sessions.client_database._BUSY_MS", 1)
    client.session()
    client.connection.pragma("locking_mode", "exclusive")
    client.user("mine alone")
    with pytest.raises(BusyError, match="locked by OpenCode"):
        Database(client.path)


def test_database_never_reads_secrets_in_the_same_file(client: Client, tmp_path: Path) -> None:
    client.session()
    client.user("hello")
    client.run("INSERT INTO account (id, email, url, access_token, refresh_token, time_created, time_updated)"
               " VALUES ('a', 'e', 'u', 'at', 'rt', 0, 0)")  # fmt: skip
    tables: set[str] = set()
    store = Database(client.path)

    def note(operation: int, table: str | None, *_: object) -> int:
        if operation == apsw.SQLITE_READ and table:
            tables.add(table)
        return apsw.SQLITE_OK

    store._connection.authorizer = note
    messages(store, "ses_a")
    store.session("ses_a")
    store.times("ses_a")
    store.close()
    assert tables - {"sqlite_master", "json_each"} == {"session", "project", "message", "part", "session_message"}


def test_database_reads_known_rows_of_the_v2_api(client: Client) -> None:
    client.session()
    client.user("by the old way")
    rows: list[tuple[str, str]] = [
        ("user", '{"text": "Prompt of v2", "files": [{"name": "notes.md"}]}'),
        ("synthetic", '{"text": "not said by anybody"}'),
        ("agent-switched", '{"agent": "plan"}'),
        ("assistant", '{"agent": "plan", "model": {"id": "m", "providerID": "p"}, "time": {"completed": 5}, "content":'
         ' [{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "Answer of v2"}, {"type": "tool", "name":'
         ' "bash", "state": {"status": "completed", "input": {"command": "ls"}, "structured": {"exit": 0}}}]}'),
        ("shell", '{"command": "make", "output": "long", "time": {"completed": 5}}'),
        ("compaction", '{"reason": "auto", "summary": "What was done", "recent": "…"}'),
        ("from-the-future", '{"anything": 1}'),
    ]  # fmt: skip
    for seq, (kind, data) in enumerate(rows):
        at = client.tick()
        client.run(
            "INSERT INTO session_message VALUES (?, 'ses_a', ?, ?, ?, ?, ?)", f"v2_{seq}", kind, seq, at, at, data
        )
    problems: list[str] = []
    text = one(client.path, problems=problems)
    assert problems == []
    assert 'agent: "plan"\nmodel: "p/m"\n' in text
    assert text.split("\n---\n\n")[1].replace("2026-11-18 11:06", "T").replace("2026-11-18 11:07", "T") == (
        "## User · T\n\nby the old way\n\n## User · T\n\nPrompt of v2\n\n- file: `notes.md`\n\n"
        "## Assistant · T\n\nAnswer of v2\n\n- bash: `ls` (exit 0)\n\n## User · T\n\n- shell: `make` (ok)\n\n"
        "## Compaction summary · T\n\nWhat was done\n"
    )


def test_database_counts_a_message_in_both_forms_once(client: Client) -> None:
    client.session()
    message = client.user("said once")
    client.run("INSERT INTO session_message VALUES (?, 'ses_a', 'user', 0, ?, ?, ?)", message, client.tick(), 0,
               '{"text": "said once"}')  # fmt: skip
    assert read(client) == ["said once"]


def test_database_reads_no_partial_session_after_a_temporary_error(client: Client) -> None:
    client.session()
    client.user("Hello")
    store = Database(client.path)
    (listed,) = store.sessions([])
    client.run("ALTER TABLE part RENAME TO piece")  # by an upgrade, between two of our queries
    problems: list[str] = []
    with pytest.raises(VaultIndexError, match="no such table"):
        list(read_messages(store.messages(listed.session.id, problems), None, (), problems))
    store.close()
