"""Chromium at the page of a home: sign-in, views, and checks with axe."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, ViewportSize, expect, sync_playwright

from tests.waiting import PATIENCE
from tests.world import Served, World
from vault_index.cli import main

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
PATIENCE_MS = PATIENCE * 1000
expect.set_options(timeout=PATIENCE_MS)
DESKTOP: ViewportSize = {"width": 1400, "height": 900}
PHONE: ViewportSize = {"width": 380, "height": 800}


def chromium() -> str:
    """Return the path of Chromium, empty if it is not installed."""
    named = os.environ.get("CHROMIUM_BIN", "")
    return named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")


@contextmanager
def started() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*ARGUMENTS])
        yield browser
        browser.close()


def script(name: str) -> str:
    """Return the JavaScript of a file next to this one."""
    return Path(__file__).with_name(name).read_text("utf-8")


class Reader:
    """Opens pages that are signed in at one home.

    `faults` collects forbidden actions of pages. `now` fixes their clock.
    """

    def __init__(self, browser: Browser, world: World, served: Served, now: datetime | None = None) -> None:
        self.browser, self.world, self.served, self.now = browser, world, served, now
        self.origin = f"http://127.0.0.1:{served.port}"
        self.faults: list[str] = []
        self._contexts: list[BrowserContext] = []
        self._key = ""

    def code(self) -> str:
        """Return the address that `vault-index open` prints; it signs in once."""
        with redirect_stdout(StringIO()) as printed:
            assert main(["--home", str(self.world.home.data_dir), "open", "--print"]) == 0
        return printed.getvalue().strip()

    def open(self, place: str = "#/", **options: Any) -> Page:
        """Return a page in a new context. All pages except those of `sign_in` share one token."""
        if not self._key:
            code = json.dumps({"code": self.code().partition("#token=")[2]}).encode()
            self._key = self.served.ask("POST", "/signin", code, {"Content-Type": "application/json"}).json["key"]
        context = self.new_context(**options)
        keep = context.new_page()
        keep.goto(f"{self.origin}/page/icon.svg")
        keep.evaluate(script("keep_key.js"), self._key)
        keep.close()
        page = self.begun(context, place)
        page.wait_for_selector(".side nav")
        return page

    def sign_in(self, place: str = "#/") -> Page:
        """Return a page with its own token."""
        page = self.new_page(self.new_context())
        page.goto(self.code())
        page.wait_for_selector(".side nav")
        page.goto(f"{self.origin}/{place}")
        return page

    def begun(self, context: BrowserContext, place: str) -> Page:
        """Return a new page of a context that starts at the place."""
        page = self.new_page(context)
        page.goto(f"{self.origin}/{place}")
        return page

    def new_context(self, *, size: ViewportSize = DESKTOP, scheme: str = "light", **options: Any) -> BrowserContext:
        options |= {"viewport": size, "color_scheme": scheme, "reduced_motion": "reduce"}
        context = self.browser.new_context(permissions=["clipboard-read", "clipboard-write"], **options)
        context.set_default_timeout(PATIENCE_MS)
        if self.now:
            context.clock.set_fixed_time(self.now)
        self._contexts.append(context)
        return context

    def new_page(self, context: BrowserContext) -> Page:
        page = context.new_page()

        def check_request(request: Any) -> None:
            if not request.url.startswith((self.origin, "blob:", "data:")):
                self.faults.append(f"request to another server: {request.url}")

        def check_message(message: Any) -> None:
            # The browser itself logs every error response.
            if message.type == "error" and not message.text.startswith("Failed to load resource"):
                self.faults.append(f"console: {message.text}")

        page.on("request", check_request)
        page.on("console", check_message)
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))
        page.on("popup", lambda popup: self.faults.append(f"popup: {popup.url}"))
        return page

    def close(self) -> None:
        for context in self._contexts:
            context.close()
        self._contexts.clear()


def visit(page: Page, place: str) -> None:
    """Draw a place again, even the current one; modules and styles stay loaded."""
    page.evaluate("location.replace('#/nowhere')")
    page.locator("main").get_by_text("There is no such page").wait_for()
    for close in page.get_by_role("button", name="Close the message").all():
        close.click()
    page.evaluate("place => location.replace(place)", place)


def shown(page: Page, query: str) -> None:
    """Wait for the first hits of a query, which match its words."""
    page.wait_for_selector(f"html[data-shown='{query}']", state="attached")


def refined(page: Page, query: str) -> None:
    """Wait for the final hits of a query, which include matches by meaning."""
    page.wait_for_selector(f"html[data-refined='{query}']", state="attached")


def toast(page: Page) -> Locator:
    return page.locator(".toast")


def copied(page: Page) -> str:
    """Return the text of the clipboard."""
    return str(page.evaluate("navigator.clipboard.readText()"))


def axe(page: Page) -> list[str]:
    """Return the violations that axe finds; skips the test if axe is not installed (`make test-page` does)."""
    program = os.environ.get("AXE", "")
    if not program:
        pytest.skip("axe is not installed: run make test-page")
    if not page.evaluate("'axe' in window"):
        page.evaluate(Path(program).read_text("utf-8") + "; null")
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{one['id']}: {one['help']}: {node['target']} {node['html']:.120}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


def looks(page: Page) -> list[str]:
    """Return the violations on a dark phone and a light desktop, and whether the page is wider than the screen."""
    found: list[str] = []
    shown: tuple[tuple[str, Any, Any], ...] = (("phone", PHONE, "dark"), ("desktop", DESKTOP, "light"))
    for name, size, scheme in shown:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        found += [f"{name}: {wide} px wider than the screen"] if wide > 0 else []
        found += [f"{name}: {one}" for one in axe(page)]
    return found
