"""All that `doctor` looks at goes wrong once, and is named with what mends it."""

import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from tests.api.vaults import opened, write
from vault_index import VaultIndex
from vault_index.results.base import Problem

NOTES = {"a.md": "# Apple\n\nRed.\n", "b/c.md": "# Cherry\n"}
Patch = pytest.MonkeyPatch
Trouble = Callable[[VaultIndex, Patch], object]


def run(index: VaultIndex, statement: str, *values: str) -> None:
    connection = apsw.Connection(str(index.home.index_db))
    connection.execute(statement, values)
    connection.close()


def extension_does_not_load(index: VaultIndex, patch: Patch) -> None:
    patch.setattr("vault_index.store.integrity.load_vec0", lambda connection: False)


def extension_finds_the_wrong_vectors(index: VaultIndex, patch: Patch) -> None:
    patch.setattr("vault_index.health.checks.vec0_fault", lambda: "sqlite-vec finds the wrong vectors")


def words_do_not_fit_the_rows(index: VaultIndex, patch: Patch) -> None:
    run(index, "DELETE FROM chunk_fts WHERE rowid = 1")


def vectors_are_not_counted_right(index: VaultIndex, patch: Patch) -> None:
    run(index, "INSERT INTO pending SELECT 1, max(id) + 1 FROM chunk")


def cache_is_damaged(index: VaultIndex, patch: Patch) -> None:
    index.close()
    index.home.cache_db.write_bytes(b"nothing of the kind" * 1000)


def state_is_damaged(index: VaultIndex, patch: Patch) -> None:
    index.close()
    index.home.state_db.write_bytes(b"nothing of the kind" * 1000)


def state_is_lost(index: VaultIndex, patch: Patch) -> None:
    index.home.state_db.unlink()


def others_may_read(index: VaultIndex, patch: Patch) -> None:
    index.home.index_db.chmod(0o644)


def watches_are_few(index: VaultIndex, patch: Patch) -> None:
    patch.setattr(
        "vault_index.health.environment._number", lambda setting: 1 if setting.name == "max_user_watches" else 99
    )


def clock_went_back(index: VaultIndex, patch: Patch) -> None:
    run(index, "UPDATE meta SET value = ? WHERE key = 'synced_at'", str(time.time() + 90_000))


def disk_is_nearly_full(index: VaultIndex, patch: Patch) -> None:
    patch.setattr("vault_index.health.environment._free", lambda folder: 3 * 2**20)


def daemon_was_killed(index: VaultIndex, patch: Patch) -> None:
    index.home.daemon_lock.write_text(f"{2**22 + 7}\n", "utf-8")  # more than any pid
    index.home.daemon_lock.chmod(0o600)


@pytest.mark.parametrize(
    ("trouble", "code", "hint"),
    [
        (extension_does_not_load, "vec0", "reinstall"),
        (extension_finds_the_wrong_vectors, "vec0", "reinstall"),
        (words_do_not_fit_the_rows, "terms", "doctor --fix"),
        (vectors_are_not_counted_right, "vectors", "doctor --fix"),
        (cache_is_damaged, "cache_damaged", "doctor --fix"),
        (state_is_damaged, "state_damaged", "doctor --fix"),
        (state_is_lost, "state_damaged", "doctor --fix"),
        (others_may_read, "permissions", "doctor --fix"),
        (watches_are_few, "watch_limit", "sudo sysctl fs.inotify.max_user_watches="),
        (clock_went_back, "clock", "set the clock"),
        (disk_is_nearly_full, "disk_full", "free some space"),
        (daemon_was_killed, "daemon_died", "vault-index watch"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_each_trouble_is_named(tmp_path: Path, monkeypatch: Patch, trouble: Trouble, code: str, hint: str) -> None:
    write(tmp_path / "vault", NOTES)
    with opened(tmp_path, provider="local") as index:
        index.sync()
        assert index.doctor().problems == ()
        trouble(index, monkeypatch)
        found: dict[str, Problem] = {problem.code: problem for problem in index.doctor().problems}
    assert code in found
    assert hint in found[code].hint
