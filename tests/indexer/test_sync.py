import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import fresh_rows, indexed, opened, paths_found, rows, write
from vault_index import VaultIndex
from vault_index.errors import BusyError, UsageError
from vault_index.indexer.reading import describe
from vault_index.sources.files import read_inside

NOTES = {
    "a.md": "# Apple\n\nA fruit that keeps the doctor away. #fruit\n",
    "sub/b.md": "---\ntags: [food]\n---\nBread and butter, see [[a]].\n",
    "sub/c.md": "Cheese.\n\n## Kinds\n\nGouda, cheddar.\n",
}


def paths(index: VaultIndex, query: str) -> list[str]:
    return sorted(hit.path for hit in index.search(query, mode="text").results)


def test_sync_reports_its_changes_and_writes_nothing_into_the_vault(tmp_path: Path) -> None:
    vault = tmp_path / "vault"

    def state() -> dict[Path, tuple[bytes, int]]:
        return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in vault.rglob("*") if path.is_file()}

    with opened(tmp_path) as index:
        write(vault, NOTES)
        before = state()
        assert index.sync(dry_run=True).added == 3
        assert index.stats().documents == 0
        first = index.sync()
        assert (first.scanned, first.added, first.unchanged, first.failed) == (3, 3, 0, ())
        second = index.sync()
        assert (second.scanned, second.added, second.changed, second.chunks) == (3, 0, 0, 0)
        built = rows(index.home.index_db)
        assert index.rebuild().changed == 3
        assert rows(index.home.index_db) == built
        assert state() == before


