"""What is archived: one line of its file changes, nothing links to nothing, and it absorbs nothing."""

import os
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from tests.api.vaults import fresh_rows, indexed, opened, paths_found, rows, write
from tests.memories.test_transfer import memory_files
from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.config.edit import create_config
from vault_index.errors import NotFoundError, UsageError
from vault_index.memories import keep_house

ID = "11111111-1111-4111-8111-111111111111"
PATH = "80-memory/note/heron.md"
TEXT = f"---\nid: {ID}  # mine\r\ntags: [lake]\nupdated: 2020-01-01\nbead_id: bd-1\n---\nThe heron nests.\n"
DAY = 86_400


def test_one_line_is_added_and_taken_away_again(tmp_path: Path) -> None:
    with indexed(tmp_path, {PATH: TEXT, "80-memory/bare.md": "No head, a heron.\n"}) as index:
        (outcome,) = index.archive(ID[:6]).results
        assert (outcome.outcome, outcome.id, outcome.path) == ("archived", ID, PATH)
        file = tmp_path / "vault" / PATH
        lines = file.read_bytes().decode().splitlines(keepends=True)
        assert [line for line in lines if line not in TEXT] == [f"archived: {date.today()}\n"]
        assert paths_found(index, "heron") == ["80-memory/bare.md"]
        assert index.get(ID).results[0].content == "The heron nests.\n"
        assert rows(index.home.index_db) == fresh_rows(tmp_path)
        assert index.archive([ID], restore=True).results[0].outcome == "restored"
        assert file.read_bytes() == TEXT.encode()
        assert set(paths_found(index, "heron")) == {PATH, "80-memory/bare.md"}
        index.archive("80-memory/bare.md")
        assert paths_found(index, "heron") == [PATH]
        assert "No head, a heron.\n" in (tmp_path / "vault/80-memory/bare.md").read_text("utf-8")


def test_what_is_so_already_is_told_and_not_written(tmp_path: Path) -> None:
    with indexed(tmp_path, {PATH: TEXT}) as index:
        index.archive(ID)
        for restore, already in ((False, f"archived on {date.today()}"), (True, "not archived")):
            if restore:
                index.archive(ID, restore=True)
            before = (tmp_path / "vault" / PATH).stat()
            (outcome,) = index.archive(ID, restore=restore).results
            assert outcome.details == {"already": already}
            assert (tmp_path / "vault" / PATH).stat() == before


def test_of_several_each_is_reported(tmp_path: Path) -> None:
    notes = {PATH: TEXT, "80-memory/b.md": "A stork.\n", "note.md": "A crow.\n"}
    with indexed(tmp_path, notes) as index:
        answer = index.archive([ID, "nobody", "note.md", "80-memory/b.md"])
        assert [one.path for one in answer.results] == [PATH, "80-memory/b.md"]
        assert [one.position for one in answer.failed] == ["nobody", "note.md"]
        for ref, error in (("nobody", NotFoundError), ("note.md", UsageError), ([], UsageError)):
            with pytest.raises(error):
                index.archive(ref)


@pytest.mark.parametrize(("day", "over"), [("2020-01-01", True), ("2999-01-01", False)])
def test_an_archived_twin_absorbs_nothing(tmp_path: Path, day: str, over: bool) -> None:
    with indexed(tmp_path, {PATH: TEXT.replace("bead_id", f"archived: {day}\nbead_id")}) as index:
        stored = index.add("The heron nests.", tags="birds")
        assert stored.created is over
        assert stored.near == ()


def test_its_day_is_no_word_of_it(tmp_path: Path) -> None:
    with indexed(tmp_path, {PATH: "---\narchived: 2031-07-19\n---\nThe heron.\n"}) as index:
        assert paths_found(index, "archived", mode="text") == paths_found(index, "2031", mode="text") == []


