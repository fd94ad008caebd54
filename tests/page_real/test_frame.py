"""What is around all views: signing in, the keys, the theme, and that nothing of it runs what it should not."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.page_real.browser import DESKTOP, PHONE, Reader, axe, shown
from tests.serve.servers import Place, place


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("frame")) as made:
        made.write("wal.md", "# WAL\n\nReaders never wait for a tamarisk.\n")
        made.daemon()
        yield made


def test_the_code_signs_in_once_and_leaves_the_address(reader: Reader) -> None:
    address = reader.code()
    first, second = (reader.browser.new_context().new_page() for _ in range(2))
    first.goto(address)
    first.wait_for_selector(".side nav")
    assert "token" not in first.url
    first.reload()
    first.wait_for_selector(".side nav")
    second.goto(address)
    assert "vault-index open" in second.locator("main").inner_text()
    assert second.locator("[role=alert]").count() == 1
    for page in (first, second):
        page.context.close()


def test_it_is_searched_and_gone_around_by_keys_alone(reader: Reader) -> None:
    page = reader.open()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert "go to review" in page.locator("dialog").inner_text()
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("/")
    page.wait_for_selector("#search:focus")
    page.keyboard.type("tamarisk")
    shown(page, "tamarisk", "refined")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/#/doc/vault/wal.md*")


def before_its_modules(page: Page, address: str) -> Callable[[], None]:
    """Go there, where no module comes before they are let through by what is returned."""
    held: list[Any] = []
    page.route("**/page/main.js", lambda route: held.append(route))
    with page.expect_request("**/page/main.js"):
        page.goto(address, wait_until="commit")
    page.wait_for_selector("noscript", state="attached")  # the last that is written there
    return lambda: held[0].continue_()


def test_what_is_typed_before_any_module_is_there_is_searched(reader: Reader) -> None:
    page = reader.open().context.new_page()
    go_on = before_its_modules(page, f"{reader.origin}/#/")
    page.wait_for_selector("#search:focus")
    page.keyboard.type("amarisk")
    page.keyboard.press("Home")
    page.evaluate("document.querySelector('#search').wasThere = true")
    assert axe(page) == []
    go_on()
    page.wait_for_selector(".side nav")
    page.keyboard.type("t")
    shown(page, "tamarisk", "refined")
    assert page.evaluate("document.querySelector('#search').wasThere")
    page.wait_for_url("**/#/search?q=tamarisk")


@pytest.mark.parametrize(
    ("place", "says"), [("#/doc/vault/wal.md", "Readers never wait"), ("#/searching", "There is no such page")]
)
def test_elsewhere_there_is_no_search_field_first(reader: Reader, place: str, says: str) -> None:
    page = reader.open().context.new_page()
    go_on = before_its_modules(page, f"{reader.origin}/{place}")
    assert not page.is_visible("#search")
    go_on()
    page.get_by_text(says).wait_for()
    assert page.locator("#search").count() == 0


def test_who_is_not_signed_in_is_shown_no_search_field(reader: Reader) -> None:
    context = reader.browser.new_context()
    page = context.new_page()
    go_on = before_its_modules(page, f"{reader.origin}/#/")
    assert not page.is_visible("#search")
    go_on()
    page.get_by_text("This page is yours alone").wait_for()
    assert page.locator("#search").count() == 0
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(reader: Reader, scheme: str, size: Any) -> None:
    page = reader.open("#/search?q=tamarisk", scheme=scheme, size=size)
    shown(page, "tamarisk")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert axe(page) == []


def test_a_theme_that_was_chosen_is_kept(reader: Reader) -> None:
    page = reader.open()
    dark = "getComputedStyle(document.documentElement).colorScheme"
    page.get_by_role("button", name="Theme: system").click()
    page.get_by_role("button", name="Theme: light").click()
    assert page.evaluate(dark) == "dark"
    page.reload()
    page.wait_for_selector(".side nav")
    assert page.evaluate(dark) == "dark"


def test_what_is_shipped_says_where_it_is_from() -> None:
    root = Path(__file__).parents[2]
    shipped = {path.name for path in (root / "vault_index/serve/page/site/vendor").iterdir()}
    assert shipped == {"preact.js", "LICENSE-htm.txt", "LICENSE-preact.txt"}
    assert "htm 3.1.1" in (root / "NOTICE").read_text("utf-8")
