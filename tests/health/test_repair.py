"""`doctor` on an index that was hurt, and what `repair` makes of it."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from tests.api.vaults import fresh_rows, opened, paths_found, rows, write
from tests.health.damages import OTHER_TEXT
from vault_index import VaultIndex, disk
from vault_index.access import Tokens
from vault_index.callers import Caller
from vault_index.cancel import CancelToken
from vault_index.config import find_home, load_config
from vault_index.health.environment import clock_problems, leftover_problems, watch_problems
from vault_index.results.base import Problem
from vault_index.store.connection import load_vec0
from vault_index.store.integrity import vec0_fault
from vault_index.store.text_blocks import add_functions

NOTES = {
    "a.md": "---\ntags: [red]\naliases: [fruit]\n---\n# Apple\n\nCrunchy, see [[b]].\n\n## Core\n\nSeeds inside.\n",
    "b.md": "# Banana\n\nYellow and soft.\n",
    "c/d.md": "# Damson\n\nA plum.\n",
}


def hurt(index: VaultIndex, *statements: str) -> None:
    connection = apsw.Connection(str(index.home.index_db))
    load_vec0(connection)
    add_functions(connection)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def codes(problems: tuple[Problem, ...]) -> list[str]:
    return [problem.code for problem in problems]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    write(tmp_path / "vault", NOTES)
    return tmp_path / "vault"


def test_a_healthy_index_has_no_problems_however_deep_one_looks(tmp_path: Path, vault: Path) -> None:
    with opened(tmp_path, provider="local") as index:
        index.sync()
        assert codes(index.doctor(deep=True).problems) == []
        before = rows(index.home.index_db)
        repaired = index.repair(deep=True)
        assert (repaired.healthy, repaired.fixed) == (True, ())
        assert rows(index.home.index_db) == before


@pytest.mark.parametrize(
    ("code", "statements"),
    [
        ("terms", ["DELETE FROM chunk_fts WHERE rowid = 1"]),
        ("terms", ["DELETE FROM document WHERE path = 'b.md'"]),
        ("vectors", ["DELETE FROM vector_1 WHERE rowid = 2"]),
        ("vectors", ["INSERT INTO pending VALUES (1, 99)"]),
        ("index_damaged", ["DELETE FROM chunk_fts_data WHERE id = (SELECT max(id) FROM chunk_fts_data)"]),
    ],
)
def test_what_does_not_go_together_is_found_and_mended(
    tmp_path: Path, vault: Path, code: str, statements: list[str]
) -> None:
    with opened(tmp_path, provider="local") as index:
        index.sync()
        hurt(index, *statements)
        found = index.doctor()
        assert codes(found.problems) == [code]
        assert "doctor --fix" in found.problems[0].hint
        repaired = index.repair()
        assert repaired.healthy
        assert codes(repaired.fixed) == [code]
        assert paths_found(index, "seeds", mode="text") == ["a.md"]
        assert rows(index.home.index_db) == fresh_rows(tmp_path, provider="local")


@pytest.mark.parametrize(
    ("code", "statement"),
    [
        ("differs", OTHER_TEXT),
        ("differs", "DELETE FROM tag"),
        ("differs", "UPDATE term SET chunks = 9 WHERE word = 'seeds'"),
        (
            "vectors",
            "UPDATE vector_1_vector_chunks00 SET vectors ="  # the third one is the first one
            " CAST(substr(vectors, 1, 768) || substr(vectors, 1, 384) || substr(vectors, 1153) AS BLOB)",
        ),
    ],
)
def test_what_only_a_fresh_build_shows_is_found_and_mended(
    tmp_path: Path, vault: Path, code: str, statement: str
) -> None:
    with opened(tmp_path, provider="local") as index:
        index.sync()
        hurt(index, statement)
        assert index.doctor().healthy
        assert codes(index.doctor(deep=True).problems) == [code]
        repaired = index.repair(deep=True)
        assert (repaired.healthy, codes(repaired.fixed)) == (True, [code])
        assert rows(index.home.index_db) == fresh_rows(tmp_path, provider="local")


def test_what_changed_since_it_was_indexed_is_behind_and_no_more(tmp_path: Path, vault: Path) -> None:
    with opened(tmp_path) as index:
        index.sync()
        write(vault, {"b.md": "# Banana\n\nBrown by now.\n", "new.md": "New.\n"})
        (problem,) = index.doctor(deep=True).problems
        assert (problem.code, "b.md, new.md" in problem.message) == ("behind", True)
        assert codes(index.repair(deep=True).fixed) == ["behind"]
        assert paths_found(index, "brown") == ["b.md"]


def test_a_file_that_is_no_database_any_more_is_built_anew(tmp_path: Path, vault: Path) -> None:
    with opened(tmp_path) as index:
        index.sync()
    (tmp_path / "home" / "index.db").write_bytes(b"nothing of the kind" * 1000)
    with opened(tmp_path) as index:
        assert codes(index.doctor().problems) == ["index_corrupt"]
        assert codes(index.repair().fixed) == ["index_corrupt"]
        assert paths_found(index, "seeds") == ["a.md"]


def test_nothing_is_made_anew_while_a_vault_is_gone(tmp_path: Path, vault: Path) -> None:
    with opened(tmp_path) as index:
        index.sync()
        hurt(index, "DELETE FROM chunk_fts WHERE rowid = 1")
        vault.rename(tmp_path / "unmounted")
        repaired = index.repair()
        assert codes(repaired.problems) == ["source_vanished", "terms"]
        assert index.stats().documents == 3
        (tmp_path / "unmounted").rename(vault)
        assert index.repair().healthy


def test_queries_go_on_over_a_repair(tmp_path: Path, vault: Path) -> None:
    with opened(tmp_path) as reader, opened(tmp_path) as index:
        index.sync()
        assert paths_found(reader, "seeds") == ["a.md"]
        hurt(index, "DELETE FROM chunk_fts WHERE rowid = 1")
        assert index.repair().healthy
        assert paths_found(reader, "seeds") == ["a.md"]


def test_a_damaged_cache_is_named_set_aside_and_filled_from_the_index(tmp_path: Path, vault: Path) -> None:
    with opened(tmp_path, provider="local") as index:
        chunks = index.sync().chunks
    cache = tmp_path / "home" / "cache.db"
    cache.write_bytes(b"nothing of the kind" * 1000)
    with opened(tmp_path, provider="local") as index:
        assert codes(index.doctor().problems) == ["cache_damaged"]
        assert codes(index.repair().fixed) == ["cache_damaged"]
        assert index.doctor(deep=True).healthy
        index.home.index_db.unlink()
    (kept,) = cache.parent.glob("cache.db.damaged-*")
    assert kept.read_bytes().startswith(b"nothing of the kind")
    with opened(tmp_path, provider="local") as index:
        report = index.sync()
        assert (report.embedded, report.cached) == (0, chunks)


def test_permissions_of_our_own_files_are_tightened(tmp_path: Path, vault: Path) -> None:
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


def test_tokens_that_let_nobody_in_are_told_of(tmp_path: Path, vault: Path) -> None:
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


LEFT = "80-memory/.vault-index-0123456789abcdef.tmp"


def test_what_a_crash_left_in_a_vault_is_removed_by_the_next_command(tmp_path: Path, vault: Path) -> None:
    users = ["own.tmp", ".vault-index-1.tmp", ".vault-index-0123456789abcdef.tmp.md", ".git/" + Path(LEFT).name]
    with opened(tmp_path) as index:
        for command in (index.sync, lambda: index.add("Herons.")):
            write(vault, {LEFT: "half a mem", **dict.fromkeys(users, "x")})
            (vault / "80-memory" / ".vault-index-fedcba9876543210.tmp").symlink_to(vault / "own.tmp")
            command()
            assert not (vault / LEFT).exists()
            assert all((vault / name).read_text("utf-8") == "x" for name in users)
            (vault / "80-memory" / ".vault-index-fedcba9876543210.tmp").unlink()
        write(vault, {LEFT: "half a mem"})
        index.sync(dry_run=True)
        assert (vault / LEFT).exists()
        os.utime(vault / LEFT, (1, 1))
        assert codes(index.repair().fixed) == ["leftover"]
        assert not (vault / LEFT).exists()


def test_what_is_being_written_is_nobodys_leftover(tmp_path: Path, vault: Path) -> None:
    with opened(tmp_path) as index, disk.draft(str(vault), b"of another process") as path:
        index.sync()
        disk.tidy(str(vault))
        assert Path(path).read_bytes() == b"of another process"
    assert not Path(path).exists()


def test_a_leftover_that_stays_is_named(tmp_path: Path, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as index:
        index.sync()
        write(vault, {LEFT: "half a mem"})
        monkeypatch.setattr("vault_index.disk.remove_left_drafts", lambda paths: None)  # it is another's
        monkeypatch.setattr("vault_index.indexer.sync.remove_left_drafts", lambda paths: None)
        index.sync()
        assert index.doctor().healthy  # it may be written to at this moment
        os.utime(vault / LEFT, (1, 1))
        (problem,) = index.doctor().problems
        assert (problem.code, str(vault / LEFT) in problem.message) == ("leftover", True)
        assert codes(index.repair().problems) == ["leftover"]
        assert (vault / LEFT).read_text("utf-8") == "half a mem"
        assert not list(leftover_problems(index._runtime.config, 2.0))


def test_an_export_and_the_settings_leave_nothing_either(tmp_path: Path, vault: Path) -> None:
    with opened(tmp_path) as index:
        index.sync()
        write(tmp_path, {f"out/{Path(LEFT).name}": "[", f"home/{Path(LEFT).name}": "["})
        index.export(tmp_path / "out" / "all.json")
        disk.replace(str(index.home.data_dir / "any"), b"")
        assert not list(tmp_path.rglob(".vault-index-*"))


def test_too_few_watches_are_named_with_the_setting_that_mends_them(tmp_path: Path, vault: Path) -> None:
    with opened(tmp_path) as index:
        limits = tmp_path / "inotify"
        write(limits, {"max_user_watches": "1\n", "max_user_instances": "128\n"})
        (problem,) = watch_problems(index._runtime.config, limits)
        assert problem.code == "watch_limit"
        assert "take 2 of max_user_watches" in problem.message
        assert "sudo sysctl fs.inotify.max_user_watches=" in problem.hint
        write(limits, {"max_user_watches": "8192\n"})
        assert not list(watch_problems(index._runtime.config, limits))
        assert not list(watch_problems(index._runtime.config, tmp_path / "no such system"))


def test_a_clock_that_went_back_is_named() -> None:
    assert not list(clock_problems(None, 1e9))
    assert not list(clock_problems("1000000000.5", 1e9))
    assert codes(tuple(clock_problems("1000090000", 1e9))) == ["clock"]


def test_vectors_are_tried_and_not_only_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert vec0_fault() == ""
    no: Callable[[apsw.Connection], bool] = lambda connection: False  # noqa: E731
    monkeypatch.setattr("vault_index.store.integrity.load_vec0", no)
    assert "cannot be loaded" in vec0_fault()


def test_settings_of_a_link_are_somebody_elses(tmp_path: Path, vault: Path) -> None:
    with opened(tmp_path) as index:
        index.sync()
        real = index.home.config_file.rename(tmp_path / "store.toml")
        real.chmod(0o644)
        index.home.config_file.symlink_to(real)
        assert load_config(find_home(tmp_path / "home")) == index._runtime.config
        assert index.doctor().healthy
        index.repair()
        assert stat.S_IMODE(real.stat().st_mode) == 0o644


def test_a_sync_that_was_left_is_unfinished_and_not_damaged(tmp_path: Path, vault: Path) -> None:
    token = CancelToken()

    def leave(stage: str, done: int, total: int) -> None:
        if done == 2:
            token.cancel()

    with opened(tmp_path) as index:
        report = index.sync(progress=leave, cancel=token)
        assert (report.added, report.finished) == (2, False)
        assert codes(index.doctor().problems) == []
        assert codes(index.doctor(deep=True).problems) == ["behind"]
        index.sync()
        assert index.doctor(deep=True).healthy
