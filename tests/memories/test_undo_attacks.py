"""Random walks of commands and undo, and undo from several sides at once: the files are the same bytes as before."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import fresh_rows, opened, rows
from tests.memories.waiting import Ask, Author, asked, files_of, here, make_waiting, new_home, undo_what_can_be
from tests.seeds import seeds
from tests.world import opened_world
from vault_index.errors import VaultIndexError

FEW = {"remembered": 6, "stated": 4, "alike": 3, "contrary": 2, "expired": 2, "outdated": 1, "unopened": 1}
STEPS = 60


class Walker:
    """Runs random commands on memories, the same for the same seed."""

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
        """Run one; return its name, or nothing if it was refused, which must change no file."""
        among = self.ask("list", kind="memory", limit=200)["results"]
        way = self.chance.choice(list(self.ways))
        if way == "accept":
            among = [one for one in among if "/inbox/" in one["path"]]
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


@pytest.mark.parametrize("seed", seeds(2))
def test_each_undo_goes_back_one_step(tmp_path: Path, seed: int) -> None:
    vault, chance = new_home(tmp_path), random.Random(seed)
    make_waiting(vault, here(tmp_path), Author(), FEW)
    states, steps = [files_of(vault)], [""]
    with opened(tmp_path) as index:
        walker = Walker(asked(index), vault, seed)

        def undo() -> None:
            walker.ask("undo")
            states.pop()
            undone = steps.pop()
            assert files_of(vault) == states[-1], f"{undone} is not undone"

        for _ in range(STEPS):
            if len(states) > 1 and chance.random() < 0.3:
                undo()
            elif step := walker.step():
                steps.append(step)
                states.append(files_of(vault))
        while len(states) > 1:
            undo()
        assert undo_what_can_be(walker.ask) == 2  # the captures before the walk
        assert files_of(vault).items() < states[0].items()
    assert rows(tmp_path / "home/index.db") == fresh_rows(tmp_path)


def test_undo_from_four_clients_takes_back_each_change_once(tmp_path: Path) -> None:
    with opened_world(tmp_path) as world:
        world.daemon()
        for number in range(8):
            world.ask("add", text=f"Fact {number} of the heron.")
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: world.ask("undo"), range(8)))
        assert len({str(answer["results"]) for answer in answers}) == 8
        assert files_of(world.vault) == {}
