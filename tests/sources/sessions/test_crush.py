"""The databases of Crush, in projects."""

import json
from pathlib import Path

import apsw

from tests.clients_real.scenes import MEND
from tests.sources.sessions.recorded import copied
from tests.sources.sessions.test_codex import calls, said
from tests.sources.sessions.test_recorded import MENDED
from vault_index.config import Config
from vault_index.config.schema import ClientConfig
from vault_index.sources.sessions.clients import open_client
from vault_index.sources.sessions.crush import Crush
from vault_index.sources.sessions.model import Message

SESSION = "6f1d3a52-1c5e-4d0e-9a44-0f2b8a4e7c11"
HELPER = "b1d2f3a4-0000-4000-8000-000000000010--toolu_00040"


def run(folder: Path, sql: str, values: tuple[object, ...] = ()) -> None:
    """Change the database as the client does, in its write-ahead log."""
    database = apsw.Connection(str(folder / ".crush/crush.db"))
    database.execute(sql, values)
    database.close()


def read(client: Crush, id_: str = SESSION) -> list[Message]:
    listed = client.session(id_)
    assert listed is not None
    return client.read(listed, ()).messages


def test_crush_reads_a_session_and_its_subagent(tmp_path: Path) -> None:
    client = Crush(copied("crush", tmp_path / "shop"))
    messages, sessions = read(client), client.listing().sessions
    assert sessions[SESSION].session.title == MEND
    assert {one.session.project for one in sessions.values()} == {"shop"}
    assert said(messages)[:4] == MENDED
    assert [(one.tool, Path(one.target).name, one.exit) for one in calls(messages)] == [
        ("view", "app.py", None),
        ("edit", "app.py", None),
        ("bash", "no-such-shelf", 2),
    ]
    assert sessions[HELPER].session.parent == SESSION
    assert said(read(client, HELPER))[-1] == "assistant: One use of check(), in app.py."
    (other,) = sessions.keys() - {SESSION, HELPER}
    assert [(one.target, one.exit) for one in calls(read(client, other))] == [("ls shelf", 0)]


def test_crush_shows_new_messages_and_a_summary(tmp_path: Path) -> None:
    client = Crush(copied("crush", tmp_path / "shop"))
    before = client.version()
    parts = json.dumps([{"type": "text", "data": {"text": "We looked."}}])
    columns = "id, session_id, role, parts, created_at, updated_at, is_summary_message"
    new = ("new", SESSION, "assistant", parts, 1_795_733_000, 1_795_733_000, 1)
    stamp = client.listing().sessions[SESSION].stamp
    run(tmp_path / "shop", f"INSERT INTO messages ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", new)
    assert client.version() != before
    assert client.listing().sessions[SESSION].stamp != stamp
    last = read(client)[-1]
    assert (said([last]), last.finished) == (["summary: We looked."], False)
    error = {"type": "finish", "data": {"reason": "error", "message": "overloaded"}}
    run(tmp_path / "shop", "UPDATE messages SET parts = ? WHERE id = 'new'", (json.dumps([error]),))
    assert read(client)[-1].error == "overloaded"


def test_crush_is_found_in_its_list_and_in_projects_of_other_clients(tmp_path: Path) -> None:
    for name in ("listed", "shop", "unknown"):
        copied("crush", tmp_path / name)
    data = tmp_path / "data"
    data.mkdir()
    projects = [{"path": str(tmp_path / "listed"), "data_dir": str(tmp_path / "listed/.crush")}]
    (data / "projects.json").write_text(json.dumps({"projects": projects}), "utf-8")
    pi = copied("pi", tmp_path / "pi")
    for file in pi.rglob("*.jsonl"):
        file.write_text(file.read_text("utf-8").replace("/home/user/demo/shop", str(tmp_path / "shop")), "utf-8")
    clients = {"crush": ClientConfig(data=(str(data),)), "pi": ClientConfig(data=(str(pi),))}
    config = Config(clients=clients, sessions_dir=tmp_path / "kept")
    client = open_client("crush", config)
    assert isinstance(client, Crush)
    (data / "projects.json").rename(tmp_path / "projects.json")
    assert client.present()
    (tmp_path / "projects.json").rename(data / "projects.json")
    listed = client.listing().sessions[SESSION]
    assert [path.parents[1].name for path in client.databases()] == ["listed", "shop"]
    assert {*client.watched()} == {data, tmp_path / "listed/.crush", tmp_path / "shop/.crush"}
    assert client.concerns(f"{data}/projects.json")
    again = open_client("crush", config)
    assert again.present()
    assert [path.name for path in again.in_projects()] == ["crush.db"]  # stored
    run(tmp_path / "listed", "DELETE FROM sessions")
    assert client.deleted(listed)
    (tmp_path / "listed/.crush/crush.db").unlink()
    assert not client.deleted(listed)
