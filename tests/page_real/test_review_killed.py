"""The same review cut short and done twice: whatever is killed, and whoever is first, files and index stay as they
should be, and all of it is undone."""

import itertools
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.api.vaults import fresh_rows, rows
from tests.memories.versions import said_in
from tests.memories.waiting import (
    Author,
    all_files,
    files_of,
    here as asked_in,
    is_draft,
    is_whole,
    make_waiting,
    marks,
    undo_all,
)
from tests.page_real.browser import Reader, visit
from tests.page_real.desk import KEYS, item, ready
from tests.serve.servers import Place, place
from vault_index.daemon.client import connect

COUNTS = {"remembered": 12, "stated": 0, "alike": 12, "contrary": 3, "expired": 4, "outdated": 2, "unopened": 2}
ALONE, OF_TWO = ("accept", "archive", "delete"), ("merge", "supersede", "keep", "archive", "delete")


class Home:
    """Memories that wait, how their files were, and the processes that stand before them."""

    def __init__(self, folder: Path, here: Place) -> None:
        self.folder, self.here = folder, here
        make_waiting(here.vault, asked_in(folder), Author(), COUNTS)
        self.before, self.known = self.files(), self.problems()
        self.daemon, self.served = here.daemon(), here.serve()

    def files(self) -> dict[str, bytes]:
        return files_of(self.here.vault)

    def problems(self) -> set[str]:
        """Of the index and its home; that no daemon runs any more is none."""
        codes = {one["code"] for one in asked_in(self.folder)("doctor")["problems"]}
        return {code for code in codes if not code.startswith("daemon")}

    def up(self) -> None:
        """Whatever was killed runs again, and has looked at everything."""
        if self.served.process.poll() is not None:
            self.served = self.here.serve()
        if self.daemon.poll() is not None:
            self.daemon = self.here.daemon()
        client = connect(self.here.home.socket_path)
        assert client is not None
        with client:
            client.call("sync")  # after what is under way

    def loses_nothing(self) -> None:
        files = {path: data for path, data in all_files(self.here.vault) if not is_draft(path)}
        assert all(map(is_whole, files.values()))
        said = "\n".join([b"\n".join(files.values()).decode(), *said_in(self.here.home.state_db)])
        assert marks(said) >= marks(b"\n".join(self.before.values()).decode())

    def is_as_before_once_undone(self) -> None:
        """The very bytes; and the index is what a fresh build makes of them."""
        self.here.close()
        ask = asked_in(self.folder)
        ask("sync")
        self.loses_nothing()
        assert rows(self.here.home.index_db) == fresh_rows(self.folder)
        assert self.problems() == self.known
        undo_all(ask, self.here.vault, self.before)
        ask("sync")
        assert rows(self.here.home.index_db) == fresh_rows(self.folder)
        assert not [path for path, _ in all_files(self.here.vault) if is_draft(path)]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with place(tmp_path) as here:
        yield Home(tmp_path, here)


def begin(page: Page, action: str) -> None:
    """Its key; what it asks for besides is answered."""
    page.keyboard.press(KEYS[action])
    if action == "merge":
        page.wait_for_selector("dialog .diff")
        page.keyboard.press("Enter")


def settled(page: Page) -> None:
    """There is an answer, whatever it says."""
    page.wait_for_selector('article[aria-busy="false"], .review-end')


KILLS = (
    ("page", "merge"), ("serve", "accept"), ("daemon", "merge"), ("serve", "delete"), ("daemon", "supersede"),
    ("page", "accept"), ("daemon", "delete"), ("serve", "merge"),
)  # fmt: skip


def test_a_kill_leaves_each_decision_done_or_to_be_undone(browser: Any, home: Home) -> None:
    """The moments differ from run to run; what must hold is the same at each."""
    chance = random.Random(5)
    for victim, action in KILLS:
        reader = Reader(browser, home.here, home.served)
        page = reader.open(f"#/review?reason={'unreviewed' if action == 'accept' else 'duplicate'}")
        ready(page)
        files, there = home.files(), dict(all_files(home.here.vault))
        begin(page, action)
        time.sleep(chance.random() * 0.06)
        if victim == "page":
            page.context.close()
        else:
            process = home.served.process if victim == "serve" else home.daemon
            process.kill()
            process.wait()
        home.up()
        home.loses_nothing()
        if action in ("accept", "delete"):
            moved = {data for path, data in all_files(home.here.vault) if path not in there}
            assert sorted({*home.files().values(), *moved}) == sorted(files.values()), "a file is half moved"
        if victim == "daemon":
            settled(page)
        reader.close()
    home.is_as_before_once_undone()


def test_two_pages_decide_the_same_at_once(browser: Any, home: Home) -> None:
    """Each is told what became of it; nothing is done twice, and nothing lost."""
    reader = Reader(browser, home.here, home.served)
    pages = [reader.open(), reader.open()]
    token, chance = home.here.token("desk", writes=True), random.Random(2)
    of_one = chance.sample([*itertools.product(ALONE, ALONE)], 3)
    of_two = chance.sample([*itertools.product(OF_TWO, OF_TWO)], 5)
    for reason, actions in [("unreviewed", each) for each in of_one] + [("duplicate", each) for each in of_two]:
        found = home.served.call("review", token, reason=[reason], limit=1).json["results"]
        if not found:
            continue
        for page in pages:
            visit(page, f"#/review?reason={reason}&at={found[0]['id']}")
            page.wait_for_selector(f'article[data-id="{found[0]["id"]}"][aria-busy="false"]')
        for page, action in zip(pages, actions, strict=True):
            page.keyboard.press(KEYS[action])
        for page, action in zip(pages, actions, strict=True):
            if action == "merge":
                page.wait_for_selector("dialog .diff, dialog [role=alert]")
                page.keyboard.press("Enter")
        for page in pages:
            page.wait_for_selector('.toast, [role="alert"], .note, .review-end')
            settled(page)
        home.loses_nothing()
    assert reader.faults == []
    reader.close()
    home.is_as_before_once_undone()


def test_the_first_of_two_is_undone_only_as_long_as_it_stands(browser: Any, home: Home) -> None:
    """What the other page did since is not taken back along with it."""
    reader = Reader(browser, home.here, home.served)
    one, other = reader.open("#/review?reason=expired"), reader.open("#/review?reason=expired")
    ready(one)
    ready(other)
    assert item(one) == item(other)
    one.keyboard.press("k")
    one.locator(".toast").wait_for()
    other.wait_for_selector("article .note, article[aria-busy=false]")
    other.keyboard.press("r")
    other.wait_for_selector('.toast, [role="alert"]')
    one.keyboard.press("u")
    one.locator(".toast", has_text="ndone").wait_for()
    home.loses_nothing()
    reader.close()
    home.is_as_before_once_undone()
