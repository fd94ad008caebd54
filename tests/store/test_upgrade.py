"""Databases of older schemas: index and cache are rebuilt, the state keeps its rows."""

import re
import shutil
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.api.vaults import fresh_rows, indexed, opened, paths_found, rows
from vault_index.errors import IndexTooNewError, IndexTooOldError, NotSetUpError
from vault_index.store import connection as opening
from vault_index.store.revisions import Revisions
from vault_index.store.state import State

HOMES = sorted((Path(__file__).parents[2] / "fixtures/homes").glob("*.zip"))
NOTES = {"a.md": "# Apple\n\nCrunchy, see [[b]].\n", "b.md": "# Banana\n\nYellow and soft.\n"}


def set_version(path: Path, version: int) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        connection.pragma("user_version", version)


@pytest.mark.parametrize("name", ["index", "cache"])
def test_sync_replaces_an_older_database_without_embedding(tmp_path: Path, name: str) -> None:
    with indexed(tmp_path, NOTES, provider="local") as index:
        index.get("a.md")
    set_version(tmp_path / "home" / f"{name}.db", 1)
    with opened(tmp_path, provider="local") as index:
        if name == "index":
            with pytest.raises(NotSetUpError, match="older vault-index") as caught:
                index.search("crunchy")
            assert "vault-index sync" in caught.value.hint
            assert [problem.code for problem in index.status().problems] == ["not_set_up"]
            with pytest.raises(IndexTooOldError, match="older vault-index"):
                index.sync(dry_run=True)
        report = index.sync([tmp_path / "vault" / "a.md"])
        assert (report.embedded, report.pending, [one.code for one in report.problems]) == (0, 0, [f"{name}_rebuilt"])
        assert (index.sync().problems, paths_found(index, "yellow", mode="text")) == ((), ["b.md"])
        assert index.doctor().healthy
        assert rows(index.home.index_db) == fresh_rows(tmp_path, provider="local")
        with closing(State(index.home.state_db)) as state:
            assert [count for count, _ in state.usage().values()] == [1]
    assert not list((tmp_path / "home").glob("index.db.*"))


def test_state_of_an_older_schema_keeps_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with closing(apsw.Connection(str(path))) as old:
        old.execute((Path(opening.__file__).parent / "sql/state/001_initial.sql").read_text("utf-8"))
        old.execute("INSERT INTO usage VALUES ('uid', 3, 5.5)")
        old.execute("INSERT INTO sent VALUES ('2026-11-20', 'https://x', 'toy', 'vault', 'a.md', 2, 100)")
        old.execute("INSERT INTO mirrored VALUES ('ses', '', 'made of', x'77', 7, x'74', '[]')")
    set_version(path, 1)
    with closing(State(path)) as state:
        state.check(whole=True)
        assert (state.tokens_sent("2026-11-20"), state.usage(), list(state.mirrored())) == (
            100, {"uid": (3, 5.5)}, ["ses"],
        )  # fmt: skip
        assert (state.decisions(), state.deleted()[1]) == ({}, frozenset())


def test_state_with_versions_and_a_journal_becomes_one_log(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    version = "INSERT INTO version VALUES ('uid', ?, 1.5, ?, ?, 'vault', ?, ?, ?, 3, ?, x'00')"
    step = "INSERT INTO step VALUES (?, ?, 'vault', ?, ?, ?, ?, x'00')"
    with closing(apsw.Connection(str(path))) as old:
        for file in sorted((Path(opening.__file__).parent / "sql/state").glob("00[1-6]*.sql")):
            old.execute(file.read_text("utf-8"))
        for work, undone in (("add", 0), ("update", 0), ("undo", 1), ("review merge", 0), ("delete", 0), ("keep", 0)):
            old.execute("INSERT INTO change (at, work, who, undone) VALUES (1.5, ?, '', ?)", (work, undone))
        steps = [
            (1, 1, "a.md", None, b"A", None), (2, 2, "a.md", b"A", b"B", None), (3, 4, "a.md", b"B", b"C", None),
            (4, 4, "a.md", b"C", b"C", "b.md"), (5, 5, "b.md", b"C", None, ".trash/b.md"),
        ]  # fmt: skip
        old.executemany(step, steps)
        versions = [
            (1, "ann", "add", "a.md", "", 1, b"A"), (2, "by hand", "edited", "a.md", "", 1, b"A2"),
            (3, "vault-index", "update", "a.md", "", 2, b"B"),
            (4, "vault-index", "review merge", "b.md", "a.md", 4, b"C"), (5, "bob", "delete", "b.md", "", 5, b""),
        ]  # fmt: skip
        old.executemany(version, versions)
        old.execute("INSERT INTO decision VALUES ('expired', '[\"uid\"]', '[\"A\"]', 1.5, 6)")
    set_version(path, 6)
    with closing(State(path)) as state:
        state.check(whole=True)
        log = Revisions(state)
        rows = [(row.number, row.who, row.action, row.last_path, row.digest) for row in log.of("uid")]
        assert rows == [
            (5, "bob", "delete", "b.md", b""), (4, "vault-index", "review merge", "a.md", b"C"),
            (3, "vault-index", "update", "a.md", b"B"), (2, "by hand", "edited", "a.md", b"A2"),
            (1, "ann", "add", "a.md", b"A"),
        ]  # fmt: skip
        left = []
        while change := log.last_change():
            left.append((change.work, [(row.before, row.digest) for row in log.by_change(change.id)]))
            log.end(change.id)
    # The merge wrote twice, and its first text was never a version: it can only be reverted.
    assert left == [
        ("keep", []), ("delete", [(b"C", b"")]), ("update", [(b"A", b"B")]), ("add", [(b"", b"A")]),
    ]  # fmt: skip


@pytest.mark.parametrize("recorded", HOMES, ids=lambda path: path.name)
def test_home_of_an_earlier_version_loses_nothing(recorded: Path, tmp_path: Path) -> None:
    shutil.unpack_archive(recorded, tmp_path)
    for path in (tmp_path / "home", *(tmp_path / "home").rglob("*")):
        path.chmod(0o700)  # a ZIP has no modes
    config = tmp_path / "home/config.toml"
    vault = tmp_path / "vault"
    config.write_text(re.sub(r"(?m)^path = .*", f'path = "{vault}"', config.read_text("utf-8")), "utf-8")
    with opened(tmp_path) as index:
        assert index.sync().embedded == 0
        assert [one.code for one in index.doctor().problems] == ["source_vanished"], index.doctor().problems
        assert paths_found(index, "pump water")[0] == "cellar.md"
        assert paths_found(index, "slow linker", kind="session") == [f"shop/{'1' * 8}-1111-4111-8111-{'1' * 12}.md"]
        assert paths_found(index, "wallpaper", kind="session", mode="text") == []
        (memory,) = paths_found(index, "prices in cents", kind="memory")
        assert [one.action for one in index.history(memory).results] == ["update", "add"]
        texts = [(vault / index.undo().results[0].path).read_text("utf-8") for _ in range(2)]
        assert ["serviced in May" in texts[0], "without a currency" in texts[1]] == [True, False]
        with closing(State(index.home.state_db)) as state:
            assert [count for count, _ in state.usage().values()] == [1]


def test_state_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    with indexed(tmp_path, NOTES) as index:
        path = index.home.state_db
    set_version(path, 999)
    before = path.read_bytes()
    with opened(tmp_path) as index, pytest.raises(IndexTooNewError, match="newer vault-index") as caught:
        index.sync()
    assert "upgrade vault-index" in caught.value.hint
    assert path.read_bytes() == before
