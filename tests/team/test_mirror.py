"""Memories of the pool as files of each member: edits travel, conflicts keep both versions."""

import os
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo

from tests.team.conftest import new_pool
from tests.team.machines import Laptop, contents
from vault_index import VaultIndex
from vault_index.callers import Caller
from vault_index.config import ChunkConfig
from vault_index.errors import ConflictError, UsageError
from vault_index.mirroring.exchange import action
from vault_index.team.database import connect
from vault_index.team.files import check_path, delete_file, digests, export, put_file, read_file
from vault_index.team.members import add_member

MIRROR = 'mirror = "80-memory/team"'
PLACE = "80-memory/team"
FRONT = "---\nid: 5f0f6a0e-3c8e-4d3e-8a64-0c4a4f0f9d11\ntype: decision\ncreated: 2026-01-01\n---\n"
MEMORY = f"{FRONT}# Deploys\n\nOn Tuesdays.\n"


@pytest.fixture
def team(pool_dsn: str, tmp_path: Path) -> tuple[Laptop, Laptop]:
    """Two machines with an equal memory in their mirrors."""
    anna, ben = (Laptop(tmp_path / name, pool_dsn, f"sources = []\n{MIRROR}") for name in ("anna", "ben"))
    anna.write(f"{PLACE}/deploy.md", MEMORY)
    assert anna.exchange().pushed == 1
    assert ben.exchange().pulled == 1
    assert ben.read(f"{PLACE}/deploy.md") == MEMORY
    return anna, ben


@pytest.mark.parametrize(
    ("base", "here", "there", "expected"),
    [
        ("a", "a", "a", "same"), ("a", "", "", "same"), ("a", None, None, "same"),
        (None, None, "a", "pull"), ("a", "a", "", "pull"), ("a", None, "", "pull"),
        (None, "a", None, "push"), ("a", "", "a", "push"), ("a", "", None, "push"),
        ("a", "a", None, "remove here"), ("a", None, "a", "remove there"),
        ("a", "", "c", "conflict"), (None, "", "c", "conflict"),
    ],
)  # fmt: skip
def test_action_follows_the_side_that_changed(
    base: str | None, here: str | None, there: str | None, expected: str
) -> None:
    assert action(base, here, there) == expected


def test_mirror_exchanges_edits_and_deletions(team: tuple[Laptop, Laptop]) -> None:
    anna, ben = team
    ben.write(f"{PLACE}/deploy.md", MEMORY.replace("Tuesdays", "Fridays"))
    ben.write(f"{PLACE}/trips/new.md", "# New\n\nby ben")
    assert ben.exchange().pushed == 2
    assert anna.exchange().pulled == 2
    assert "Fridays" in anna.read(f"{PLACE}/deploy.md")
    (anna.vault / PLACE / "deploy.md").unlink()
    anna.exchange()
    ben.exchange()
    assert not (ben.vault / PLACE / "deploy.md").exists()
    assert "Fridays" in ben.read(f".trash/{PLACE}/deploy.md")
    assert not any((anna.exchange().pulled, anna.exchange().pushed, ben.exchange().pulled))
    assert [row[1] for row in contents(anna.dsn)["document"]] == ["trips/new.md"]


def test_mirror_conflict_keeps_both_versions_and_goes_to_review(team: tuple[Laptop, Laptop]) -> None:
    anna, ben = team
    anna.write(f"{PLACE}/deploy.md", MEMORY.replace("Tuesdays", "Mondays"))
    ben.write(f"{PLACE}/deploy.md", MEMORY.replace("Tuesdays", "Fridays"))
    assert anna.exchange().pushed == 1
    assert ben.exchange().conflicts == 1
    assert "Mondays" in ben.read(f"{PLACE}/deploy.md")
    with VaultIndex.open(ben.home) as index:
        index.sync()
        [item] = index.review(reason=["unreviewed"]).results
        assert "Fridays" in item.memories[0].text
    assert ben.exchange().conflicts == 0


