"""The frame around all views: signing in, keys, theme, tabs, and a server that goes away."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.page_real.browser import Reader, axe, looks, refined
from tests.waiting import until
from tests.world import opened_world
from vault_index.access import Tokens

NOTES = {"wal.md": "# WAL\n\nReaders never wait for a tamarisk.\n", "empty.md": ""}
TABS = 8
"""More than the connections that a browser opens to one server."""
HIDING = """
window.away = false;
Object.defineProperty(document, "hidden", { get: () => window.away });
"""


def move(page: Page, place: str) -> None:
    page.evaluate("place => { location.hash = place; }", place)


def test_frame_code_signs_in_once_and_leaves_the_address(reader: Reader) -> None:
    address = reader.code()
    first, second = (reader.new_page(reader.new_context()) for _ in range(2))
    first.goto(address)
    first.wait_for_selector(".side nav")
    assert "token" not in first.url
    first.reload()
    first.wait_for_selector(".side nav")
    second.goto(address)
    expect(second.locator("main")).to_contain_text("vault-index open")
    expect(second.get_by_role("alert")).to_have_count(1)


def test_frame_opened_again_keeps_its_token(reader: Reader) -> None:
    page, before = reader.sign_in(), owned(reader)
    page.goto(reader.code())
    page.wait_for_url("**/#/")
    page.wait_for_selector(".side nav")
    until(lambda: owned(reader) == before)


def owned(reader: Reader) -> list[str]:
    """Return the names of the tokens of pages and of codes."""
    return [token.caller.name for token in Tokens(reader.world.home.tokens_file).all() if token.caller.owner]


def test_frame_keys_reach_every_view(reader: Reader) -> None:
    page = reader.open()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("dialog")).to_contain_text("go to review")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    page.keyboard.press("g")
    page.keyboard.press("h")
    page.wait_for_url("**/#/health")
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()


def test_frame_palette_reaches_documents_and_commands(reader: Reader) -> None:
    page = reader.open()
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.press("Control+k")
    offers = page.get_by_role("option")
    expect(page.get_by_label("Title of a document")).to_be_focused()
    page.keyboard.type("wal")
    expect(offers.first).to_contain_text("WAL")
    assert looks(page) == []
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("WAL")
    page.keyboard.press("Control+k")
    expect(page.get_by_label("Title of a document")).to_be_focused()
    page.keyboard.type("to heal")
    expect(offers).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url("**/#/health")


def hold_modules(page: Page, address: str) -> Callable[[], None]:
    """Open an address without its modules; return a function that lets them load."""
    held: list[Any] = []
    page.route("**/page/main.js", lambda route: held.append(route))
    with page.expect_request("**/page/main.js"):
        page.goto(address, wait_until="commit")
    page.wait_for_selector("noscript", state="attached")  # the end of the document
    return lambda: held[0].continue_()


def test_frame_searches_for_text_typed_before_its_modules_loaded(reader: Reader) -> None:
    page = reader.new_page(reader.open().context)
    load = hold_modules(page, f"{reader.origin}/#/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("amarisk")
    page.keyboard.press("Home")
    page.evaluate("document.querySelector('#search').wasThere = true")
    assert axe(page) == []
    load()
    page.wait_for_selector(".side nav")
    page.keyboard.type("t")
    refined(page, "tamarisk")
    assert page.evaluate("document.querySelector('#search').wasThere")
    page.wait_for_url("**/#/search?q=tamarisk")


def test_frame_keeps_the_chosen_theme(reader: Reader) -> None:
    page = reader.open()
    page.get_by_role("button", name="Theme: system").click()
    page.get_by_role("button", name="Theme: light").click()
    expect(page.locator("html")).to_have_css("color-scheme", "dark")
    page.reload()
    page.wait_for_selector(".side nav")
    expect(page.locator("html")).to_have_css("color-scheme", "dark")


def test_frame_names_the_tab_after_the_document(reader: Reader) -> None:
    page = reader.open("#/doc/vault/wal.md")
    expect(page).to_have_title("WAL · vault-index")
    move(page, "#/doc/vault/empty.md")
    expect(page).to_have_title("empty · vault-index")
    expect(page.locator("article")).to_have_text("The document is empty.")
    move(page, "#/health")
    expect(page).to_have_title("Health · vault-index")


def test_frame_works_in_more_tabs_than_connections(reader: Reader) -> None:
    context = reader.open().context
    context.add_init_script(HIDING)
    for _ in range(TABS):
        page = reader.begun(context, "#/search?q=tamarisk")
        refined(page, "tamarisk")
        turn(page, away=True)
    reader.world.write("later.md", "# Later\n\nA second tamarisk.\n")
    # A visible tab catches up on changes made while it was hidden.
    turn(page, away=False)
    move(page, "#/doc/vault/later.md")
    expect(page.get_by_role("heading", name="Later")).to_be_visible()


def turn(page: Page, *, away: bool) -> None:
    page.evaluate("away => { window.away = away; document.dispatchEvent(new Event('visibilitychange')); }", away)


def test_frame_shows_the_answers_once_the_server_is_back(browser: Any, tmp_path: Path) -> None:
    with opened_world(tmp_path) as world:
        world.write("wal.md", NOTES["wal.md"])
        world.daemon()
        served = world.serve()
        reader = Reader(browser, world, served)
        search, other = reader.open(), reader.open()
        other.wait_for_selector(".changed")
        served.process.terminate()
        served.process.wait()
        search.fill("#search", "tamarisk")
        move(other, "#/doc/vault/wal.md")
        for page in (search, other):
            expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
            expect(page.get_by_role("alert").get_by_role("button", name="Try again")).to_be_visible()
        world.process("serve", "--listen", f"127.0.0.1:{served.port}").port()
        expect(search.locator(".hit")).to_have_count(1)
        expect(other.get_by_role("heading", name="WAL")).to_be_visible()
        for page in (search, other):
            expect(page.get_by_role("alert")).to_have_count(0)
        reader.close()


def test_frame_ships_third_party_scripts_with_their_licences() -> None:
    root = Path(__file__).parents[2]
    shipped = {path.name for path in (root / "vault_index/serve/page/site/vendor").iterdir()}
    scripts = {"preact.js", "highlight.js", "katex.js"}
    assert shipped == {*scripts, *(f"LICENSE-{name}.txt" for name in ("htm", "preact", "highlight", "katex"))}
    notice = (root / "NOTICE").read_text("utf-8")
    assert all(f"vendor/{script}" in notice for script in scripts)
