"""A review by keys: what each does, that each is undone, and that a kill at any moment loses nothing."""

import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import fresh_rows, opened, rows
from tests.cli.process import vx
from tests.daemon.test_run import Place, end, place as place
from tests.memories.versions import said_in
from tests.memories.waiting import (
    COUNTS,
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
)
from tests.terminal import Terminal, keys_of
from vault_index.api import dispatch

ACTIONS = ("accept", "edit", "merge", "supersede", "archive", "delete", "keep")
FEW = {name: max(2, number // 12) for name, number in COUNTS.items()}
KEPT = 200
"""How many changes can be undone."""
EDITED = "A person wrote this line."


@dataclass(frozen=True)
class Review:
    """A person who reviews the memories of a place."""

    place: Place
    terminal: Terminal

    def offers(self, action: str) -> bool:
        return bool(keys_of(self.terminal.screen, action))

    def press(self, *actions: str) -> str:
        """The first of the actions that the screen has a key for; names for the same differ."""
        screen = self.terminal.screen
        key = next((key for action in actions if (key := keys_of(screen, action))), "")
        assert key, f"there is no key for {' or '.join(actions)}:\n{screen}"
        return self.terminal.press(key)

    def shown(self) -> set[str]:
        """The memories that are on the screen, those of what was done last among them."""
        return marks(self.terminal.screen)

    def come_to(self, action: str, most: int = 250) -> set[str]:
        """Skip to the next one that has this action."""
        for _ in range(most):
            if self.offers(action):
                return self.shown()
            assert not self.terminal.ended, f"nothing to {action} was shown"
            self.press("skip", "next")
        raise AssertionError(f"nothing to {action} was shown:\n{self.terminal.screen}")


@pytest.fixture
def editor(tmp_path: Path) -> Mapping[str, str]:
    """An editor that adds a line to what it is given, and saves it."""
    script = tmp_path / "editor"
    script.write_text(f'#!/bin/sh\nfor file; do :; done\necho "{EDITED}" >> "$file"\n', "utf-8")
    script.chmod(0o755)
    return {"EDITOR": str(script), "VISUAL": str(script)}


@pytest.fixture
def review(place: Place, tmp_path: Path, editor: Mapping[str, str]) -> Iterator[Callable[..., Review]]:
    """Begins a review; whatever is left of it ends with the test."""
    begun: list[Terminal] = []

    def begin(**more: str) -> Review:
        environment = {"VAULT_INDEX_HOME": str(place.home.data_dir), "HOME": str(tmp_path), **editor, **more}
        begun.append(Terminal("review", environ=environment, cwd=tmp_path))
        return Review(place, begun[-1])

    yield begin
    for terminal in begun:
        terminal.__exit__()


def ask_of(place: Place) -> Ask:
    """The daemon where one runs; otherwise an index that is opened for each question."""

    def ask(method: str, **params: Any) -> dict[str, Any]:
        if place.listens():
            return place.ask(method, **params)
        with opened(place.vault.parent) as index:
            return dispatch(index, method, params)

    return ask


def text_of(files: Mapping[str, bytes]) -> str:
    return b"\n".join(files.values()).decode()


def path_of(place: Place, mark: str) -> str:
    """The file that one of them lies in."""
    return next(path for path, data in files_of(place.vault).items() if mark in marks(data.decode()))


def did(action: str, place: Place, shown: set[str], before: Mapping[str, bytes]) -> bool:
    """Whether the files are as they should be after an action on what was shown."""
    after = files_of(place.vault)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    if not marks(text_of({path: files[path] for files in (before, after) for path in changed & files.keys()})) <= shown:
        return False  # it is nobody else's business
    new = [after[path].decode() for path in changed & after.keys()]
    match action:
        case "accept":
            gone, came = before.keys() - after.keys(), after.keys() - before.keys()
            return len(gone) == len(came) == 1 and "/inbox/" in gone.pop() and "/inbox/" not in came.pop()
        case "edit":
            return len(new) == 1 and EDITED in new[0]
        case "merge":
            both = marks(text_of({path: before[path] for path in changed & before.keys()}))
            return any(marks(text) >= both for text in new) and any("superseded_by: " in text for text in new)
        case "supersede":
            return any("superseded_by: " in text for text in new) and any("supersedes:" in text for text in new)
        case "archive":
            return bool(new) and all("archived: " in text for text in new)
        case "delete":
            trash = {path: data for path, data in all_files(place.vault) if path.startswith(".trash/")}
            return bool(changed) and all(path not in after and before[path] in trash.values() for path in changed)
        case _:
            return not changed


def sound(place: Place) -> None:
    """The index is what a fresh build makes of the files, and nothing of a write that was cut short is left."""
    for daemon in place.daemons:
        if daemon.poll() is None:
            assert end(daemon) == 0
    folder = place.vault.parent
    here(folder)("sync")
    assert rows(place.home.index_db) == fresh_rows(folder)
    assert all(map(is_whole, files_of(place.vault).values()))
    assert not [path for path, _ in all_files(place.vault) if is_draft(path)]


def is_draft(path: str) -> bool:
    return Path(path).name.startswith(".vault-index-")


def prepared(place: Place, counts: Mapping[str, int] = FEW) -> dict[str, bytes]:
    """Memories that wait, and nothing else; their files."""
    for note in place.vault.glob("*.md"):
        note.unlink()
    make_waiting(place.vault, here(place.vault.parent), Author(), counts)
    return files_of(place.vault)


@pytest.mark.parametrize("daemon", [False, True], ids=["alone", "with a daemon"])
def test_two_hundred_are_reviewed_key_by_key(place: Place, review: Callable[..., Review], daemon: bool) -> None:
    """Each with the one of its actions that was used least; all that was said is there, and what is kept is undone."""
    before = prepared(place, FEW if daemon else COUNTS)
    if daemon:
        place.started()
    ask, begun, chance, done = ask_of(place), review(), random.Random(18), dict.fromkeys(ACTIONS, 0)
    states: list[dict[str, bytes]] = []
    counts = ask("review", limit=1)["counts"]
    made = FEW if daemon else COUNTS
    assert counts["unreviewed"] == made["remembered"] + made["stated"]
    # Of two that are alike each has a mark of its own, which may be read as another value.
    assert counts["duplicate"] + counts["contradiction"] >= made["alike"]
    assert [counts[name] for name in ("expired", "outdated", "unopened")] == [
        made[name] for name in ("expired", "outdated", "unopened")
    ]
    while not begun.terminal.ended:
        offered = [action for action in ACTIONS if begun.offers(action)]
        if not offered:
            break  # it says that this was all
        action = min(offered, key=lambda one: (done[one], chance.random()))
        shown, files = begun.shown(), files_of(place.vault)
        begun.press(action)
        assert did(action, place, shown, files), f"{action} of {shown}:\n{begun.terminal.screen}"
        done[action] += 1
        states.append(files)
    assert all(done.values()), done
    if not begun.terminal.ended:
        begun.press("quit")
    assert begun.terminal.process.returncode == 0
    assert ask("review")["total"] == 0
    assert marks(text_of(dict(all_files(place.vault)))) == marks(text_of(before))
    for process in place.daemons:
        assert end(process) == 0
    with opened(place.vault.parent) as index:
        for number, state in enumerate(reversed(states[-KEPT:])):
            asked(index)("undo")
            assert number % 20 or files_of(place.vault) == state
    assert files_of(place.vault) == states[-KEPT:][0]
    sound(place)


@pytest.mark.parametrize("action", ACTIONS)
def test_each_action_is_undone(place: Place, review: Callable[..., Review], action: str) -> None:
    before, begun = prepared(place), review()
    shown = begun.come_to(action)
    begun.press(action)
    assert did(action, place, shown, before), begun.terminal.screen
    begun.press("undo")
    assert files_of(place.vault) == before
    shown = begun.come_to(action)
    begun.press(action)
    begun.press("quit")
    assert begun.terminal.ended
    assert did(action, place, shown, before)
    undone = vx("undo", "--json", environ={"VAULT_INDEX_HOME": str(place.home.data_dir)})
    assert undone.returncode == 0, undone.stderr
    assert files_of(place.vault) == before
    sound(place)


def test_what_was_kept_is_not_asked_again_until_one_of_them_changes(
    place: Place, review: Callable[..., Review]
) -> None:
    prepared(place, FEW | {"remembered": 0, "stated": 0, "expired": 0, "outdated": 0, "unopened": 0, "contrary": 0})
    ask, begun = ask_of(place), review()
    waiting = ask("review")["total"]
    shown = begun.come_to("keep")
    begun.press("keep")
    begun.press("quit")
    assert ask("review")["total"] == waiting - 1
    path = path_of(place, min(shown))
    (place.vault / path).write_text((place.vault / path).read_text("utf-8") + "\nOnly here.\n", "utf-8")
    ask("sync")
    assert ask("review")["total"] == waiting


def test_looking_changes_nothing(place: Place, review: Callable[..., Review]) -> None:
    before, begun = prepared(place), review()
    first = begun.shown()
    for _ in range(5):
        begun.press("skip", "next")
    assert begun.shown() != first
    for _ in range(5):
        begun.press("back", "previous")
    assert begun.shown() == first
    for key in ("\x1b[A", "\x1b[6~", "\x7f", "é", "~", "\x00"):  # keys that mean nothing here
        begun.terminal.press(key)
    begun.press("quit")
    assert begun.terminal.process.returncode == 0
    assert files_of(place.vault) == before


@pytest.mark.parametrize("key", ["quit", "\x03", "\x04"], ids=["quit", "Ctrl-C", "Ctrl-D"])
def test_the_terminal_is_left_as_it_was(place: Place, review: Callable[..., Review], key: str) -> None:
    before, begun = prepared(place), review()
    assert begun.shown()
    if key == "quit":
        begun.press("quit")
    else:
        begun.terminal.type(key)
    assert begun.terminal.ended
    assert begun.terminal.cooked
    assert "Traceback" not in begun.terminal.screen
    assert files_of(place.vault) == before


EDITORS = {
    "is not there": "",
    "fails": 'echo "half" > "$file"; exit 1',
    "empties the file": ': > "$file"',
    "changes the id": "sed -i.old 's/^id: ./id: f/' \"$file\"",
    "writes no UTF-8": "printf 'caf\\351\\n' >> \"$file\"",
    "changes nothing": ":",
}


@pytest.mark.parametrize("editor_that", EDITORS)
def test_what_an_editor_gets_wrong_is_told_and_changes_nothing(
    place: Place, review: Callable[..., Review], tmp_path: Path, editor_that: str
) -> None:
    before, script = prepared(place), tmp_path / "wrong"
    if EDITORS[editor_that]:
        script.write_text(f"#!/bin/sh\nfor file; do :; done\n{EDITORS[editor_that]}\n", "utf-8")
        script.chmod(0o755)
    begun = review(EDITOR=str(script), VISUAL=str(script))
    shown = begun.come_to("edit")
    begun.press("edit")
    if editor_that != "changes nothing":
        assert begun.shown() == shown, "it goes on with another, though nothing was decided"
    begun.press("quit")
    assert begun.terminal.process.returncode == 0
    assert files_of(place.vault) == before


def test_what_was_saved_while_the_editor_was_open_stays(
    place: Place, review: Callable[..., Review], tmp_path: Path
) -> None:
    prepared(place, dict.fromkeys(COUNTS, 0) | {"remembered": 1})
    (path,) = files_of(place.vault)
    script = tmp_path / "slow"
    script.write_text(
        f'#!/bin/sh\nfor file; do :; done\necho Mine. >> "$file"\necho Theirs. >> "{place.vault}/{path}"\n'
    )
    script.chmod(0o755)
    begun = review(EDITOR=str(script), VISUAL=str(script))
    begun.press("edit")
    begun.press("quit")
    assert (place.vault / path).read_text("utf-8").endswith("Theirs.\n")


@pytest.mark.parametrize("line", ["words of a long memory ", "漢字仮名交じり文", "🦩 e\u0301 ", "unbroken" * 40])
def test_a_long_text_leaves_the_keys_on_the_screen(place: Place, review: Callable[..., Review], line: str) -> None:
    ask = ask_of(place)
    for number in (1, 2):
        body = "\n\n".join(line * 9 for _ in range(60))
        place.write(f"80-memory/note/{number}.md", f"---\ntitle: x000{number} long\n---\n{body}\nend000{number}.\n")
        place.write(f"80-memory/inbox/{number}.md", f"---\ntitle: x000{number + 2}\n---\n{body} {number}\n")
    ask("sync")
    begun = review()
    for _ in range(ask("review")["total"]):
        assert all(begun.offers(action) for action in ("delete", "archive", "quit")), begun.terminal.screen
        assert begun.shown(), begun.terminal.screen
        begun.press("skip", "next")


def test_texts_cannot_draw_on_the_terminal(place: Place, review: Callable[..., Review]) -> None:
    text = "x0001 \x1b[2J\x1b]0;owned\x07\x9b2J\x1b[?1049h\r hidden \x08\x08 end0001."
    place.write("80-memory/inbox/a.md", f'---\ntitle: x0001 "\\e[31mred"\n---\n{text}\n')
    ask_of(place)("sync")
    begun = review()
    assert begun.shown() == {"0001"}
    assert "hidden" in begun.terminal.screen
    begun.press("quit")


@pytest.mark.parametrize("seed", range(1, 4))
def test_a_review_undone_step_by_step_goes_back_the_way_it_came(
    place: Place, review: Callable[..., Review], seed: int
) -> None:
    """Some is undone on the way, the rest at the end, some of it by the command."""
    states, chance = [prepared(place)], random.Random(seed)
    begun = review()
    for _ in range(30):
        if len(states) > 1 and chance.random() < 0.3:
            begun.press("undo")
            states.pop()
        else:
            for _ in range(chance.randrange(4)):
                if begun.offers("skip") or begun.offers("next"):
                    begun.press("skip", "next")
            offered = [action for action in ACTIONS if action != "keep" and begun.offers(action)]
            if not offered:  # that was the last one
                break
            begun.press(chance.choice(offered))
            states.append(files_of(place.vault))
        assert files_of(place.vault) == states[-1]
    begun.press("quit")
    ask = ask_of(place)
    while len(states) > 1:
        ask("undo")
        states.pop()
        assert files_of(place.vault) == states[-1]
    sound(place)


@pytest.mark.parametrize("killed", ["the command", "the daemon"])
def test_a_kill_loses_nothing_and_the_rest_is_undone(
    place: Place, review: Callable[..., Review], tmp_path: Path, killed: str
) -> None:
    """The moments differ from run to run; what must hold is the same at each."""
    before, chance = prepared(place), random.Random(4)
    texts = marks(text_of(before))
    for _ in range(6):
        daemon = place.started() if killed == "the daemon" else None
        begun = review()
        for _ in range(chance.randrange(3)):
            begun.press("skip", "next")
        for _ in range(2):
            offered = [action for action in ACTIONS if begun.offers(action)]
            action = chance.choice(offered)
            begun.terminal.type(keys_of(begun.terminal.screen, action))
        time.sleep(chance.random() * 0.06)
        if daemon is not None:
            daemon.kill()
            daemon.wait()
            assert begun.terminal.screen  # it says so, or does the rest by itself
        begun.terminal.kill()
        files = {path: data for path, data in all_files(place.vault) if not is_draft(path)}
        assert marks("\n".join([text_of(files), *said_in(place.home.state_db)])) >= texts
        assert all(map(is_whole, files.values()))
        if daemon is None:
            here(place.vault.parent)("sync")
    undo_all(ask_of(place), place.vault, before)
    sound(place)


def test_what_changed_since_stops_an_undo(place: Place, review: Callable[..., Review]) -> None:
    prepared(place)
    begun = review()
    shown = begun.come_to("merge")
    begun.press("merge")
    begun.press("quit")
    path = path_of(place, min(shown))
    with (place.vault / path).open("a", encoding="utf-8") as file:
        file.write("\nBy hand.\n")
    files = files_of(place.vault)
    undone = vx("undo", "--json", environ={"VAULT_INDEX_HOME": str(place.home.data_dir)})
    assert undone.returncode == 5
    assert path in undone.stderr
    assert files_of(place.vault) == files


def test_two_reviews_at_once_do_not_undo_each_other(place: Place, review: Callable[..., Review]) -> None:
    """Each decides the same one; the second finds it decided, or changed, and says so."""
    before = prepared(place)
    place.started()
    one, other = review(), review()
    shown = one.come_to("accept")
    assert other.come_to("accept") == shown
    one.press("accept")
    other.press("delete")
    assert marks(text_of(dict(all_files(place.vault)))) == marks(text_of(before))
    for begun in (one, other):
        begun.press("quit")
        assert begun.terminal.process.returncode == 0
    undo_all(ask_of(place), place.vault, before)


def test_without_a_terminal_it_lists(place: Place) -> None:
    prepared(place)
    environment = {"VAULT_INDEX_HOME": str(place.home.data_dir), "TERM": os.environ.get("TERM", "dumb")}
    listed = vx("review", "--json", "--limit", "3", environ=environment)
    assert listed.returncode == 0, listed.stderr
    assert '"counts"' in listed.stdout
