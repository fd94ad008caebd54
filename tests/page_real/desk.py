"""Memories of a home: written, reviewed on the page, and read back from their files."""

import shutil
from collections.abc import Mapping
from typing import Any

from playwright.sync_api import Page, expect

from tests.memories.waiting import files_of
from tests.page_real.browser import visit
from tests.waiting import until
from tests.world import Served, World

FOLDER = "80-memory"
KEYS = {"accept": "a", "edit": "e", "merge": "m", "supersede": "s", "archive": "r", "delete": "d", "keep": "k"}
READY = 'article[aria-busy="false"]'
"""A review item that is ready for a decision."""


def memory(number: int, text: str, **keys: str) -> str:
    known = {
        "id": f"{number:08d}-1111-4111-8111-111111111111",
        "type": "note",
        "created": "2026-11-20",
        "updated": "2999-01-01",
        **keys,
    }
    return "".join(["---\n", *(f"{key}: {value}\n" for key, value in known.items()), "---\n", text, "\n"])


class Desk:
    """The memories of a home, written for each test under unused names."""

    def __init__(self, world: World, served: Served) -> None:
        self.world, self.served = world, served
        self.token = world.token("desk", writes=True)
        self._laid = 0

    def put(self, total: int, files: Mapping[str, str]) -> dict[str, bytes]:
        """Make these the only memories, wait until `total` items await review, and return the files."""
        self._laid += 1
        shutil.rmtree(self.world.vault / FOLDER, ignore_errors=True)
        for path, text in files.items():
            # New ids: decisions of other tests must not apply to them.
            text = text.replace("-1111-4111-", f"-{self._laid:04}-4111-")
            self.world.write(f"{FOLDER}/{path}-{self._laid}.md", text)
        self.world.ask("sync")
        until(lambda: self.ask("review", limit=1)["total"] == total)
        return self.files()

    def files(self) -> dict[str, bytes]:
        return files_of(self.world.vault)

    def ask(self, method: str, **params: Any) -> Any:
        answer = self.served.call(method, self.token, **params)
        assert answer.status == 200, answer.body
        return answer.json


def start(page: Page, place: str = "#/review") -> None:
    visit(page, place)
    ready(page)


def ready(page: Page) -> None:
    page.wait_for_selector(READY)


def text_is_drawn(page: Page) -> None:
    """Wait for the text of the memory: an editor that opens before it is not focused."""
    expect(page.locator(".review-memory .prose").first).to_be_visible()


def item(page: Page) -> str:
    """Return the id of the current item."""
    ready(page)
    return page.locator("article").get_attribute("data-id") or ""


def wait_for_next(page: Page, before: str) -> None:
    """Wait until the item `before` is gone."""
    expect(page.locator(f'article[data-id="{before}"]')).to_have_count(0)


def decide(page: Page, action: str) -> None:
    """Choose an action by its key and confirm it."""
    ready(page)
    if action == "edit":
        text_is_drawn(page)
    page.keyboard.press(KEYS[action])
    if action == "merge":
        page.wait_for_selector("dialog .diff")
        page.keyboard.press("Enter")
    if action == "edit":
        add_text(page, "A person wrote this.\n")
        page.wait_for_selector(".review-edit ins, .review-edit .differs")
        page.keyboard.press("Control+Enter")


def add_text(page: Page, text: str) -> None:
    """Type at the end of the editor of a review item."""
    expect(page.get_by_label("The whole file")).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type(text)
