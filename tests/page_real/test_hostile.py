"""The page shows hostile text without running it, contacts no other server, and stays at its address.

A canary in the page and a socket outside watch while the notes of `hostile.py` are found, opened and clicked.
"""

import re
import socket
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.page_real.browser import Reader, script, shown
from tests.page_real.hostile import SESSION_WORDS, TABLES, Hostile, memories, notes, session, write_all
from tests.world import World, opened_world

CANARY, LOOK = script("canary.js"), script("look.js")


class Outside:
    """A server that hostile notes name; no connection to it is allowed."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.came = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.came += 1
            connection.close()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    made = Outside()
    yield made
    made.close()
    assert made.came == 0, "a note made somebody connect"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, outside: Outside) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("hostile")
    more = f'[memory]\ndir = "memory"\n[sessions.claude-code]\nenabled = true\ndata = "{folder / "claude"}"\n'
    with opened_world(folder, more + "[serve]\nrate = 100000\n") as made:
        write_all(made.vault, outside.place)
        told = session()
        told.home = folder / "claude"
        told.write()
        made.daemon()
        yield made
        secret = (folder / "outside/outside.md").read_bytes()
        kept = [path for path in (folder / "home").rglob("*") if path.is_file()]
        assert [path for path in kept if secret in path.read_bytes()] == [], "a file outside the vault was read"


@pytest.fixture(scope="module")
def opened(module_reader: Reader) -> Page:
    """The one page of this module, with the canary loaded before any other script."""
    page = module_reader.open()
    page.context.add_init_script(CANARY)
    page.reload()
    page.wait_for_selector(".side nav")
    return page


@pytest.fixture
def page(opened: Page, module_reader: Reader, outside: Outside) -> Iterator[Page]:
    """The page; afterwards checks that no attack succeeded and that the same reader is signed in."""
    faults, asked, token = module_reader.faults, list[str](), opened.evaluate(TOKEN)
    faults.clear()
    watching: dict[Any, Any] = {
        "request": lambda request: asked.append(urlsplit(request.url).path + " " + (request.post_data or "")),
        "download": lambda _: faults.append("download"),
        "frameattached": lambda frame: faults.append(f"frame: {frame.url}"),
        "websocket": lambda socket: faults.append(f"socket: {socket.url}"),
    }
    for event, told in watching.items():
        opened.on(event, told)
    yield opened
    settled(opened)
    for event, told in watching.items():
        opened.remove_listener(event, told)
    assert opened.evaluate(LOOK) == []
    assert faults == []
    assert len(opened.frames) == 1
    assert opened.context.pages == [opened]
    assert [one for one in asked if CHANGING.match(one) or one.startswith("/files/..")] == []
    assert token
    assert opened.evaluate(TOKEN) == token
    assert opened.context.cookies() == []
    assert outside.came == 0


TOKEN = 'localStorage.getItem("vault-index.signed-in")'
CHANGING = re.compile(r"/signin|/page/tokens \{.*\w|/api/(delete|decide|update|add|undo|revert) ")


def go(page: Page, place: str) -> None:
    page.evaluate("place => { location.hash = place }", place)


def settled(page: Page) -> None:
    """Wait until everything loaded is drawn. (The page never stops its request for changes.)"""
    page.wait_for_selector(".prose .no-image:not(.dim)", state="detached")
    page.evaluate("""async () => {
      const images = [...document.querySelectorAll("main img")];
      for (const image of images) image.loading = "eager";
      await Promise.all(images.map((image) => image.decode().catch(() => 0)));
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    }""")


def read(page: Page, word: str) -> str:
    """Return the text of the note, once it contains the word."""
    page.wait_for_selector(f'.prose:has-text("{word}")', state="attached")
    text: str = page.locator(".prose").first.inner_text()
    return text


def open_hit(page: Page, word: str) -> None:
    go(page, f"#/search?q={word}")
    shown(page, word)
    hit = page.locator("main [data-item]").first
    expect(hit).to_contain_text(word)
    assert page.evaluate(LOOK) == []
    hit.locator("h2").click()


def click_links(page: Page, one: Hostile) -> None:
    """Follow links of a note that stay in the page, and check the addresses of the others."""
    at = page.evaluate("location.hash")
    page.locator(".prose").first.hover()
    links = page.locator('.prose a[href^="#"], .prose a:not([href])')
    for number in range(min(3, links.count())):
        if number:
            go(page, at)
            read(page, one.ends)
        links.nth(number).click()
        page.wait_for_selector("main h1", state="attached")
        settled(page)
        assert page.evaluate(LOOK) == [], one.path


DRAWN = "all => all.filter((one) => one.naturalWidth > 0).map((one) => one.src)"


@pytest.mark.parametrize("kind", ["html", "links", "images", "text", "front", "bombs", "names", "bytes"])
def test_hostile_note_is_shown_and_clicked_without_running(page: Page, kind: str) -> None:
    pictures = dict[str, list[str]]()
    for one in notes():
        if not one.path.startswith(f"{kind}/"):
            continue
        open_hit(page, one.ends)
        text = read(page, one.ends)
        assert one.begins in text or kind == "bombs", one.path
        assert one.shows in text, one.path
        assert "mandrill" not in text
        if kind != "bombs":
            settled(page)
        assert page.evaluate(LOOK) == [], one.path
        if found := page.locator(".prose img").evaluate_all(DRAWN):
            pictures[one.path] = [one.data.split(b"\n")[2].decode(), *found]
        if kind in ("html", "links"):
            click_links(page, one)
    if kind == "images":
        assert pictures, "images of the vault are shown"
        assert [text for text, *_ in pictures.values() if "good.png" not in text and "evil.svg" not in text] == []
    assert all(src.startswith("blob:") for _, *found in pictures.values() for src in found)


def test_hostile_memories_are_reviewed_without_running(page: Page) -> None:
    go(page, "#/review")
    links = page.locator(".review-list [data-item]")
    left = {one.begins: one for one in memories()}
    expect(links).to_have_count(len(left))
    for number in range(len(left)):
        links.nth(number).click()
        page.wait_for_selector(", ".join(f'.prose:has-text("{word}")' for word in left))
        settled(page)
        text = page.locator("main article").inner_text()
        [word] = [word for word, one in left.items() if word in text and one.ends in text]
        assert page.evaluate(LOOK) == [], left[word].path
        del left[word]
    for one in memories():
        go(page, f"#/doc/vault/{one.path}")  # no search finds an expired one
        assert one.begins in read(page, one.ends)
        assert page.evaluate(LOOK) == [], one.path


def test_hostile_history_is_shown_without_running(page: Page, module_reader: Reader) -> None:
    token = module_reader.world.token("changes", writes=True)
    for one in memories():
        text = one.data.decode().split("---\n", 2)[2].replace(one.begins, "changed") + "<script>window.__hit=1</script>"
        answer = module_reader.served.call("update", token, ref=one.path, content=text)
        assert answer.status == 200, answer.body
        go(page, f"#/history/vault/{one.path}")
        page.wait_for_selector(f'main:has-text("{one.begins}"):has-text("changed")')
        assert page.evaluate(LOOK) == [], one.path


def test_hostile_session_is_listed_and_read_without_running(page: Page) -> None:
    go(page, "#/sessions?since=2020-01-01")
    page.wait_for_selector(f'main:has-text("{SESSION_WORDS[0]}")')
    assert page.evaluate(LOOK) == []
    open_hit(page, SESSION_WORDS[1])
    page.wait_for_selector(f'main:not(:has(#search)):has-text("{SESSION_WORDS[1]}")')
    settled(page)
    assert page.evaluate(LOOK) == []
    for folded in page.locator("main details:not([open]) > summary").all():
        folded.click()
    settled(page)
    assert page.evaluate(LOOK) == []


@pytest.mark.parametrize("view", ["health", "tokens", "recall?q=__hit", "timeline?q=__hit", "review", "sessions", ""])
def test_hostile_names_and_titles_are_text_in_every_view(page: Page, view: str) -> None:
    go(page, f"#/{view}")
    page.wait_for_selector("main h1", state="attached")
    page.wait_for_selector("main [aria-busy=true], main .loading", state="detached")


def test_hostile_address_runs_nothing_and_keeps_sign_in(opened: Page, module_reader: Reader, outside: Outside) -> None:
    token = opened.evaluate(TOKEN)
    module_reader.faults.clear()
    misses = dict[str, Any]()
    for address in (*TABLES["addresses"], "#/" + "x/" * 2000):
        opened.goto("about:blank")
        opened.goto(f"{module_reader.origin}/{address.replace('evil.example', outside.place)}")
        opened.wait_for_selector(".side nav")
        opened.wait_for_selector("main h1, main .error, main [role=alert]", state="attached")
        settled(opened)
        found = [one for one in opened.evaluate(LOOK) if not (address[0] == "?" and one.startswith("at "))]
        if "mandrill" in opened.locator("body").inner_text():
            found.append("shows a file outside the vault")
        if opened.evaluate(TOKEN) != token:
            found.append("signed out, or in as another")
        if found := [*found, *module_reader.faults]:
            misses[address[:40]] = found
        module_reader.faults.clear()
    assert token
    assert misses == {}
    assert outside.came == 0
