"""Every client with a database, beside OpenCode: damage, unknown versions, and what a client writes meanwhile."""

import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest
from hypothesis import given, settings, strategies as st

from tests.clients_real.scenes import OTHER, SECOND, SUMMARY, TALK
from tests.seeds import TIMES
from tests.sources.sessions.recorded import copied
from tests.sources.sessions.test_codex import calls, said
from tests.sources.sessions.test_every_client import ALL_PARTS, HALF, JSON, mangled
from tests.sources.sessions.test_recorded import MENDED, read
from vault_index.config import ClientConfig, Config
from vault_index.sources.sessions.crush import Crush
from vault_index.sources.sessions.cursor import Cursor
from vault_index.sources.sessions.database_client import DatabaseClient
from vault_index.sources.sessions.goose import Goose
from vault_index.sources.sessions.source import SessionSource


class Case(NamedTuple):
    kind: type[DatabaseClient]
    file: str
    content: tuple[str, str]
    """The table and the column with JSON."""
    odd: tuple[str, ...]
    """Columns to fill with odd values."""
    newest: str
    """Deletes the newest message."""
    unknown: str
    """Changes the schema."""
    told: str


CASES = [
    Case(
        Cursor,
        Cursor.file,
        ("cursorDiskKV", "value"),
        ("cursorDiskKV SET key", "cursorDiskKV SET value"),
        "DELETE FROM cursorDiskKV WHERE key = (SELECT max(key) FROM cursorDiskKV WHERE key LIKE 'bubbleId:%')",
        "ALTER TABLE cursorDiskKV RENAME COLUMN value TO data",
        "no migration is recorded): no cursorDiskKV.value",
    ),
    Case(
        Crush,
        ".crush/crush.db",
        ("messages", "parts"),
        ("sessions SET created_at", "sessions SET parent_session_id", "messages SET role"),
        "DELETE FROM messages WHERE rowid = (SELECT max(rowid) FROM messages)",
        "ALTER TABLE messages RENAME COLUMN parts TO pieces",
        "20260127000000): no messages.parts",
    ),
    Case(
        Goose,
        Goose.file,
        ("messages", "content_json"),
        ("sessions SET created_at", "sessions SET model_config_json", "messages SET metadata_json"),
        "DELETE FROM messages WHERE id = (SELECT max(id) FROM messages)",
        "ALTER TABLE messages RENAME COLUMN content_json TO content",
        "its last migration is 13): no messages.content_json",
    ),
]
every_client = pytest.mark.parametrize("case", CASES, ids=[case.kind.name for case in CASES])


def changed(folder: Path, case: Case, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """Change the database as the client does, in its write-ahead log."""
    database = apsw.Connection(str(folder / case.file))
    rows = database.execute(sql, values).fetchall()
    database.close()
    return rows


@every_client
@settings(max_examples=30 * TIMES)
@given(odd=JSON, seed=st.integers(0, 1 << 30), value=st.none() | st.integers(-(1 << 62), 1 << 62) | st.binary())
def test_database_clients_survive_values_of_any_type(
    tmp_path_factory: pytest.TempPathFactory, case: Case, odd: object, seed: int, value: object
) -> None:
    folder, chance = copied(case.kind.name, tmp_path_factory.mktemp("odd") / "shop"), random.Random(seed)
    table, column = case.content
    database = apsw.Connection(str(folder / case.file))
    for id_, parts in database.execute(f"SELECT rowid, {column} FROM {table}").fetchall():
        text = json.dumps(mangled(json.loads(str(parts)), odd, chance)).replace(HALF, r"\\ud83d")
        database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (text, id_))
    database.execute(f"UPDATE {chance.choice(case.odd)} = coalesce(?, 0)", (value,))
    database.close()
    client = case.kind(folder)
    for listed in client.listing().sessions.values():
        assert abs(listed.stamp.mtime_ns) < 1 << 63
        f"{client.read(listed, ALL_PARTS)}".encode()


