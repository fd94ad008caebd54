"""Long reviews on a terminal: every action is done, loses no text, and is undone."""

import random
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.api.vaults import fresh_rows, opened, rows
from tests.memories.waiting import (
    COUNTS,
    Author,
    all_files,
    files_of,
    here,
    is_draft,
    is_whole,
    make_waiting,
    marks,
    new_home,
    undo_all,
)
from tests.terminal import Terminal

ACTIONS = ("accept", "edit", "merge", "supersede", "archive", "delete", "keep")
EDITED = "A person wrote this line."
FEW = dict.fromkeys(COUNTS, 2)


class Review(Terminal):
    """`vault-index review`, whose editor is a shell script that gets the file as $1."""

    def __init__(self, folder: Path, editor: str = f'echo "{EDITED}" >> "$1"') -> None:
        script = folder / "editor"
        script.write_text(f"#!/bin/sh\n{editor}\n", "utf-8")
        script.chmod(0o755)
        environment = {"VAULT_INDEX_HOME": str(folder / "home"), "VAULT_INDEX_DAEMON": "off", "VISUAL": str(script)}
        super().__init__("review", size=(160, 40), environ=environment)
        self.screen = self.until("q quit")

    def offers(self, action: str) -> bool:
        return f" {action}  " in self.screen.splitlines()[-1]

    def press(self, action: str) -> str:
        """Press the key that the last line of the screen names for an action, and return the next screen."""
        [key] = re.findall(rf"(\S) {action}", self.screen.splitlines()[-1])
        self.type(key)
        self.screen = self.until("q quit")
        return self.screen

    def come_to(self, action: str) -> set[str]:
        """Skip to the next item that has this action; return its memories."""
        while not self.offers(action):
            self.press("next")
        return marks(self.screen)

    def quit(self) -> None:
        self.type("q")
        self.until("[ended 0 cooked=True]")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return new_home(tmp_path)


def text_of(files: Mapping[str, bytes]) -> str:
    return b"\n".join(files.values()).decode()


def check(action: str, vault: Path, shown: set[str], before: Mapping[str, bytes]) -> bool:
    """Return whether an action changed files of the memories that were shown, and no others."""
    after = files_of(vault)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    texts = text_of({path: files[path] for files in (before, after) for path in changed & files.keys()})
    words = {"edit": EDITED, "merge": "superseded_by: ", "supersede": "superseded_by: ", "archive": "archived: "}
    return bool(changed) == (action != "keep") and marks(texts) <= shown and words.get(action, "") in texts


def test_review_decides_a_hundred_items_and_each_decision_is_undone(vault: Path, tmp_path: Path) -> None:
    make_waiting(vault, here(tmp_path), Author())
    before, chance, done, states = files_of(vault), random.Random(18), dict.fromkeys(ACTIONS, 0), []
    with Review(tmp_path) as review:
        while offered := [action for action in ACTIONS if review.offers(action)]:
            action = min(offered, key=lambda one: (done[one], chance.random()))
            shown, files = marks(review.screen), files_of(vault)
            review.press(action)
            assert check(action, vault, shown, files), f"{action} of {shown}:\n{review.screen}"
            done[action] += 1
            states.append(files)
        assert "That is all." in review.screen
        review.quit()
    assert sum(done.values()) > 100
    assert all(done.values()), done
    assert marks(text_of(dict(all_files(vault)))) == marks(text_of(before))
    with opened(tmp_path) as index:
        assert index.review().total == 0
        for number, state in enumerate(reversed(states)):
            index.undo()
            assert number % 20 or files_of(vault) == state
    assert files_of(vault) == before
    assert rows(tmp_path / "home/index.db") == fresh_rows(tmp_path)
    assert all(map(is_whole, before.values()))
    assert not [path for path, _ in all_files(vault) if is_draft(path)]


def test_two_reviews_at_once_do_not_undo_each_other(vault: Path, tmp_path: Path) -> None:
    make_waiting(vault, here(tmp_path), Author(), FEW)
    before = files_of(vault)
    with Review(tmp_path) as one, Review(tmp_path) as other:
        assert one.come_to("accept") == other.come_to("accept")
        assert "accepted: " in one.press("accept")
        assert "trashed: " in other.press("delete")
        assert "not done: " in one.press("undo")
        assert "undone: " in other.press("undo")
        one.quit()
        other.quit()
    assert undo_all(here(tmp_path), vault, before) == 1


EDITORS = {
    'echo "half" > "$1"; exit 1': "the editor ended with 1",
    ': > "$1"': "not done: ",
    'sed -i "s/^id: ./id: f/" "$1"': "not done: ",
    'printf "caf\\351\\n" >> "$1"': "cannot be read",
    ":": "nothing was changed",
    'echo Mine. >> "$1"; echo Theirs. >> "$MEMORY"': "changed since it was looked at",
    'rm "$1"; rm "$0"': "cannot be read",
    "is not there": "cannot be started",
}
"""What an editor does, and what the review says of it."""


def test_review_changes_nothing_after_a_failed_edit(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_waiting(vault, here(tmp_path), Author(), dict.fromkeys(COUNTS, 0) | {"remembered": 1})
    [(path, before)] = files_of(vault).items()
    monkeypatch.setenv("MEMORY", str(vault / path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # where refused texts are kept
    cases = "\n".join(f"{number}) {script} ;;" for number, script in enumerate(list(EDITORS)[:-1]))
    editor = f'n=$(cat "$0.n" 2>/dev/null || echo 0); echo $((n + 1)) > "$0.n"; case $n in\n{cases}\nesac'
    with Review(tmp_path, editor) as review:
        for script, said in EDITORS.items():
            review.come_to("edit")
            assert said in review.press("edit"), script
            if "Theirs" in script:
                before += b"Theirs.\n"
            assert files_of(vault) == {path: before}, script
        review.quit()
