"""Memories through the Python interface: storage, duplicates, refusals, and search."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import head, opened, write
from vault_index import VaultIndex
from vault_index.errors import NotFoundError, UsageError

ID = "11111111-1111-4111-8111-111111111111"
OLD = f"---\nid: {ID}\ntitle: Old\n---\nThe heron nests in the reeds.\n"
KEY = "AKIA" + "Z7Q2M4X6P9R3T5VW"


def files(vault: Path) -> list[str]:
    found = (file.relative_to(vault).as_posix() for file in vault.rglob("*") if file.is_file())
    return sorted(path for path in found if not path.startswith(".trash/"))


def found(index: VaultIndex, query: str) -> list[str]:
    return [hit.path for hit in index.search(query, mode="text").results]


def test_add_with_a_path_stores_a_memory_by_name(index: VaultIndex, vault: Path) -> None:
    stored = index.add("All is well.", path="handoffs/2026-01-01")
    assert stored.path == "80-memory/handoffs/2026-01-01.md"
    assert "All is well." in index.get("handoffs/2026-01-01").results[0].content
    index.update("handoffs/2026-01-01", content="Still well.", append=True)
    assert (vault / stored.path).read_text("utf-8").endswith("---\nAll is well.\n\nStill well.\n")
    with pytest.raises(UsageError, match="exists and has another text"):
        index.add("Something else.", path="handoffs/2026-01-01")


def test_add_stores_the_same_memory_once(index: VaultIndex, vault: Path) -> None:
    first = index.add("Herons nest\nin the reeds.", tags=["birds"])
    again = index.add("Herons  nest in the reeds.\n", tags=["birds", "lake"], expires="2031-01-01")
    assert (again.id, again.path, again.created, again.duplicate_of) == (first.id, first.path, False, first.id)
    assert again.warnings == ("added tags: lake", "expires is now 2031-01-01")
    front = head(vault / first.path)
    assert (front["tags"], front["expires"]) == (["birds", "lake"], "2031-01-01")
    assert files(vault) == [first.path]
    before = (vault / first.path).read_bytes()
    assert index.add("Herons nest in the reeds.").warnings == ()
    assert (vault / first.path).read_bytes() == before


def test_add_ignores_expired_and_deleted_duplicates(index: VaultIndex, vault: Path) -> None:
    for over in ("expires: 2020-01-01", f"superseded_by: {ID}", "archived: 2020-01-01"):
        first = index.add("Herons nest in the reeds.")
        # The file is changed before the index knows.
        file = vault / first.path
        file.write_text(file.read_text("utf-8").replace("type: note", f"type: note\n{over}"), "utf-8")
        again = index.add("Herons nest in the reeds.")
        assert again.created, over
        (vault / again.path).unlink()
    assert index.add("Herons nest in the reeds.").created


def test_add_finds_a_duplicate_that_is_not_indexed_yet(index: VaultIndex, vault: Path) -> None:
    write(vault, {"80-memory/mine.md": OLD})
    stored = index.add("The heron nests in the reeds.", title="Old")
    assert stored.duplicate_of == ID
    assert files(vault) == ["80-memory/mine.md"]


def test_add_with_an_unknown_superseded_memory_writes_nothing(index: VaultIndex, vault: Path) -> None:
    write(vault, {"80-memory/old.md": OLD, "note.md": "A note."})
    index.sync()
    for reference, error in (("9999", NotFoundError), ("note.md", UsageError)):
        with pytest.raises(error):
            index.add("The heron nests in trees now.", supersedes=["1111", reference])
    assert files(vault) == ["80-memory/old.md", "note.md"]
    assert (vault / "80-memory/old.md").read_text("utf-8") == OLD


def test_add_repeated_completes_a_half_done_supersession(index: VaultIndex, vault: Path) -> None:
    write(vault, {"80-memory/old.md": OLD})
    new = index.add("The heron nests in trees now.", supersedes="1111")
    assert head(vault / new.path)["supersedes"] == [ID]
    assert found(index, "heron") == [new.path]
    (vault / "80-memory/old.md").write_text(OLD, "utf-8")  # as a failure between the two writes leaves it
    again = index.add("The heron nests in trees now.", supersedes="1111")
    assert (again.created, again.id) == (False, new.id)
    assert head(vault / "80-memory/old.md")["superseded_by"] == new.id


def test_update_changes_only_the_named_fields(index: VaultIndex, vault: Path, now: datetime) -> None:
    text = OLD.replace("title: Old", "title: Old   # a comment\nmood: 'calm'\ntags: [a, b]")
    write(vault, {"80-memory/mine.md": text})
    answer = index.update("1111", type="decision", add_tags="c", remove_tags="A", content="It moved.")
    text = (vault / "80-memory/mine.md").read_text("utf-8")
    assert "title: Old   # a comment\nmood: 'calm'\ntags: [b, c]\n" in text
    assert text.endswith("---\nIt moved.\n")
    assert head(vault / "80-memory/mine.md")["type"] == "decision"
    assert str(head(vault / "80-memory/mine.md")["updated"]).startswith(f"{now:%Y-%m-%d}")
    assert (answer.created, answer.path) == (False, "80-memory/mine.md")
    assert found(index, "moved") == ["80-memory/mine.md"]


def test_update_removes_a_field_with_an_empty_value(index: VaultIndex, vault: Path) -> None:
    stored = index.add("Herons.", project="pond", tags="a")
    index.update(stored.id, project="", tags="")
    assert not {"project", "tags"} & head(vault / stored.path).keys()


def test_prune_deletes_only_expired_memories(index: VaultIndex, vault: Path, now: datetime) -> None:
    yesterday, today = now.date() - timedelta(days=1), now.date()
    text = "---\nexpires: {}\n---\nSomething {}.\n"
    write(vault, {f"80-memory/{day}.md": text.format(day, day) for day in ("2020-05-01", yesterday, today)})
    index.sync()
    assert [gone.path for gone in index.prune(before="2020-05-01").results] == []
    assert [gone.path for gone in index.prune(before="2020-05-02", dry_run=True).results] == ["80-memory/2020-05-01.md"]
    assert len(files(vault)) == 3
    # Postponed after indexing: the file decides.
    write(vault, {"80-memory/2020-05-01.md": text.format("2040-01-01", "put off")})
    (outcome,) = index.prune().results
    assert (outcome.path, outcome.outcome) == (f"80-memory/{yesterday}.md", "trashed")
    assert files(vault) == ["80-memory/2020-05-01.md", f"80-memory/{today}.md"]


def test_prune_before_a_day_deletes_older_memories(index: VaultIndex, vault: Path) -> None:
    text = "---\ncreated: {}\n{}---\nOf {}.\n"
    write(vault, {
        "80-memory/old.md": text.format("2020-05-01", "", "old"),
        "80-memory/later.md": text.format("2020-05-01", "expires: 2040-01-01\n", "later"),
        "80-memory/over.md": text.format("2024-05-01", "expires: 2024-06-01\n", "over"),
        "80-memory/new.md": text.format("2025-05-01", "", "new"),
    })  # fmt: skip
    index.sync()
    assert index.prune(before="2020-05-01").results == ()
    planned = index.prune(before="2021", dry_run=True).results
    assert {(gone.path, gone.details["created"]) for gone in planned} == {
        ("80-memory/later.md", "2020-05-01"), ("80-memory/old.md", "2020-05-01"),
    }  # fmt: skip
    assert len(files(vault)) == 4
    index.prune(before="2021")
    assert files(vault) == ["80-memory/new.md", "80-memory/over.md"]
    assert len(index.prune(before="2 weeks ago").results) == 2


def test_search_hides_a_memory_from_its_hour_of_expiry(index: VaultIndex, vault: Path, now: datetime) -> None:
    stored = index.add("The freeze holds until the evening.", expires="in 2 hours")
    expires = datetime.fromisoformat(str(head(vault / stored.path)["expires"]))
    assert expires == now.astimezone().replace(microsecond=0) + timedelta(hours=2)
    assert index.search("freeze evening").results
    past = (now.astimezone() - timedelta(minutes=1)).isoformat(timespec="seconds")
    with pytest.raises(UsageError, match="past"):
        index.update(stored.id, expires=past)
    (vault / stored.path).write_text(f"---\nexpires: {past}\n---\nThe freeze holds until the evening.\n", "utf-8")
    index.sync()
    assert index.search("freeze evening").results == ()
    assert len(index.list(state="expired").results) == 1


def test_capture_stores_other_memories_despite_a_refused_one(index: VaultIndex) -> None:
    answer = index.capture(f"*Remember*: the key is {KEY}\n\n*Remember*: The heron is shy.\n")
    assert [outcome.outcome for outcome in answer.results] == ["created"]
    (failed,) = answer.failed
    assert failed.position == "line 1"
    assert KEY not in failed.error


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"text": "fine", "digest": KEY}, "of digest contains"),
    ({"text": "\ud800"}, "UTF-8"),
    ({"text": "a\0b"}, "NUL"),
    ({"text": "fine", "source": "vault,vault"}, "one source"),
]


def test_add_refuses_bad_input_and_writes_nothing(index: VaultIndex, vault: Path) -> None:
    for options, message in REFUSED:
        with pytest.raises(UsageError, match=message):
            index.add(**options)
    assert files(vault) == []


def test_update_refuses_bad_input_and_writes_nothing(index: VaultIndex, vault: Path) -> None:
    stored = index.add("Herons.")
    before = (vault / stored.path).read_bytes()
    for options in (
        {}, {"content": KEY}, {"add_tags": KEY}, {"content": "", "title": ""}, {"content": " \n"}, {"type": "idea"},
        {"content": "x", "section": "Nowhere"}, {"supersedes": stored.id}, {"append": True},
        {"content": "---\ntags: [a]\n---\nEgrets."},
    ):  # fmt: skip
        with pytest.raises(UsageError):
            index.update(stored.id, **options)
    assert (vault / stored.path).read_bytes() == before


def test_update_and_doctor_name_two_files_with_one_id(index: VaultIndex, vault: Path) -> None:
    write(vault, {"80-memory/old.md": OLD, "80-memory/copy of old.md": OLD.replace("reeds", "trees")})
    index.sync()
    with pytest.raises(UsageError) as raised:
        index.update(ID, project="pond")
    assert "80-memory/old.md" in raised.value.hint
    assert "80-memory/copy of old.md" in raised.value.hint
    (problem,) = index.doctor().problems
    assert problem.code == "shared_id"
    assert "80-memory/copy of old.md, 80-memory/old.md" in problem.message
    index.update("old", project="pond")  # the path is unambiguous


def test_memory_vault_setting_or_option_chooses_the_vault(tmp_path: Path) -> None:
    from vault_index.config.edit import add_source, set_value

    with opened(tmp_path) as index:
        (tmp_path / "work").mkdir()
        add_source(index.home, "work", str(tmp_path / "work"), {})
        index._runtime.reload()
        assert (tmp_path / "vault" / index.add("Herons.").path).is_file()
        assert (tmp_path / "work" / index.add("Storks.", source="work").path).is_file()
        set_value(index.home, "memory.vault", "work")
        index._runtime.reload()
        assert (tmp_path / "work" / index.add("Swans.").path).is_file()


def test_add_refuses_a_vault_that_is_not_mounted(index: VaultIndex, vault: Path) -> None:
    index.add("Herons.")
    vault.rename(vault.with_name("elsewhere"))
    with pytest.raises(NotFoundError):
        index.add("Storks.")
    vault.mkdir()  # the mount point of an unmounted disk
    with pytest.raises(NotFoundError, match="nothing is written"):
        index.add("Storks.")
    assert list(vault.iterdir()) == []


def test_add_warns_of_an_ignore_rule(index: VaultIndex, vault: Path) -> None:
    write(vault, {".vaultignore": "80-memory/\n"})
    stored = index.add("Herons.")
    assert "an ignore rule" in stored.warnings[0]
