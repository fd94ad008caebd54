"""Nothing outside a member's rights: random vaults, members and queries, through a server and in SQL."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.api.vaults import indexed
from tests.seeds import seeds
from tests.team.conftest import new_pool
from tests.team.loading import AVERAGE, rows_of
from tests.team.test_contract import text_row
from tests.world import World
from vault_index.callers import Caller, Scope
from vault_index.serve.pool import PoolBackend
from vault_index.store.writer import DocumentRow
from vault_index.team.database import connect
from vault_index.team.members import add_member
from vault_index.team.rows import put_documents
from vault_index.team.statements import Connected, as_postgres

WORDS = [
    "heron",
    "otter",
    "bread",
    "river",
    "pond",
    "rye",
    "sourdough",
    "lantern",
    "glimmer",
    "brook",
    "useEffect",
    "全文検索",
    "cabinet",
    "quarrel",
]
FOLDERS = ("", "work", "work/acme", "work/acmes", "home")
PROJECTS = ("", "acme", "River", "acme works")
OF_ZONES = ("document", "chunk", "tag", "alias", "link", "embedding", "term", "file", "file_version")


def random_notes(chance: random.Random) -> dict[str, str]:
    notes = {}
    for number in range(24):
        words = [chance.choice(WORDS) + chance.choice(("", "", "s", str(number))) for _ in range(12)]
        project = chance.choice(PROJECTS)
        head = f"---\ntags: [t{chance.randrange(4)}]\n" + (f"project: {project}\n" if project else "") + "---\n"
        text = f"# {words[0].title()} {number}\n\n{' '.join(words)}\n\nSee [[n{chance.randrange(24)}|{words[1]}]].\n"
        notes[f"{chance.choice(FOLDERS)}/n{number}.md".lstrip("/")] = head + text
    return notes


def random_scope(chance: random.Random) -> Scope:
    folders = chance.sample(FOLDERS[1:], chance.randrange(3))
    projects = chance.sample(PROJECTS[1:], chance.randrange(2))
    return Scope(folders=tuple(folders), projects=tuple(projects))


def fill(dsn: str, rows: list[DocumentRow]) -> None:
    with connect(dsn) as pool, pool.transaction():
        pool.execute("INSERT INTO source (name) VALUES ('vault'), ('private')")
        pool.execute("UPDATE source SET private = true WHERE name = 'private'")
        put_documents(pool, [(row, b"") for row in rows], AVERAGE)
        if rows:
            pool.execute("INSERT INTO vector_space (provider, model, dimensions, endpoint) VALUES ('x', 'x', 2, '')")
            pool.execute(
                "INSERT INTO embedding (space_id, zone_id, key, data)"
                " SELECT DISTINCT 1, zone_id, embed_key, '[1,0]'::halfvec FROM chunk"
            )
            pool.execute(
                "INSERT INTO file (source, path, zone_id, text) SELECT source, path, zone_id, '' FROM document"
            )


def backend_at(folder: Path, dsn: str) -> PoolBackend:
    return PoolBackend(World(folder, f'[pool]\ndsn = "{dsn}"\n').home)


@pytest.mark.parametrize("seed", seeds(2))
def test_members_see_a_pool_of_their_documents_alone(seed: int, postgres: str, tmp_path: Path) -> None:
    chance = random.Random(seed)
    with indexed(tmp_path, random_notes(chance)) as index:
        rows = rows_of(index)
    whole = new_pool(postgres)
    dsn = next(whole)
    fill(dsn, rows)
    server = backend_at(tmp_path / "whole", dsn)
    callers = [Caller(f"leak_{seed % 10**9}_{number}", False, random_scope(chance)) for number in range(3)]
    with connect(dsn) as owner:
        for caller in callers:
            add_member(owner, caller, expires=None)
        try:
            for caller in callers:
                mine = [row for row in rows if caller.scope.holds(row.source, row.path, row.project)]
                compare(server, caller, mine, chance, postgres, tmp_path)
                check_sql(dsn, caller, callers, {row.path for row in mine})
        finally:
            server.connections.close()
            for caller in callers:
                owner.execute(f"DROP ROLE {caller.name}")
    next(whole, None)


def compare(
    server: PoolBackend, caller: Caller, mine: list[DocumentRow], chance: random.Random, postgres: str, folder: Path
) -> None:
    """Compare all answers with those of a pool that holds only the visible documents."""
    part = new_pool(postgres)
    dsn = next(part)
    fill(dsn, mine)
    alone = backend_at(folder / caller.name, dsn)
    asked: list[tuple[str, dict[str, Any]]] = [("list", {}), ("tags", {}), ("stats", {}), ("recall", {})]
    for _ in range(6):
        words = [chance.choice(WORDS) for _ in range(chance.randrange(1, 4))]
        typo = chance.choice(words)
        asked.append(("search", {"query": " ".join(words), "explain": True}))
        asked.append(("search", {"query": f"{typo[:2]}{typo[3:]} tag:t{chance.randrange(5)}"}))
        asked.append(("search", {"query": f'"{words[0]}" {typo[:3]}* -{chance.choice(WORDS)}'}))
    for method, params in asked:
        both = [seen(server.call(method, params, caller)), seen(alone.call(method, params))]
        assert both[0] == both[1], (method, params, caller)
        forgetful = seen(server.call(method, params, caller._replace(scope=Scope())))
        assert forgetful == both[0], (method, params, caller)
    alone.connections.close()
    next(part, None)


def seen(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without times and sizes of the machine."""
    return {name: value for name, value in answer.items() if name not in ("took_ms", "bytes")}


