"""Undoing at random, after kills, at once from two sides: the files are the bytes that they were."""

import random
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import fresh_rows, opened, rows
from tests.daemon.test_run import Place, place as place
from tests.kills import killed, moments
from tests.memories.versions import said_in
from tests.memories.waiting import (
    Ask,
    Author,
    all_files,
    asked,
    files_of,
    here,
    is_whole,
    make_waiting,
    marks,
    undo_all,
    undo_what_can_be,
)
from vault_index.errors import ConflictError, NotFoundError, UsageError, VaultIndexError

FEW = {"remembered": 6, "stated": 4, "alike": 3, "contrary": 2, "expired": 2, "outdated": 1, "unopened": 1}
STEPS = 60
KILLS = 5
"""How many of the moments at which each decision can be killed."""


class Walker:
    """Does one thing after another to memories, the same for the same seed."""

    def __init__(self, ask: Ask, vault: Path, seed: int) -> None:
        self.ask, self.vault = ask, vault
        self.chance, self.author = random.Random(seed), Author(seed)
        self.author.number = 5000
        self.ways: dict[str, Callable[[list[str]], dict[str, Any]]] = {
            "add": lambda _: ask("add", text=self.text(), tags="walked"),
            "add that replaces": lambda refs: ask("add", text=self.text(), supersedes=refs[0]),
            "update": lambda refs: ask("update", ref=refs[0], content=self.text()),
            "append": lambda refs: ask("update", ref=refs[0], content=self.text(), append=True),
            "tag": lambda refs: ask("update", ref=refs[0], add_tags=self.author.sentence(1)),
            "replace": lambda refs: ask("update", ref=refs[0], supersedes=refs[1]),
            "delete": lambda refs: ask("delete", ref=refs),
            "archive": lambda refs: ask("archive", ref=refs),
            "restore": lambda refs: ask("archive", ref=refs[0], restore=True),
            "revert": lambda refs: ask("revert", ref=refs[0]),
            "prune": lambda _: ask("prune"),
            "capture": lambda _: ask("capture", text=f"*Remember*: {self.text()}", inbox=True),
            "accept": lambda refs: ask("decide", action="accept", ref=refs[0]),
            "edit": lambda refs: ask("decide", action="edit", ref=refs[0], text=f"---\nid: {refs[0]}\n---\nEdited.\n"),
            "merge": lambda refs: ask("decide", action="merge", ref=refs),
            "supersede": lambda refs: ask("decide", action="supersede", ref=refs),
        }  # fmt: skip

    def text(self) -> str:
        return self.author.marked(self.author.sentence())

    def step(self) -> str:
        """What was done; empty where it was refused, which changes nothing."""
        here = self.ask("list", kind="memory", limit=200)["results"]
        waiting = [one for one in here if "/inbox/" in one["path"]]
        way = self.chance.choice(list(self.ways))
        among = waiting if way == "accept" else here
        if len(among) < 2:
            return ""
        refs = [one["id"] for one in self.chance.sample(sorted(among, key=lambda one: str(one["path"])), 2)]
        before = files_of(self.vault)
        try:
            self.ways[way](refs)
        except VaultIndexError:
            assert files_of(self.vault) == before, f"{way} was refused, and changed files"
            return ""
        return way if files_of(self.vault) != before else ""


def prepared(folder: Path) -> dict[str, bytes]:
    """A place that can be copied elsewhere, with memories in it."""
    (folder / "vault").mkdir(parents=True)
    (folder / "home").mkdir(mode=0o700)
    (folder / "home/config.toml").write_text('[sources.vault]\npath = "../vault"\n[embedding]\nprovider = "none"\n')
    make_waiting(folder / "vault", here(folder), Author(), FEW)
    return files_of(folder / "vault")


@pytest.mark.parametrize("seed", range(1, 4))
def test_each_undo_goes_back_one_step(tmp_path: Path, seed: int) -> None:
    states, chance = [prepared(tmp_path)], random.Random(seed)
    with opened(tmp_path) as index:
        walker, steps = Walker(asked(index), tmp_path / "vault", seed), [""]
        for _ in range(STEPS):
            if len(states) > 1 and chance.random() < 0.3:
                walker.ask("undo")
                states.pop()
                undone = steps.pop()
                assert files_of(tmp_path / "vault") == states[-1], f"{undone} is not undone"
            elif step := walker.step():
                steps.append(step)
                states.append(files_of(tmp_path / "vault"))
        while len(states) > 1:
            walker.ask("undo")
            states.pop()
            undone = steps.pop()
            assert files_of(tmp_path / "vault") == states[-1], f"{undone} is not undone"
        assert undo_what_can_be(walker.ask) == 2  # what was captured before the walk
        assert files_of(tmp_path / "vault").items() < states[0].items()
    assert rows(tmp_path / "home/index.db") == fresh_rows(tmp_path)


