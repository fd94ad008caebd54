"""Memories to review in the page of a home, and what their files say afterwards."""

import shutil
from collections.abc import Mapping
from typing import Any

from playwright.sync_api import Page

from tests.memories.waiting import files_of
from tests.page_real.browser import DESKTOP, Reader, visit
from tests.serve.servers import Place, Served
from vault_index.daemon.client import connect

FOLDER = "80-memory"
KEYS = {"accept": "a", "edit": "e", "merge": "m", "supersede": "s", "archive": "r", "delete": "d", "keep": "k"}


def memory(number: int, text: str, **keys: str) -> str:
    known = {"id": uid(number), "type": "note", "created": "2026-11-20", "updated": "2999-01-01", **keys}
    return "".join(["---\n", *(f"{key}: {value}\n" for key, value in known.items()), "---\n", text, "\n"])


def uid(number: int) -> str:
    return f"{number:08d}-1111-4111-8111-111111111111"


class Desk:
    """A home whose memories are laid out anew for each test, under names that no test had before."""

    def __init__(self, here: Place, served: Served) -> None:
        self.here, self.served = here, served
        self.token = here.token("desk", writes=True)
        self._laid = 0

    def put(self, total: int, files: Mapping[str, str]) -> dict[str, bytes]:
        """These memories and no others, of which so many items are to be reviewed; their files."""
        self._laid += 1
        shutil.rmtree(self.here.vault / FOLDER, ignore_errors=True)
        for path, text in files.items():
            # What was decided in another test is about others.
            text = text.replace("-1111-4111-", f"-{self._laid:04}-4111-")
            self.here.write(f"{FOLDER}/{path}-{self._laid}.md", text)
        self.sync()
        assert self.ask("review", limit=1)["total"] == total
        return self.files()

    def sync(self) -> None:
        client = connect(self.here.home.socket_path)
        assert client is not None
        with client:
            client.call("sync")

    def files(self) -> dict[str, bytes]:
        return files_of(self.here.vault)

    def ask(self, method: str, **params: Any) -> Any:
        answer = self.served.call(method, self.token, **params)
        assert answer.status == 200, answer.body
        return answer.json


def review(reader: Reader, place: str = "#/review", size: Any = DESKTOP, **options: Any) -> Page:
    page = reader.open(place, size=size, **options)
    ready(page)
    return page


def start(page: Page, place: str = "#/review") -> None:
    visit(page, place)
    ready(page)


def ready(page: Page) -> None:
    """As soon as a key decides."""
    page.wait_for_selector('article[aria-busy="false"]')


def item(page: Page) -> str:
    return page.locator("article").get_attribute("data-id") or ""


def decide(page: Page, action: str, *, by: str = "key") -> None:
    """What there is to be said besides is said as well."""
    ready(page)
    label = {"keep": "Keep"}.get(action, action.capitalize())
    if by == "key":
        page.keyboard.press(KEYS[action])
    else:
        page.get_by_role("article").get_by_role("button", name=label).click()
    if action == "merge":
        page.wait_for_selector("dialog .diff")
        page.keyboard.press("Enter") if by == "key" else page.locator("dialog").get_by_role(
            "button", name="Merge"
        ).click()
    if action == "edit":
        field = page.get_by_label("The whole file")
        if by == "mouse":
            field.click()
        page.keyboard.press("Control+End")
        page.keyboard.type("A person wrote this.\n")
        page.wait_for_selector(".review-edit ins, .review-edit .differs")
        page.keyboard.press("Control+Enter") if by == "key" else page.get_by_role("button", name="Save").click()
