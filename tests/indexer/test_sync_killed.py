"""The next sync completes one that was killed at any moment."""

import shutil
from pathlib import Path

import pytest

from tests.api.vaults import rows, write
from tests.indexer.test_sessions import open_index
from tests.kills import killed, moments
from tests.seeds import TIMES
from tests.sources.opencode.stores import Client
from vault_index import VaultIndex
from vault_index.indexer import sync as syncing

NOTES, SESSIONS = 24, 6


def sync_of(home: Path) -> None:
    with VaultIndex.open(home) as index:
        index.sync(embed=False)


@pytest.mark.parametrize("mirror", ["", "sessions"])
def test_sync_after_a_killed_one_equals_a_fresh_build(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mirror: str
) -> None:
    monkeypatch.setattr(syncing, "_WRITTEN_TOGETHER", 5)
    for number in range(SESSIONS):
        client.session(f"ses_{number}", f"Session {number}")
        client.user(f"Question {number}: why does it rain?", session=f"ses_{number}")
    client.close()
    write(tmp_path / "vault", {f"{n:02}.md": f"# Note {n}\n\nWords of note {n}.\n" for n in range(NOTES)})
    open_index(tmp_path, mirror=mirror).close()
    home, empty = tmp_path / "home", tmp_path / "empty"
    shutil.copytree(home, empty)
    with open_index(tmp_path, home="fresh", mirror=mirror) as fresh:
        fresh.sync()
        wanted = rows(fresh.home.index_db)
    unchanged = 0

    def begin_again() -> None:
        shutil.rmtree(home)
        shutil.copytree(empty, home)
        shutil.rmtree(tmp_path / "vault/sessions", ignore_errors=True)

    begin_again()
    for moment in moments(lambda: sync_of(home), 3 * TIMES, seed=1):
        begin_again()
        killed(lambda: sync_of(home), moment)
        with VaultIndex.open(home) as index:
            unchanged = max(unchanged, index.sync().unchanged)
        assert rows(home / "index.db") == wanted
        assert len(list((tmp_path / "vault").glob("sessions/*.md"))) == (SESSIONS if mirror else 0)
    assert unchanged  # rows written before the kill were not written again