def test_an_export_keeps_it(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with indexed(tmp_path, {PATH: TEXT}) as index:
        index.archive(ID)
        for name in ("all.json", "all.md"):
            index.export(tmp_path / name, markdown=name.endswith(".md"))
    for name in ("all.json", "all.md"):
        with opened(tmp_path / "there") as other:
            assert [one.outcome for one in other.import_(tmp_path / name).results] in (["created"], ["known"])
            assert other.list(state="archived").total == 1
    assert memory_files(tmp_path) == memory_files(tmp_path / "there")


# --- memory.archive_after --------------------------------------------------------------------------------------


def old(text: str = "", head: str = "") -> str:
    return f"---\ncreated: 2020-01-01\nupdated: 2020-01-02\n{head}---\nA heron{text}.\n"


NEVER = {
    "80-memory/inbox/a.md": old(),
    "80-memory/inbox/waiting/a.md": old(" guessed"),
    "80-memory/changed.md": old(" changed").replace("updated: 2020-01-02", f"updated: {date.today()}"),
    "80-memory/created.md": "A heron of today.\n",
    "80-memory/touched.md": old(" touched"),
    "80-memory/opened.md": old(" opened"),
    "80-memory/expired.md": old(" expired", "expires: 2020-02-01\n"),
    "80-memory/replaced.md": old(" replaced", "superseded_by: 11111111-1111-4111-8111-111111111111\n"),
    "80-memory/later.md": old(" later", "archived: 2999-01-01\n"),
    "80-memory/archived.md": old(" archived", "archived: 2020-03-01\n"),
    "note.md": old(" note"),
}


def with_setting(folder: Path, value: str) -> None:
    (folder / "vault").mkdir()
    home = find_home(folder / "home")
    create_config(home, folder / "vault", provider="none", memory_dir=None)
    with home.config_file.open("a", encoding="utf-8") as file:
        file.write(f'archive_after = "{value}"\n')  # its last section is that of memories


def kept_house(index: VaultIndex) -> list[str]:
    return [one.path for done in keep_house(index._runtime).values() for one in done.results]


@pytest.mark.parametrize("setting", ["30 days", "1 month", "1 year"])
def test_what_nobody_used_for_long_is_archived_by_itself(tmp_path: Path, setting: str) -> None:
    with_setting(tmp_path, setting)
    write(tmp_path / "vault", {**NEVER, "80-memory/a.md": old(), "80-memory/b.md": old(" b", "project: pond\n")})
    for file in (tmp_path / "vault").rglob("*.md"):
        if file.name not in ("touched.md", "created.md"):
            os.utime(file, times=(time.time() - 400 * DAY,) * 2)
    with opened(tmp_path) as index:
        index.sync()
        index.get("80-memory/opened.md")
        before = {path: (tmp_path / "vault" / path).read_bytes() for path in NEVER}
        assert sorted(kept_house(index)) == ["80-memory/a.md", "80-memory/b.md"]
        assert kept_house(index) == []
        assert before == {path: (tmp_path / "vault" / path).read_bytes() for path in NEVER}
        index.archive("80-memory/a.md", restore=True)  # it was changed by that
        assert kept_house(index) == []


def test_of_very_many_some_are_archived_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault_index.memories.edit._AT_ONCE", 2)
    with_setting(tmp_path, "1 year")
    write(tmp_path / "vault", {f"80-memory/{number}.md": old(f" {number}") for number in range(5)})
    for file in (tmp_path / "vault").rglob("*.md"):
        os.utime(file, times=(0, 0))
    with opened(tmp_path) as index:
        assert [len(kept_house(index)) for _ in range(4)] == [2, 2, 1, 0]


def test_without_the_setting_nothing_is_archived(tmp_path: Path) -> None:
    with indexed(tmp_path, {"80-memory/a.md": old()}) as index:
        os.utime(tmp_path / "vault/80-memory/a.md", times=(0, 0))
        assert keep_house(index._runtime) == {}


def test_what_somebody_stores_does_not_wait_with_its_twin(tmp_path: Path) -> None:
    twins: Callable[[str], dict[str, str]] = lambda folder: {f"80-memory/{folder}/a.md": "The heron nests.\n"}  # noqa: E731
    for number, (twin, path, created) in enumerate(
        [("inbox/waiting", "inbox/b", True), ("inbox", None, True), ("inbox/waiting", "inbox/waiting/b", False),
         ("inbox", "inbox/b", False), ("note", "inbox/b", False), ("note", None, False)]
    ):  # fmt: skip
        (folder := tmp_path / str(number)).mkdir()
        with indexed(folder, twins(twin)) as index:
            assert index.add("The heron nests.", path=path).created is created, (twin, path)
