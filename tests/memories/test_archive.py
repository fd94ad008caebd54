"""Archiving a memory changes one line of its file; no link breaks, and it is no duplicate of a new memory."""

import os
import time
from datetime import datetime
from pathlib import Path

from tests.api.vaults import fresh_rows, indexed, opened, paths_found, rows, write
from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.config.edit import create_config
from vault_index.memories import run_maintenance

ID = "11111111-1111-4111-8111-111111111111"
PATH = "80-memory/note/heron.md"
TEXT = f"---\nid: {ID}  # mine\r\ntags: [lake]\nupdated: 2020-01-01\nbead_id: bd-1\n---\nThe heron nests.\n"
DAY = 86_400


def test_archive_adds_one_line_and_restore_removes_it(tmp_path: Path, now: datetime) -> None:
    with indexed(tmp_path, {PATH: TEXT, "80-memory/bare.md": "No head, a heron.\n"}) as index:
        (outcome,) = index.archive(ID[:6]).results
        assert (outcome.outcome, outcome.id, outcome.path) == ("archived", ID, PATH)
        file = tmp_path / "vault" / PATH
        lines = file.read_bytes().decode().splitlines(keepends=True)
        assert [line for line in lines if line not in TEXT] == [f"archived: {now:%Y-%m-%d}\n"]
        assert paths_found(index, "heron") == ["80-memory/bare.md"]
        assert index.get(ID).results[0].content == "The heron nests.\n"
        assert rows(index.home.index_db) == fresh_rows(tmp_path)
        assert index.archive([ID], restore=True).results[0].outcome == "restored"
        assert file.read_bytes() == TEXT.encode()
        assert set(paths_found(index, "heron")) == {PATH, "80-memory/bare.md"}
        index.archive("80-memory/bare.md")
        assert paths_found(index, "heron") == [PATH]
        assert "No head, a heron.\n" in (tmp_path / "vault/80-memory/bare.md").read_text("utf-8")


def test_archive_does_not_rewrite_an_archived_memory(tmp_path: Path, now: datetime) -> None:
    with indexed(tmp_path, {PATH: TEXT}) as index:
        index.archive(ID)
        for restore, already in ((False, f"archived on {now:%Y-%m-%d}"), (True, "not archived")):
            if restore:
                index.archive(ID, restore=True)
            before = (tmp_path / "vault" / PATH).stat()
            (outcome,) = index.archive(ID, restore=restore).results
            assert outcome.details == {"already": already}
            assert (tmp_path / "vault" / PATH).stat() == before


def old(text: str = "", head: str = "") -> str:
    return f"---\ncreated: 2020-01-01\nupdated: 2020-01-02\n{head}---\nA heron{text}.\n"


NEVER = {
    "80-memory/inbox/a.md": old(),
    "80-memory/inbox/waiting/a.md": old(" guessed"),
    "80-memory/changed.md": old(" changed").replace("updated: 2020-01-02", "updated: 2999-01-01"),
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
        file.write(f'archive_after = "{value}"\n')  # the last section is `memory`


def kept_house(index: VaultIndex) -> list[str]:
    return [one.path for done in run_maintenance(index._runtime).values() for one in done.results]


def test_maintenance_archives_unused_memories(tmp_path: Path) -> None:
    with_setting(tmp_path, "1 year")
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
        index.archive("80-memory/a.md", restore=True)  # the restore changed it
        assert kept_house(index) == []


def test_maintenance_archives_nothing_by_default(tmp_path: Path) -> None:
    with indexed(tmp_path, {"80-memory/a.md": old()}) as index:
        os.utime(tmp_path / "vault/80-memory/a.md", times=(0, 0))
        assert run_maintenance(index._runtime) == {}


def test_add_ignores_a_duplicate_that_waits_in_another_folder(tmp_path: Path) -> None:
    cases = [
        ("inbox/waiting", "inbox/b", True), ("inbox", None, True), ("inbox/waiting", "inbox/waiting/b", False),
        ("inbox", "inbox/b", False), ("note", "inbox/b", False), ("note", None, False),
    ]  # fmt: skip
    texts = [f"The {bird} nests." for bird in ("heron", "stork", "coot", "swift", "egret", "crane")]
    twins = {f"80-memory/{twin}/{text[4:8]}.md": text for text, (twin, _, _) in zip(texts, cases, strict=True)}
    with indexed(tmp_path, twins) as index:
        assert [index.add(text, path=path).created for text, (_, path, _) in zip(texts, cases, strict=True)] == [
            created for _, _, created in cases
        ]
