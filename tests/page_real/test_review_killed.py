"""The same review in two pages, and killed: files and index stay whole, and everything is undone."""

import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.api.vaults import fresh_rows, rows
from tests.memories import waiting
from tests.memories.versions import said_in
from tests.memories.waiting import all_files, files_of, is_draft, is_whole, marks, undo_all
from tests.page_real.browser import Reader, toast, visit
from tests.page_real.desk import KEYS, READY, item, ready
from tests.world import World, opened_world

COUNTS = {"remembered": 8, "stated": 0, "alike": 10, "contrary": 2, "expired": 3, "outdated": 1, "unopened": 1}
SETTLED = f"{READY}, .review-end"
"""A page that waits for no answer."""


class Home:
    """Memories that wait for review, their files at the start, and the daemon and server in front of them."""

    def __init__(self, folder: Path, world: World) -> None:
        self.folder, self.world = folder, world
        waiting.make_waiting(world.vault, waiting.here(folder), waiting.Author(), COUNTS)
        self.before, self.known = self.files(), self.problems()
        self.daemon, self.served = world.daemon(), world.serve()

    def files(self) -> dict[str, bytes]:
        return files_of(self.world.vault)

    def problems(self) -> set[str]:
        """Return the codes of all problems but that no daemon runs."""
        codes = {one["code"] for one in waiting.here(self.folder)("doctor")["problems"]}
        return {code for code in codes if not code.startswith("daemon")}

    def start_again(self) -> None:
        """Start what was killed, and wait until the daemon has done its work."""
        if self.served.process.poll() is not None:
            self.served = self.world.serve()
        if self.daemon.poll() is not None:
            self.daemon = self.world.daemon()
        self.world.ask("sync")

    def loses_nothing(self) -> None:
        files = {path: data for path, data in all_files(self.world.vault) if not is_draft(path)}
        assert all(map(is_whole, files.values()))
        said = "\n".join([b"\n".join(files.values()).decode(), *said_in(self.world.home.state_db)])
        assert marks(said) >= marks(b"\n".join(self.before.values()).decode())

    def can_be_undone(self) -> None:
        """Undo everything: every file has its bytes again, and the index is what a fresh build makes of them."""
        self.world.close()
        ask = waiting.here(self.folder)
        ask("sync")
        self.loses_nothing()
        assert rows(self.world.home.index_db) == fresh_rows(self.folder)
        assert self.problems() == self.known
        undo_all(ask, self.world.vault, self.before)
        ask("sync")
        assert rows(self.world.home.index_db) == fresh_rows(self.folder)
        assert not [path for path, _ in all_files(self.world.vault) if is_draft(path)]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    # Only the test starts the daemon again: serve would race with it.
    with opened_world(tmp_path, "[agents]\nstart_daemon = false\n") as world:
        yield Home(tmp_path, world)


def press(page: Page, action: str) -> None:
    """Choose an action, and confirm it."""
    page.keyboard.press(KEYS[action])
    confirm(page, action)


def confirm(page: Page, action: str) -> None:
    if action == "merge":
        page.wait_for_selector("dialog .diff, dialog [role=alert]")
        page.keyboard.press("Enter")


KILLS = (("page", "merge"), ("serve", "accept"), ("daemon", "merge"), ("daemon", "supersede"), ("daemon", "delete"))


def test_review_decision_is_done_or_undone_after_a_kill(browser: Any, home: Home) -> None:
    """Each process is killed while it works on the request of the page."""
    for victim, action in KILLS:
        reader = Reader(browser, home.world, home.served)
        page = reader.open(f"#/review?reason={'unreviewed' if action == 'accept' else 'duplicate'}")
        ready(page)
        files, there = home.files(), dict(all_files(home.world.vault))
        with page.expect_request("**/api/decide"):
            press(page, action)
        if victim == "page":
            page.context.close()
        else:
            process = home.served.process if victim == "serve" else home.daemon
            process.kill()
            process.wait()
        home.start_again()
        home.loses_nothing()
        if action in ("accept", "delete"):
            moved = {data for path, data in all_files(home.world.vault) if path not in there}
            assert sorted({*home.files().values(), *moved}) == sorted(files.values()), "a file is half moved"
        if victim == "daemon":
            page.wait_for_selector(SETTLED)
        reader.close()
    home.can_be_undone()


ALONE, OF_TWO = ("accept", "archive", "delete"), ("merge", "supersede", "keep", "archive", "delete")


def test_review_in_two_pages_decides_the_same_item_once(browser: Any, home: Home) -> None:
    reader, chance = Reader(browser, home.world, home.served), random.Random(2)
    pages, token = [reader.open(), reader.open()], home.world.token("desk", writes=True)
    for reason, actions in (
        *(("unreviewed", both) for both in chance.sample([*itertools.product(ALONE, ALONE)], 3)),
        *(("duplicate", both) for both in chance.sample([*itertools.product(OF_TWO, OF_TWO)], 5)),
    ):
        item_id = home.served.call("review", token, reason=[reason], limit=1).json["results"][0]["id"]
        for page in pages:
            visit(page, f"#/review?reason={reason}&at={item_id}")
            page.wait_for_selector(f'article[data-id="{item_id}"][aria-busy="false"]')
        for page, action in zip(pages, actions, strict=True):
            page.keyboard.press(KEYS[action])
        for page, action in zip(pages, actions, strict=True):
            confirm(page, action)
        for page in pages:
            page.wait_for_selector(".toast, [role=alert], .note, .review-end")
            page.wait_for_selector(SETTLED)
        home.loses_nothing()
    assert reader.faults == []
    reader.close()
    home.can_be_undone()


def test_review_undo_in_one_page_keeps_what_the_other_did_since(browser: Any, home: Home) -> None:
    reader = Reader(browser, home.world, home.served)
    one, other = reader.open("#/review?reason=expired"), reader.open("#/review?reason=expired")
    assert item(one) == item(other)
    press(one, "keep")
    toast(one).wait_for()
    other.wait_for_selector(f"article .note, {READY}")
    press(other, "archive")
    other.wait_for_selector(".toast, [role=alert]")
    one.keyboard.press("u")
    toast(one).filter(has_text="ndone").wait_for()
    home.loses_nothing()
    reader.close()
    home.can_be_undone()
