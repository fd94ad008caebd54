"""`doctor` on a damaged index, and its repair."""

import os
import stat
import time
from pathlib import Path

import apsw
import pytest

from benchmarks.damages import OTHER_TEXT
from tests.api.vaults import fresh_rows, opened, paths_found, rows, write
from vault_index import VaultIndex, disk
from vault_index.access import Tokens
from vault_index.callers import Caller
from vault_index.config import find_home, load_config
from vault_index.health.environment import leftover_problems
from vault_index.results.base import Problem
from vault_index.store.connection import load_vec0
from vault_index.store.records import add_functions, pack

NOTES = {
    "a.md": "---\ntags: [red]\naliases: [fruit]\n---\n# Apple\n\nCrunchy, see [[b]].\n\n## Core\n\nSeeds inside.\n",
    "b.md": "# Banana\n\nYellow and soft.\n",
    "c/d.md": "# Damson\n\nA plum.\n",
}


def hurt(index: VaultIndex, *statements: str) -> None:
    connection = apsw.Connection(str(index.home.index_db))
    load_vec0(connection)
    add_functions(connection)
    connection.create_scalar_function("pack", lambda *values: pack(str(values[0])), 1)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def codes(problems: tuple[Problem, ...]) -> list[str]:
    return [problem.code for problem in problems]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    write(tmp_path / "vault", NOTES)
    return tmp_path / "vault"


def test_doctor_finds_nothing_in_a_healthy_index(tmp_path: Path, vault: Path) -> None:
    with opened(tmp_path, provider="local") as index:
        index.sync()
        assert codes(index.doctor(deep=True).problems) == []
        before = rows(index.home.index_db)
        repaired = index.repair(deep=True)
        assert (repaired.healthy, repaired.fixed) == (True, ())
        assert rows(index.home.index_db) == before


@pytest.mark.parametrize(
    ("code", "statement"),
    [
        ("terms", "DELETE FROM chunk_fts WHERE rowid = 1"),
        ("terms", "DELETE FROM document WHERE path = 'b.md'"),
        ("vectors", "DELETE FROM vector_1 WHERE rowid = 2"),
        ("vectors", "INSERT INTO pending VALUES (1, 99)"),
        ("index_damaged", "DELETE FROM chunk_fts_data WHERE id = (SELECT max(id) FROM chunk_fts_data)"),
    ],
)
def test_repair_fixes_inconsistent_tables(tmp_path: Path, vault: Path, code: str, statement: str) -> None:
    with opened(tmp_path, provider="local") as reader, opened(tmp_path, provider="local") as index:
        index.sync()
        assert paths_found(reader, "seeds", mode="text") == ["a.md"]
        hurt(index, statement)
        (problem,) = index.doctor().problems
        assert problem.code == code
        assert "doctor --fix" in problem.hint
        repaired = index.repair()
        assert (repaired.healthy, codes(repaired.fixed)) == (True, [code])
        assert paths_found(reader, "seeds", mode="text") == ["a.md"]
        assert rows(index.home.index_db) == fresh_rows(tmp_path, provider="local")


@pytest.mark.parametrize(("name", "code"), [("index", "index_corrupt"), ("cache", "cache_damaged")])
def test_repair_replaces_a_file_that_is_not_a_database(tmp_path: Path, vault: Path, name: str, code: str) -> None:
    with opened(tmp_path, provider="local") as index:
        chunks = index.sync().chunks
    (tmp_path / f"home/{name}.db").write_bytes(b"nothing of the kind" * 1000)
    with opened(tmp_path, provider="local") as index:
        assert codes(index.doctor().problems) == [code]
        assert codes(index.repair().fixed) == [code]
        assert index.doctor(deep=True).healthy
        assert paths_found(index, "seeds")[:1] == ["a.md"]
    (tmp_path / "home/index.db").unlink()
    with opened(tmp_path, provider="local") as index:
        report = index.sync()
        assert (report.embedded, report.cached) == (0, chunks)


@pytest.mark.parametrize(
    ("code", "statement"),
    [
        ("differs", OTHER_TEXT),
        ("differs", "DELETE FROM tag"),
        ("differs", "UPDATE term SET chunks = 9 WHERE word = 'seeds'"),
        (
            "vectors",
            "UPDATE vector_1_vector_chunks00 SET vectors ="  # the third one equals the first
            " CAST(substr(vectors, 1, 768) || substr(vectors, 1, 384) || substr(vectors, 1153) AS BLOB)",
        ),
    ],
)
def test_repair_deep_restores_a_fresh_build(tmp_path: Path, vault: Path, code: str, statement: str) -> None:
    with opened(tmp_path, provider="local") as index:
        index.sync()
        hurt(index, statement)
        assert index.doctor().healthy
        assert codes(index.doctor(deep=True).problems) == [code]
        repaired = index.repair(deep=True)
        assert (repaired.healthy, codes(repaired.fixed)) == (True, [code])
        assert rows(index.home.index_db) == fresh_rows(tmp_path, provider="local")


def test_doctor_names_changed_files_as_not_indexed(tmp_path: Path, vault: Path) -> None:
    with opened(tmp_path) as index:
        index.sync()
        write(vault, {"b.md": "# Banana\n\nBrown by now.\n", "new.md": "New.\n"})
        (problem,) = index.doctor(deep=True).problems
        assert (problem.code, "b.md, new.md" in problem.message) == ("behind", True)
        assert codes(index.repair(deep=True).fixed) == ["behind"]
        assert paths_found(index, "brown") == ["b.md"]


