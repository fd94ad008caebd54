"""The page in a real Chromium: a home that is served, and pages that are signed in as their user would be."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect, sync_playwright

from tests.serve.servers import Place, Served

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
PATIENCE_MS = 40_000
"""A machine may have much else to do: what is waited for comes, or never."""
expect.set_options(timeout=PATIENCE_MS)
DESKTOP: ViewportSize = {"width": 1400, "height": 900}
PHONE: ViewportSize = {"width": 380, "height": 800}


def chromium() -> str:
    """Its program; empty where there is none."""
    named = os.environ.get("CHROMIUM_BIN", "")
    return named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")


@contextmanager
def started() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*ARGUMENTS])
        yield browser
        browser.close()


class Reader:
    """A browser's user at one home. What must never happen on any page is kept in `faults`."""

    def __init__(self, browser: Browser, here: Place, served: Served) -> None:
        self.browser, self.here, self.served = browser, here, served
        self.origin = f"http://127.0.0.1:{served.port}"
        self.faults: list[str] = []
        self.now: datetime | None = None
        """What their clock says; None for what it is."""
        self._contexts: list[BrowserContext] = []

    def code(self) -> str:
        """The address that `vault-index open` says."""
        command = [sys.executable, "-m", "vault_index", "--home", str(self.here.home.data_dir), "open", "--print"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def open(
        self,
        place: str = "#/",
        *,
        size: Any = DESKTOP,
        scheme: str = "light",
        **options: Any,
    ) -> Page:
        """A page of its own, signed in, at a place."""
        settings: dict[str, Any] = {"viewport": size, "color_scheme": scheme, "reduced_motion": "reduce", **options}
        context = self.browser.new_context(**settings)
        self._contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        if self.now:
            context.clock.set_fixed_time(self.now)
        page = context.new_page()
        self._watch(page)
        page.goto(self.code())
        page.wait_for_selector(".side nav")
        if place != "#/":
            page.goto(f"{self.origin}/{place}")
        return page

    def begun(self, page: Page, place: str) -> Page:
        """Another page of the same browser, which begins at a place."""
        other = page.context.new_page()
        self._watch(other)
        other.goto(f"{self.origin}/{place}")
        return other

    def _watch(self, page: Page) -> None:
        def asked(request: Any) -> None:
            if not request.url.startswith((self.origin, "blob:", "data:")):
                self.faults.append(f"asked elsewhere: {request.url}")

        page.on("request", asked)
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))
        page.on("popup", lambda popup: self.faults.append(f"popup: {popup.url}"))
        page.on("console", self._said)

    def _said(self, said: Any) -> None:
        # Of every answer that is an error the browser says so itself.
        if said.type == "error" and not said.text.startswith("Failed to load resource"):
            self.faults.append(f"console: {said.text}")

    def close(self) -> None:
        for context in self._contexts:
            context.close()
        self._contexts.clear()


def visit(page: Page, place: str) -> None:
    """A place drawn anew, also where the page is there already: what is loaded stays loaded."""
    page.evaluate("location.replace('#/nowhere')")
    page.locator("main").get_by_text("There is no such page").wait_for()
    for close in page.get_by_role("button", name="Close the message").all():
        close.click()
    page.evaluate("place => location.replace(place)", place)


def shown(page: Page, query: str, which: Literal["shown", "refined"] = "shown") -> None:
    """As soon as the hits for this are drawn."""
    page.wait_for_selector(f'html[data-{which}="{query}"]', state="attached")


def axe(page: Page) -> list[str]:
    """What axe finds on a page: empty without the program (`make test-page` installs it)."""
    program = os.environ.get("AXE", "")
    if not program:
        pytest.skip("axe does not look at the page: make test-page installs it")
    if not page.evaluate("'axe' in window"):
        page.evaluate(Path(program).read_text("utf-8") + "; null")
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{one['id']}: {one['help']}: {node['target']} {node['html']:.120}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


def looks(page: Page) -> list[str]:
    """What axe finds on both screens in both schemes, and whether anything is wider than they are."""
    found: list[str] = []
    for size in (PHONE, DESKTOP):
        page.set_viewport_size(size)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        found += [f"{wide} wider than {size['width']}"] if wide > 0 else []
        schemes: list[Literal["dark", "light"]] = ["dark", "light"]
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme)
            found += [f"{scheme}, {size['width']}: {one}" for one in axe(page)]
    return found