@every_client
def test_database_clients_follow_writes_and_report_an_unknown_schema(tmp_path: Path, case: Case) -> None:
    folder = copied(case.kind.name, tmp_path / "shop")
    settings = Config(clients={case.kind.name: ClientConfig(data=(str(folder),))})
    source = SessionSource(settings, case.kind.name)
    before, version = source.scan_places([""]).refs, source.version()
    assert source.version() == version
    changed(folder, case, case.newest)
    after = source.scan_places([""]).refs
    assert source.version() != version
    assert [one.stamp == other.stamp for one, other in zip(before, after, strict=True)].count(False) == 1
    changed(folder, case, case.unknown)
    (problem,) = source.scan_places([""]).problems
    assert problem.code == "client_schema"
    assert case.told in problem.message
    assert source.title in problem.hint


def test_goose_reads_recorded_rows_summaries_and_copies(tmp_path: Path) -> None:
    folder = copied("goose", tmp_path / "goose")
    found = {session.id: (session, messages) for session, messages in read(Goose(folder))}
    session, messages = found["20261118_1"]
    assert (session.title, session.project) == ("Mend the login of the shop", "shop")
    assert said(messages)[:4] == MENDED
    assert {one.model for one in messages if one.speaker == "assistant"} == {"claude-sonnet-4-5"}
    assert [(one.tool, one.target.partition(" ")[0], one.exit) for one in calls(messages)] == [
        ("view", "/home/user/demo/shop/app.py", None),
        ("str_replace", "/home/user/demo/shop/app.py", None),
        ("shell", "python3", 2),
    ]
    session, messages = found["20261118_2"]
    assert session.title == SECOND  # the client has not named it
    assert said(messages) == [
        f"user: {SECOND}", f"assistant: {TALK['second']}", f"summary: {SUMMARY}", f"user: {OTHER}",
        f"assistant: {TALK['other']}",
    ]  # fmt: skip
    case = CASES[-1]
    changed(folder, case, "INSERT INTO sessions (id, working_dir, created_at) VALUES ('copy', '/a', '2026-11-19')")
    columns = "role, content_json, created_timestamp"
    changed(folder, case, f"INSERT INTO messages (session_id, {columns}) SELECT 'copy', {columns} FROM messages")
    source = SessionSource(Config(clients={"goose": ClientConfig(data=(str(folder),))}), "goose")
    text = next(source.read(ref).text for ref in source.scan_places([""]).refs if "copy" in ref.path)
    assert "Forked from [[20261118_1]]" in text
    assert MENDED[1] not in text


def test_cursor_reads_recorded_rows_and_transcripts(tmp_path: Path) -> None:
    folder = copied("cursor", tmp_path / "cursor")
    by_end = {session.id[-1]: (session, messages) for session, messages in read(Cursor(folder))}
    session, messages = by_end["1"]  # its transcript is hidden
    assert (session.title, session.directory) == ("Mend the login of the shop", "/home/user/demo/shop")
    assert said(messages)[:4] == MENDED
    assert [(one.tool, one.target.partition(" ")[0], one.exit) for one in calls(messages)] == [
        ("read_file_v2", "/home/user/demo/shop/app.py", None),
        ("search_replace", "/home/user/demo/shop/app.py", None),
        ("run_terminal_cmd", "python3", 2),
    ]
    session, messages = by_end["2"]
    assert (session.title, session.project, sum(one.tokens for one in messages)) == (SECOND, "shop", 120)
    session, messages = by_end["3"]
    assert said(messages) == [f"user: {OTHER}", "assistant: I look at app.py first.", f"assistant: {TALK['other']}"]
    assert [(one.tool, one.status) for one in calls(messages)] == [("Read", "completed")]
    client = Cursor(folder)
    version, (file,) = client.version(), folder.rglob("*13.jsonl")
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps({"role": "user", "message": {"content": "And then?"}}) + "\n")
    assert client.version() != version
    listed = client.session(session.id)
    assert listed is not None
    assert said(client.read(listed, ()).messages)[-1] == "user: And then?"
    changed(folder, CASES[0], "UPDATE cursorDiskKV SET value = json_set(value, '$._v', 99) WHERE key LIKE 'c%'")
    assert "unknown version 99" in client.listing().problems[0]