def decisions(folder: Path) -> dict[str, dict[str, Any]]:
    """One of each that changes more than one file, or moves one."""
    ids = {mark: path for path, data in files_of(folder / "vault").items() for mark in marks(data.decode())}
    pair = [ids["0001"], ids["0002"]]
    captured = next(path for path in sorted(ids.values()) if "/inbox/" in path)
    return {
        "accept": {"ref": captured},
        "edit": {"ref": pair[0], "text": "---\nid: 00000000-0000-4000-8000-000000000000\n---\nx0001 anew end0001.\n"},
        "merge": {"ref": pair},
        "supersede": {"ref": pair},
        "archive": {"ref": pair},
        "delete": {"ref": pair},
    }


@pytest.mark.parametrize("action", ["accept", "edit", "merge", "supersede", "archive", "delete"])
def test_a_decision_that_was_killed_is_undone_as_far_as_it_came(tmp_path: Path, action: str) -> None:
    before = prepared(tmp_path / "before")
    given = decisions(tmp_path / "before")[action]

    def work() -> None:
        here(folder)("decide", action=action, **given)

    folder = Path(shutil.copytree(tmp_path / "before", tmp_path / "done"))
    for moment in moments(work, KILLS, seed=18):
        folder = Path(shutil.copytree(tmp_path / "before", tmp_path / f"killed-{moment}"))
        killed(work, moment)
        files = {path: data for path, data in all_files(folder / "vault") if "/.vault-index-" not in path}
        assert all(map(is_whole, files.values()))
        kept = "\n".join([*(data.decode() for data in files.values()), *said_in(folder / "home/state.db")])
        assert marks(kept) >= marks(b"\n".join(before.values()).decode())
        ask = here(folder)
        ask("sync")
        work_again(ask, action, given)
        assert undo_all(ask, folder / "vault", before) <= 2
        ask("sync")
        assert rows(folder / "home/index.db") == fresh_rows(folder)
        assert not [path for path, _ in all_files(folder / "vault") if "/.vault-index-" in path]
        shutil.rmtree(folder)


def work_again(ask: Ask, action: str, given: dict[str, Any]) -> None:
    """It works, or finds that it is done."""
    with suppress(NotFoundError, UsageError):
        ask("decide", action=action, **given)


def test_two_who_undo_at_once_undo_two_things(place: Place) -> None:
    (place.vault / "a.md").unlink()
    place.started()
    for number in range(8):
        place.ask("add", text=f"Fact {number} of the heron.")
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: place.ask("undo"), range(8)))
    assert len({str(answer["results"]) for answer in answers}) == 8
    assert files_of(place.vault) == {}
    assert len([path for path, _ in all_files(place.vault) if path.startswith(".trash/")]) == 8
    with pytest.raises(NotFoundError):
        place.ask("undo")


@pytest.mark.parametrize("changed", [0, 1])
def test_a_change_of_many_files_is_undone_whole_or_not_at_all(tmp_path: Path, changed: int) -> None:
    prepared(tmp_path)
    ask, vault = here(tmp_path), tmp_path / "vault"
    pair = decisions(tmp_path)["merge"]["ref"]
    ask("decide", action="merge", ref=pair)
    with (vault / pair[changed]).open("ab") as file:
        file.write(b"By hand.\n")
    files = files_of(vault)
    with pytest.raises(ConflictError) as raised:
        ask("undo")
    assert pair[changed] in f"{raised.value.message} {raised.value.hint}"
    assert files_of(vault) == files


@pytest.mark.parametrize("taken", ["a file", "a folder", "a link out of the vault"])
def test_a_deleted_memory_does_not_come_back_over_another(tmp_path: Path, taken: str) -> None:
    prepared(tmp_path)
    ask, vault = here(tmp_path), tmp_path / "vault"
    path = decisions(tmp_path)["delete"]["ref"][0]
    ask("delete", ref=path)
    (tmp_path / "outside.md").write_text("nobody's business\n")
    if taken == "a file":
        (vault / path).write_text("Somebody wrote here meanwhile.\n")
    elif taken == "a folder":
        (vault / path).mkdir()
    else:
        (vault / path).symlink_to(tmp_path / "outside.md")
    before = dict(all_files(vault))
    with pytest.raises(VaultIndexError):
        ask("undo")
    assert dict(all_files(vault)) == before
    assert (tmp_path / "outside.md").read_text() == "nobody's business\n"


def test_what_left_the_trash_is_put_back_from_what_is_kept(tmp_path: Path) -> None:
    """By the undo, or, where that says that it cannot, by the history."""
    before = prepared(tmp_path)
    ask, vault = here(tmp_path), tmp_path / "vault"
    ask("delete", ref=decisions(tmp_path)["delete"]["ref"][0])
    shutil.rmtree(vault / ".trash")
    with suppress(VaultIndexError):
        ask("undo")
    if files_of(vault) != before:
        ask("revert", ref="00000000-0000-4000-8000-000000000000", to="1")
    assert files_of(vault) == before