def check_sql(dsn: str, caller: Caller, callers: list[Caller], mine: set[str]) -> None:
    """Read everything that the role of a member can read, also after it widens its settings."""
    with psycopg.connect(dsn, user=caller.name, autocommit=True) as sql:
        sql.execute(
            "SELECT set_config('pool.zones', (SELECT array_agg(n)::text FROM generate_series(1, 999) AS n), false)"
        )
        for schema in ("pool", "answer"):
            listed = sql.execute(f"SELECT path FROM {schema}.document").fetchall()
            assert {path for (path,) in listed} == mine
        zones = {id_ for (id_,) in sql.execute("SELECT id FROM pool.zone").fetchall()}
        assert zones == {id_ for (id_,) in sql.execute("SELECT zone_id FROM pool.document").fetchall()}
        for table in OF_ZONES:
            found = sql.execute(f"SELECT DISTINCT zone_id FROM pool.{table}").fetchall()
            assert {zone for (zone,) in found} <= zones, table
        assert sql.execute("SELECT role FROM pool.member").fetchall() == [(caller.name,)]
        for forbidden in refused(caller, callers):
            with pytest.raises(psycopg.Error):
                sql.execute(forbidden)
        changed = sql.execute("UPDATE pool.document SET title = 'mine'").rowcount
        assert changed == sql.execute("DELETE FROM pool.file").rowcount == 0
        sql.execute("RESET ROLE")
        assert sql.execute("SELECT count(*) FROM pool.document").fetchall() == [(len(mine),)]


def refused(caller: Caller, callers: list[Caller]) -> Iterator[str]:
    """Yield statements that no member may run."""
    yield "SELECT * FROM pool.member_with('x')"
    yield "SET ROLE postgres"
    yield from (f"SET ROLE {other.name}" for other in callers if other != caller)
    yield "UPDATE pool.member SET folders = '{}'"
    yield "INSERT INTO pool.term VALUES (1, 'a', '', 1)"
    yield "INSERT INTO pool.source (name, owner) VALUES ('theirs', 'postgres')"
    yield "INSERT INTO pool.tag VALUES ('t', 1, 1)"
    yield "DROP POLICY seen ON pool.document"


def test_words_of_hidden_notes_take_no_more_work(
    pool_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks that PostgreSQL reads tell the time, and are the same in each run."""
    rows = [
        text_row(f"hidden{number % 9}/{number}.md", "heron pond at the lake", title="Heron pond")
        for number in range(900)
    ]
    rows.append(text_row("work/one.md", "pond quay", title="Pond quay"))
    fill(pool_dsn, rows)
    caller = Caller(f"blocks_{tmp_path.name[-9:]}".lower(), False, Scope(folders=("work",)))
    blocks = 0

    def counted(reader: Connected, *statements: tuple[str, Any]) -> None:
        nonlocal blocks
        for sql, values in statements:
            text, lists = as_postgres(sql)
            given = [json.loads(one) if at in lists else one for at, one in enumerate(values)]
            explain = psycopg.RawCursor(reader.connection)
            explain.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {text}", given)
            blocks += explain.fetchall()[0][0][0]["Plan"]["Shared Hit Blocks"]
        ask(reader, *statements)

    ask = Connected.ask
    server = backend_at(tmp_path / "server", pool_dsn)
    with connect(pool_dsn) as owner:
        owner.execute("VACUUM ANALYZE")
        add_member(owner, caller, expires=None)

    def work(word: str, found: int) -> int:
        nonlocal blocks
        blocks = 0
        assert len(server.call("search", {"query": word}, caller)["results"]) == found
        return blocks

    try:
        monkeypatch.setattr(Connected, "ask", counted)
        assert work("heron", 0) < 2 * work("zebra", 0)
        assert work("pond", 1) < 2 * work("quay", 1)
    finally:
        server.connections.close()
        with connect(pool_dsn) as owner:
            owner.execute(f"DROP ROLE {caller.name}")