def test_sync_follows_edits_deletions_and_moves(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    with opened(tmp_path) as index:
        write(vault, NOTES)
        index.sync()
        (vault / "a.md").unlink()
        (vault / "sub").rename(vault / "other")
        write(vault, {"other/c.md": "Chalk.\n", "new.md": "Novelty.\n"})
        report = index.sync()
        assert (report.added, report.changed, report.moved, report.removed) == (2, 0, 1, 2)
        assert paths(index, "cheese apple") == []
        assert paths(index, "bread chalk novelty") == ["new.md", "other/b.md", "other/c.md"]
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


def test_sync_reads_only_the_given_paths(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    with opened(tmp_path) as index:
        write(vault, NOTES)
        index.sync()
        write(vault, {"a.md": "Apricot.\n", "sub/b.md": "Beer.\n", "sub/new.md": "Noodles.\n"})
        (vault / "sub" / "c.md").unlink()
        report = index.sync([vault / "sub"])
        assert (report.added, report.changed, report.removed) == (1, 1, 1)
        assert paths(index, "apricot") == []
        index.sync([vault / "a.md"])
        assert paths(index, "apricot") == ["a.md"]
        with pytest.raises(UsageError, match="not in a source"):
            index.sync([tmp_path / "elsewhere"])


@pytest.mark.parametrize("places", [None, ["a.md"]])
def test_sync_of_an_empty_vault_removes_the_last_document(tmp_path: Path, places: list[str] | None) -> None:
    with opened(tmp_path) as index:
        assert index.sync().problems == ()
        assert index.doctor().healthy
    with indexed(tmp_path, {"a.md": "Apples."}) as index:
        (tmp_path / "vault" / "a.md").unlink()
        report = index.sync(places and [tmp_path / "vault" / place for place in places])
        assert (report.removed, report.problems) == (1, ())
        assert paths_found(index, "apples") == []
        assert index.status().problems == ()


@pytest.mark.parametrize("left", [None, "", ".obsidian"])
@pytest.mark.parametrize("places", [None, ["a.md"]])
def test_sync_keeps_rows_of_a_missing_vault(tmp_path: Path, left: str | None, places: list[str] | None) -> None:
    """`left`: the vault is missing, an empty mount point, or holds hidden files only."""
    vault = tmp_path / "vault"
    with indexed(tmp_path, {"a.md": "Apples."}) as index:
        vault.rename(tmp_path / "unmounted")
        if left is not None:
            (vault / left).mkdir(parents=True, exist_ok=True)
        report = index.sync(places and [vault / place for place in places])
        assert (report.removed, [problem.code for problem in report.problems]) == (0, ["source_vanished"])
        assert paths_found(index, "apples") == ["a.md"]
        assert [problem.code for problem in index.status().problems] == ["source_vanished"]
        assert index.repair().problems
        assert index.stats().documents == 1
        shutil.rmtree(vault, ignore_errors=True)
        (tmp_path / "unmounted").rename(vault)
        assert index.sync().problems == ()


@pytest.mark.parametrize("damaged", [["index"], ["cache"], ["index", "cache"]])
def test_sync_sets_damaged_databases_aside(tmp_path: Path, damaged: list[str]) -> None:
    with indexed(tmp_path, NOTES) as index:
        data = index.home.data_dir
    for name in damaged:
        (data / f"{name}.db").write_bytes(b"garbage " * 5000)
    with opened(tmp_path) as index:
        report = index.sync()
        assert sorted(problem.code for problem in report.problems) == sorted(f"{name}_rebuilt" for name in damaged)
        assert paths(index, "bread") == ["sub/b.md"]
        assert index.doctor().healthy
        assert index.sync().problems == ()
    for name in damaged:
        (kept,) = data.glob(f"{name}.db.damaged*")
        assert kept.read_bytes().startswith(b"garbage")


def test_sync_follows_changed_settings(tmp_path: Path) -> None:
    from vault_index.config.edit import set_value

    with opened(tmp_path) as index:
        write(tmp_path / "vault", {**NOTES, "long.md": "\n\n".join(f"Paragraph {n} about oats." for n in range(99))})
        index.sync()
        before = index.stats().chunks
        set_value(index.home, "chunk.overlap", "0")
        set_value(index.home, "chunk.tokens", "60")
    with opened(tmp_path) as index:
        assert index.sync().changed == 4
        assert index.stats().chunks > before
        assert rows(index.home.index_db)["chunk"]


def test_sync_names_an_unreadable_file_and_keeps_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = tmp_path / "vault"
    with opened(tmp_path) as index:
        write(vault, NOTES)
        index.sync()
        write(vault, {"a.md": "Other words.\n", "new.md": "Novelty.\n"})

        def refuse(root: str, path: str, *_: object, **__: object) -> object:
            if path.endswith("a.md"):
                raise PermissionError(13, "Permission denied", path)
            return read_inside(root, path, 10_000)

        with monkeypatch.context() as patch:
            patch.setattr("vault_index.sources.vault.read_inside", refuse)
            report = index.sync()
        assert [failure.path for failure in report.failed] == ["a.md"]
        assert report.added == 1
        assert paths(index, "apple") == ["a.md"]
        assert [problem.code for problem in index.status().problems] == ["unreadable"]
        assert index.sync().changed == 1
        assert index.status().problems == ()


def test_sync_continues_after_an_unwritable_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = tmp_path / "vault"
    with opened(tmp_path) as index:
        write(vault, NOTES)
        index.sync()
        write(vault, {"a.md": "The heron flies.\n", "new.md": "The heron stands.\n", "z.md": "Zebra.\n"})
        (vault / "sub/b.md").rename(vault / "sub/heron.md")

        def half(raw: Any, *rest: Any, **named: Any) -> Any:
            row = describe(raw, *rest, **named)
            return replace(row, title="\ud83d") if "heron" in raw.text or "heron" in raw.ref.path else row

        with monkeypatch.context() as patch:
            patch.setattr("vault_index.indexer.reading.describe", half)
            report = index.sync()
        assert {failure.path for failure in report.failed} == {"a.md", "new.md", "sub/heron.md"}
        assert (report.added, report.moved, report.removed) == (1, 0, 1)
        assert (paths(index, "apple"), paths(index, "zebra")) == (["a.md"], ["z.md"])
        told = [problem.message for problem in index.status().problems]
        assert len(told) == 3
        assert all("a defect of vault-index: UnicodeEncodeError" in message for message in told)
        report = index.sync()
        assert (report.added, report.changed, report.failed) == (2, 1, ())
        assert index.status().problems == ()
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


@pytest.mark.parametrize("where", ["put_document", "put_faults"])
def test_sync_stops_when_the_index_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    def refuse(*_: object) -> None:
        raise BusyError("index.db is locked by another process")

    with opened(tmp_path) as index:
        write(tmp_path / "vault", NOTES)
        index.sync()
        write(tmp_path / "vault", {"a.md": "Other words.\n"})
        with monkeypatch.context() as patch:
            patch.setattr(f"vault_index.store.writer.IndexWriter.{where}", refuse)
            if where == "put_faults":
                patch.setattr("vault_index.sources.vault.read_inside", lambda *_, **__: 1 / 0)
            with pytest.raises(BusyError):
                index.sync()
        assert index.sync().changed == 1


@pytest.mark.skipif(sys.platform != "linux", reason="names elsewhere are UTF-8")
def test_sync_continues_after_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    bad, folder = os.fsdecode(b"bad\xff.md"), os.fsdecode(b"sub/d\xff")
    with opened(tmp_path) as index:
        write(vault, {**NOTES, "good.md": "The heron flies.\n"})
        (vault / bad).write_text("The heron stands.\n")
        (vault / folder).mkdir()
        (vault / folder / "x.md").write_text("The heron eats.\n")
        report = index.sync([vault / bad, vault / "good.md", vault / folder / "x.md"])
        assert paths(index, "heron") == ["good.md"]
        assert {failure.path for failure in report.failed} == {"bad\\xff.md", "sub/d\\xff"}
        assert all("not valid UTF-8; rename it" in failure.error for failure in report.failed)

        def told() -> set[str]:
            return {problem.message.partition(":")[0] for problem in index.status().problems}

        assert told() == {"bad\\xff.md", "sub/d\\xff"}
        assert index.sync().failed == ()
        assert told() == {"bad\\xff.md", "sub/d\\xff"}
        (vault / bad).rename(vault / "better.md")
        index.sync([vault / bad, vault / "better.md"])
        assert (told(), paths(index, "heron")) == ({"sub/d\\xff"}, ["better.md", "good.md"])


def test_sync_names_broken_frontmatter_once(tmp_path: Path) -> None:
    broken = "---\ntitle: Use WAL: readers\ntags: [a, b]\n---\nNarwhals.\n"
    with opened(tmp_path) as index:
        write(tmp_path / "vault", {"80-memory/decision/x.md": broken, **NOTES})
        (problem,) = index.sync().problems
        assert problem.code == "frontmatter"
        assert problem.message.startswith("80-memory/decision/x.md:2: frontmatter cannot be read: ")
        assert "in quotes" in problem.hint
        assert index.sync().problems == ()  # now `status` names it
        assert [one.code for one in index.status().problems] == ["frontmatter"]
        write(tmp_path / "vault", {f"{name}.md": broken for name in "pqr"})
        (problem,) = index.sync().problems
        assert problem.message.endswith("; `vault-index status` lists 2 more like it")