def test_mirror_restores_a_deleted_folder(team: tuple[Laptop, Laptop]) -> None:
    anna, _ = team
    anna.write("note.md", "so that the vault is not empty")
    (anna.vault / PLACE / "deploy.md").unlink()
    (anna.vault / PLACE).rmdir()
    assert anna.exchange().pulled == 1
    assert anna.read(f"{PLACE}/deploy.md") == MEMORY


def test_mirror_deletes_its_last_file(team: tuple[Laptop, Laptop]) -> None:
    anna, ben = team
    anna.write("note.md", "so that the vault is not empty")
    (anna.vault / PLACE / "deploy.md").unlink()
    anna.exchange()
    ben.exchange()
    assert not (ben.vault / PLACE / "deploy.md").exists()


def test_mirror_tells_a_reader_that_it_may_not_write(
    team: tuple[Laptop, Laptop], pool_dsn: str, tmp_path: Path
) -> None:
    caller = Caller(f"reader_{os.urandom(4).hex()}", False)
    with connect(pool_dsn) as owner:
        add_member(owner, caller, expires=None)
        carl = Laptop(tmp_path / "carl", make_conninfo(pool_dsn, user=caller.name), f"sources = []\n{MIRROR}")
        assert carl.exchange().pulled == 1
        carl.write(f"{PLACE}/deploy.md", MEMORY.replace("Tuesdays", "Fridays"))
        assert "you may only read" in carl.exchange().problems[0].message
        owner.execute(f"DROP ROLE {caller.name}")


def test_mirror_sends_no_files_of_one_pool_to_another(team: tuple[Laptop, Laptop], postgres: str) -> None:
    anna, _ = team
    for other in new_pool(postgres):
        anna.dsn = other
        anna.configure(f"sources = []\n{MIRROR}")
        report = anna.exchange()
        assert [one.message.partition(",")[0] for one in report.problems] == [
            f"the folder {PLACE} holds memories of another pool"
        ]
        assert contents(other)["document"] == []
    assert anna.read(f"{PLACE}/deploy.md") == MEMORY


def test_mirror_keeps_private_files_here(team: tuple[Laptop, Laptop]) -> None:
    anna, ben = team
    anna.configure(f"sources = []\n{MIRROR}", vault=f'local_only = ["{PLACE}/private/"]')
    anna.write(f"{PLACE}/private/plan.md", "a secret")
    anna.write(f"{PLACE}/key.md", "AKIA" + "Z7Q4N2X5K8M3W6T9")
    report = anna.exchange()
    assert report.pushed == 0
    assert ["looks like an AWS access key" in one.message for one in report.problems] == [True]
    ben.exchange()
    assert [file.name for file in (ben.vault / PLACE).rglob("*.md")] == ["deploy.md"]


def test_put_file_compares_and_swaps(pool_dsn: str) -> None:
    with connect(pool_dsn) as pool:
        first = put_file(pool, "a.md", "one", None, ChunkConfig())
        with pytest.raises(ConflictError):
            put_file(pool, "a.md", "two", None, ChunkConfig())
        second = put_file(pool, "a.md", "two", first, ChunkConfig())
        with pytest.raises(ConflictError):
            put_file(pool, "a.md", "three", first, ChunkConfig())
        assert digests(pool) == {"a.md": second}
        delete_file(pool, "a.md", second)
        assert read_file(pool, "a.md") is None
        history = pool.execute("SELECT text FROM file_version ORDER BY id").fetchall()
        assert history == [("one",), ("two",), (None,)]


def test_export_writes_all_files(pool_dsn: str, tmp_path: Path) -> None:
    with connect(pool_dsn) as pool:
        put_file(pool, "trips/a.md", MEMORY, None, ChunkConfig())
        assert export(pool, str(tmp_path / "out")) == 1
    assert (tmp_path / "out/trips/a.md").read_text("utf-8") == MEMORY


@pytest.mark.parametrize("path", ["../a.md", "/a.md", ".obsidian/a.md", "a.txt", "a//b.md", "", "a\n.md", "C:a.md"])
def test_check_path_refuses_what_is_no_note(path: str) -> None:
    with pytest.raises(UsageError):
        check_path(path)
