"""Members: login roles with rights of their own, and servers that may become them."""

from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.team.machines import Laptop, paths
from vault_index.callers import Caller, Scope
from vault_index.config import ChunkConfig
from vault_index.errors import NotFoundError, PoolError, UsageError
from vault_index.serve.pool import PoolBackend
from vault_index.team.database import connect, translated
from vault_index.team.files import digests, put_file
from vault_index.team.members import add_member, add_server, members, remove_member

NAMES = ("anna", "ben", "host")


@pytest.fixture
def team(pool_dsn: str) -> "dict[str, str]":
    """The addresses of the members; roles belong to the whole server, so they are dropped first."""
    with connect(pool_dsn) as pool:
        for name in NAMES:
            pool.execute(f"DROP ROLE IF EXISTS {name}")
        add_member(pool, Caller("anna", True), expires=None)
        add_member(pool, Caller("ben", True, Scope(("notes", "team"), ("/work/",), ())), expires=None)
        add_server(pool, "host", password="not printed")
    return {name: make_conninfo(pool_dsn, user=name) for name in NAMES}


def test_members_publish_and_see_their_scope(team: dict[str, str], tmp_path: Path) -> None:
    anna = Laptop(tmp_path / "anna", team["anna"])
    anna.write("home.md", "at home")
    anna.write("work/plan.md", "at work")
    assert anna.publish().published == 2
    assert paths(team["anna"]) == {"home.md", "work/plan.md"}
    assert paths(team["ben"]) == {"work/plan.md"}
    ben = Laptop(tmp_path / "ben", team["ben"])
    ben.write("mine.md", "of ben")
    with pytest.raises(UsageError, match="belongs to another member"):
        ben.publish(take=True)


def test_private_source_is_seen_by_its_owner_alone(team: dict[str, str], tmp_path: Path) -> None:
    anna = Laptop(tmp_path / "anna", team["anna"], 'private = ["notes"]')
    anna.write("work/plan.md", "at work")
    anna.publish()
    assert paths(team["anna"]) == {"work/plan.md"}
    assert paths(team["ben"]) == set()
    anna.configure()
    anna.publish()
    assert paths(team["ben"]) == {"work/plan.md"}


def test_members_write_shared_files_in_their_scope(team: dict[str, str]) -> None:
    with connect(team["ben"]) as pool:
        put_file(pool, "work/a.md", "by ben", None, ChunkConfig())
        with pytest.raises(PoolError, match="refuses"), translated():
            put_file(pool, "home/a.md", "by ben", None, ChunkConfig())
    with connect(team["anna"]) as pool:
        put_file(pool, "home/b.md", "by anna", None, ChunkConfig())
        assert list(digests(pool)) == ["home/b.md", "work/a.md"]
    with connect(team["ben"]) as pool:
        assert list(digests(pool)) == ["work/a.md"]


def test_members_without_write_access_mirror_what_they_see(team: dict[str, str], pool_dsn: str, tmp_path: Path) -> None:
    with connect(pool_dsn) as pool:
        pool.execute("UPDATE member SET writes = false WHERE role = 'ben'")
        for path in ("work/a.md", "home/b.md"):
            put_file(pool, path, "a memory", None, ChunkConfig())
    settings = 'sources = []\nmirror = "80-memory/team"'
    ben = Laptop(tmp_path / "ben", team["ben"], settings, embedder="local")
    assert ben.exchange().pulled == 1
    assert ben.exchange().problems == ()
    ben.write("80-memory/team/work/a.md", "edited by ben")
    [problem] = ben.exchange().problems
    assert "work/a.md was not exchanged" in problem.message
    assert ben.read("80-memory/team/work/a.md") == "edited by ben"


def test_password_of_a_role_is_stored_as_a_hash(team: dict[str, str], pool_dsn: str) -> None:
    with connect(pool_dsn) as pool:
        [(stored,)] = pool.execute("SELECT rolpassword FROM pg_authid WHERE rolname = 'host'").fetchall()
    assert stored.startswith("SCRAM-SHA-256$")


def test_server_becomes_members_and_nothing_else(team: dict[str, str]) -> None:
    with connect(team["host"]) as pool:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            pool.execute("SELECT * FROM document")
        pool.execute("SET ROLE ben")
        assert pool.execute("SELECT current_user").fetchone() == ("ben",)
        pool.execute("RESET ROLE")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            pool.execute("CREATE ROLE other")


def test_members_are_listed_and_removed(team: dict[str, str], pool_dsn: str) -> None:
    with connect(pool_dsn) as pool:
        assert [(one["name"], one["folders"]) for one in members(pool)] == [("anna", []), ("ben", ["work"])]
        with pytest.raises(UsageError, match="exists already"):
            add_member(pool, Caller("anna"), expires=None)
        with pytest.raises(UsageError, match="cannot be the name"):
            add_member(pool, Caller('x"; DROP'), expires=None)
        remove_member(pool, "ben")
        remove_member(pool, "host")
        with pytest.raises(NotFoundError):
            remove_member(pool, "ben")
        assert [one["name"] for one in members(pool)] == ["anna"]
    with pytest.raises(PoolError):
        connect(team["ben"])


def test_server_stores_the_memory_of_a_member(team: dict[str, str], pool_dsn: str, tmp_path: Path) -> None:
    laptop = Laptop(tmp_path / "host", team["host"], embedder="local")
    backend = PoolBackend(laptop.home)
    ben = Caller("ben", True, Scope(("notes", "team"), ("work",), ()))
    try:
        stored = backend.call("add", {"text": "Deploys happen on Tuesdays", "type": "decision"}, ben)
        assert stored["path"].startswith("work/decision/")
        found = backend.call("search", {"query": "when do we ship a release"}, ben)
        assert [one["path"] for one in found["results"]] == [stored["path"]]
        again = backend.call("add", {"text": "Deploys happen on Tuesdays", "type": "decision"}, ben)
        assert again["path"] == stored["path"].replace(".md", " 2.md")
        with pytest.raises(PoolError, match="refuses"):
            backend.call("add", {"text": "elsewhere", "path": "home/x"}, ben)
        with pytest.raises(UsageError, match="AWS"):
            backend.call("add", {"text": "AKIA" + "Z7Q4N2X5K8M3W6T9"}, ben)
    finally:
        backend.connections.close()
    with connect(pool_dsn) as pool:
        assert pool.execute("SELECT DISTINCT author::text FROM file").fetchall() == [("ben",)]