def test_repair_keeps_rows_while_a_vault_is_missing(tmp_path: Path, vault: Path) -> None:
    with opened(tmp_path) as index:
        index.sync()
        hurt(index, "DELETE FROM chunk_fts WHERE rowid = 1")
        vault.rename(tmp_path / "unmounted")
        repaired = index.repair()
        assert codes(repaired.problems) == ["source_vanished", "terms"]
        assert index.stats().documents == 3
        (tmp_path / "unmounted").rename(vault)
        assert index.repair().healthy


def test_repair_tightens_permissions_of_own_files_only(tmp_path: Path, vault: Path) -> None:
    with opened(tmp_path) as index:
        index.sync()
        for path, mode in ((index.home.data_dir, 0o755), (index.home.index_db, 0o644), (index.home.config_file, 0o664)):
            path.chmod(mode)
        (vault / "a.md").chmod(0o644)
        (problem,) = index.doctor().problems
        assert problem.code == "permissions"
        assert all(name in problem.message for name in ("index.db", "config.toml"))
        assert index.repair().healthy
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (index.home.data_dir, index.home.index_db)]
        assert modes == [0o700, 0o600]
        assert stat.S_IMODE((vault / "a.md").stat().st_mode) == 0o644


def test_doctor_names_an_unusable_tokens_file(tmp_path: Path, vault: Path) -> None:
    with opened(tmp_path) as index:
        index.sync()
        file = index.home.tokens_file
        Tokens(file).add(Caller("laptop"), created=0.0)
        assert index.doctor().healthy
        file.chmod(0o666)
        assert [problem.code for problem in index.doctor().problems] == ["permissions", "tokens"]
        assert index.repair().healthy
        file.write_text("{", "utf-8")
        (problem,) = index.doctor().problems
        assert problem.code == "tokens"
        assert "token add" in problem.hint
        assert file.read_text("utf-8") == "{"


def test_repair_ignores_linked_settings(tmp_path: Path, vault: Path) -> None:
    with opened(tmp_path) as index:
        index.sync()
        real = index.home.config_file.rename(tmp_path / "store.toml")
        real.chmod(0o644)
        index.home.config_file.symlink_to(real)
        assert load_config(find_home(tmp_path / "home")) == index._runtime.config
        assert index.doctor().healthy
        index.repair()
        assert stat.S_IMODE(real.stat().st_mode) == 0o644


# --- drafts left by a crash ----------------------------------------------------------------------------------------

LEFT = "80-memory/.vault-index-0123456789abcdef.tmp"


def test_tidy_removes_a_leftover_draft_at_the_next_command(tmp_path: Path, vault: Path) -> None:
    users = ["own.tmp", ".vault-index-1.tmp", ".vault-index-0123456789abcdef.tmp.md", ".git/" + Path(LEFT).name]
    link = vault / "80-memory/.vault-index-fedcba9876543210.tmp"
    with opened(tmp_path) as index:
        for command in (index.sync, lambda: index.add("Herons.")):
            write(vault, {LEFT: "half a mem", **dict.fromkeys(users, "x")})
            link.symlink_to(vault / "own.tmp")
            command()
            assert not (vault / LEFT).exists()
            assert all((vault / name).read_text("utf-8") == "x" for name in users)
            link.unlink()
        write(vault, {LEFT: "half a mem"})
        index.sync(dry_run=True)
        assert (vault / LEFT).exists()
        os.utime(vault / LEFT, (1, 1))
        assert codes(index.repair().fixed) == ["leftover"]
        assert not (vault / LEFT).exists()
        for folder in (tmp_path / "out", index.home.data_dir):
            write(folder, {Path(LEFT).name: "["})
        index.export(tmp_path / "out" / "all.json")
        disk.replace(str(index.home.data_dir / "any"), b"")
        assert not [*(tmp_path / "out").glob(".vault-index-*"), *index.home.data_dir.glob(".vault-index-*")]


def test_tidy_keeps_a_draft_of_a_running_process(tmp_path: Path, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as index:
        with disk.draft(str(vault), b"of another process") as path:
            index.sync()
            disk.tidy(str(vault))
            assert Path(path).read_bytes() == b"of another process"
        assert not Path(path).exists()
        write(vault, {LEFT: "half a mem"})
        monkeypatch.setattr("vault_index.disk.remove_left_drafts", lambda paths: None)
        monkeypatch.setattr("vault_index.indexer.sync.remove_left_drafts", lambda paths: None)
        index.sync()
        assert index.doctor().healthy  # another process may be writing to it
        os.utime(vault / LEFT, (1, 1))
        (problem,) = index.doctor().problems
        assert (problem.code, str(vault / LEFT) in problem.message) == ("leftover", True)
        assert codes(index.repair().problems) == ["leftover"]
        assert (vault / LEFT).read_text("utf-8") == "half a mem"
        assert not list(leftover_problems(index._runtime.config, 2.0))


def test_doctor_names_problems_of_the_environment(tmp_path: Path, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> dict[str, str]:
        return {problem.code: problem.hint for problem in index.doctor().problems}

    with opened(tmp_path, provider="local") as index:
        index.sync()
        assert found() == {}
        with monkeypatch.context() as patch:
            patch.setattr("vault_index.health.checks.vec0_fault", lambda: "sqlite-vec finds the wrong vectors")
            patch.setattr("vault_index.health.environment._free", lambda folder: 3 * 2**20)
            hurt(index, f"UPDATE meta SET value = '{time.time() + 90_000}' WHERE key = 'synced_at'")
            hints = found()
        with monkeypatch.context() as patch:
            patch.setattr("vault_index.store.integrity.load_vec0", lambda connection: False)
            assert "reinstall" in found()["vec0"]
        assert hints.keys() == {"vec0", "disk_full", "clock"}
        assert "reinstall" in hints["vec0"]
        assert "free disk space" in hints["disk_full"]
        assert "set the clock" in hints["clock"]
