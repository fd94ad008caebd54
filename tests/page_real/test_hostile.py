"""The page shows what hostile authors wrote, and runs none of it, asks nobody for them, and stays where it is.

Each note of `hostile.py` is searched for and opened; memories also in review and history, a session where sessions are.
Meanwhile a canary listens in the page, and a socket where the notes want to be asked.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Error as PlaywrightError, Page

from tests.page_real.browser import Reader, shown
from tests.page_real.hostile import SESSION_WORDS, Hostile, memories, notes, session, written
from tests.serve.servers import Place, place

CANARY = """(() => {
  const hits = [];
  const tell = (what) => void hits.push(what);
  Object.defineProperty(window, "__hits", { value: hits });
  Object.defineProperty(window, "__hit", { set: () => tell("ran") });
  for (const name of ["alert", "confirm", "prompt", "print", "open"]) {
    window[name] = () => tell(`called ${name}`);
  }
  for (const name of ["message", "beforeprint"]) addEventListener(name, () => tell(name));
  document.addEventListener("securitypolicyviolation", (event) =>
    tell(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
  const tags = "script iframe frame object embed applet base meta link style template portal math mglyph video audio " +
    "picture source track marquee foreignObject use image animate set noscript xmp plaintext slot fencedframe";
  const never = new Set(tags.toLowerCase().split(" "));
  const look = (node) => {
    if (node.nodeType !== 1 || node.closest("head")) return;
    if (never.has(node.localName.toLowerCase()) || node.localName.includes("-")) tell(`made <${node.localName}>`);
    for (const { name, value } of node.attributes) {
      const bad = /^(on|srcdoc|srcset|formaction|ping|xlink:|background|action|is$)/i.test(name);
      if (bad || (name === "style" && /url|expression|@import/i.test(value))) tell(`${name}=${value}`.slice(0, 99));
    }
    for (const name of ["src", "poster", "data"]) {
      const from = node.getAttribute(name) ?? "";
      if (from && !from.startsWith("blob:")) tell(`<${node.localName} ${name}=${from}>`.slice(0, 99));
    }
  };
  const began = () => new MutationObserver((records) => {
    for (const { target, addedNodes } of records) {
      look(target);
      for (const node of addedNodes) {
        look(node);
        for (const inner of node.querySelectorAll?.("*") ?? []) look(inner);
      }
    }
  }).observe(document.body, { subtree: true, childList: true, attributes: true });
  addEventListener("DOMContentLoaded", began);
})()"""

LOOK = """() => {
  const found = [...window.__hits.splice(0)];
  const routes = /^#\\/(doc|search)(\\/|\\?|$)/;
  for (const a of document.body.querySelectorAll("a, area")) {
    const said = a.getAttribute("href") ?? "";
    const inside = a.closest(".prose") !== null;
    const outwards = inside ? ["http:", "https:", "mailto:"] : ["http:", "https:", "obsidian:"];
    const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(said)?.[0].toLowerCase();
    const own = inside ? routes.test(said) : said.startsWith("#/") || said === "#main";
    if (a.hasAttribute("href") && !own && !outwards.includes(scheme)) found.push(`href=${said}`.slice(0, 99));
    if (a.hasAttribute("download")) found.push("download");
    if (own && /^#\\/\\//.test(said)) found.push(`href=${said}`.slice(0, 99));
  }
  for (const one of document.body.querySelectorAll("img")) {
    if (!/^(blob:|$)/.test(one.src)) found.push(`img ${one.src}`.slice(0, 99));
  }
  for (const one of document.body.querySelectorAll(".prose *")) {
    const name = one.localName;
    if (["form", "textarea", "select", "label", "dialog"].includes(name)) found.push(`<${name}> in a note`);
    if (name === "input" && !(one.type === "checkbox" && one.disabled)) found.push("an input in a note");
    if (one.id && !one.id.startsWith("h-")) found.push(`id=${one.id}`.slice(0, 99));
    if (one.hasAttribute("name") || one.hasAttribute("contenteditable")) found.push("name of an element in a note");
    if (/fixed|sticky/.test(getComputedStyle(one).position)) found.push(`<${name}> leaves the note`);
  }
  const polluted = Object.keys(Object.prototype).length || {}.polluted || [].polluted || Function.prototype.polluted;
  if (polluted) found.push("a prototype has more than before");
  if (location.pathname !== "/" || location.search) found.push(`at ${location}`);
  return found;
}"""


class Outside:
    """Where hostile notes want to be asked; nobody may come."""

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
    assert made.came == 0, "somebody was asked by a note"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, outside: Outside) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("hostile")
    more = f'[memory]\ndir = "memory"\n[sessions.claude-code]\nenabled = true\ndata = "{folder / "claude"}"\n'
    with place(folder, more + "[serve]\nrate = 100000\n") as made:
        for _ in written(made.vault, outside.place):
            pass
        told = session()
        told.home = folder / "claude"
        told.write()
        made.daemon()
        yield made
        secret = (folder / "outside/outside.md").read_bytes()
        kept = [path for path in (folder / "home").rglob("*") if path.is_file()]
        assert [path for path in kept if secret in path.read_bytes()] == [], "what lies outside was read"


@contextmanager
def watched(reader: Reader, **options: Any) -> Iterator[Page]:
    """A page in which nothing happens that a note wants; it is still signed in behind."""
    page = reader.open(**options)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.method} {request.url}"))
    page.on("download", lambda _: reader.faults.append("download"))
    page.on("frameattached", lambda frame: reader.faults.append(f"frame: {frame.url}"))
    page.on("websocket", lambda socket: reader.faults.append(f"socket: {socket.url}"))
    page.add_init_script(CANARY)
    page.reload()
    page.wait_for_selector(".side nav")
    kept = page.evaluate("JSON.stringify(localStorage)")
    yield page
    assert page.evaluate(LOOK) == []
    assert len(page.frames) == 1
    assert page.context.pages == [page]
    changing = ("/signin", "/page/tokens", "/api/delete", "/api/decide", "/api/update", "/api/add")
    assert [one for one in asked if urlsplit(one.split(" ", 1)[1]).path.startswith(changing)] == []
    assert [one for one in asked if "passwd" in one or "stolen" in one or "/files/../" in one] == []
    page.reload()
    page.wait_for_selector(".side nav")
    assert "token" in kept
    assert page.context.cookies() == []


def go(page: Page, place: str) -> None:
    page.evaluate("place => { location.hash = place }", place)


def settled(page: Page) -> None:
    """As soon as what was loaded is drawn; a page is never without a request, for it listens to changes."""
    for image in page.locator("main img").all():
        image.evaluate("one => one.decode().catch(() => 0)")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def open_hit(page: Page, word: str, path: str) -> None:
    """Find what has the word, and open it."""
    go(page, f"#/search?q={word}")
    shown(page, word)
    hit = page.locator("main [data-item]").first
    assert word in hit.inner_text(), path
    assert page.evaluate(LOOK) == [], path
    hit.locator("a").first.click()
    page.wait_for_selector(f'.prose:has-text("{word}")')


def opened(page: Page, one: Hostile) -> None:
    open_hit(page, one.ends, one.path)
    text = page.locator(".prose").first.inner_text()
    assert one.begins in text or one.path.startswith("bombs/"), one.path
    assert one.shows in text, one.path
    assert "mandrill" not in text
    assert page.evaluate(LOOK) == [], one.path


def test_there_are_more_than_a_hundred_notes_that_differ() -> None:
    made = notes()
    assert len({one.data.replace(one.begins.encode(), b"").replace(one.ends.encode(), b"") for one in made}) > 100
    assert len({one.path for one in made}) == len(made)


@pytest.mark.parametrize("kind", ["html", "links", "images", "text", "front", "bombs", "names", "bytes"])
def test_a_note_is_found_and_shown_and_nothing_of_it_runs(reader: Reader, outside: Outside, kind: str) -> None:
    with watched(reader) as page:
        for one in notes():
            if one.path.startswith(f"{kind}/"):
                opened(page, one)
        settled(page)
    assert outside.came == 0


def test_a_note_is_moved_over_and_clicked_at_and_nothing_of_it_runs(reader: Reader, outside: Outside) -> None:
    """Links that lead out of the page are left alone: those are what they say."""
    with watched(reader) as page:
        for one in notes():
            if not one.path.startswith(("html/", "links/")):
                continue
            go(page, f"#/doc/vault/{quote(one.path)}")
            page.wait_for_selector(f'.prose:has-text("{one.ends}")')
            page.locator(".prose").first.hover()
            for link in page.locator('.prose a[href^="#"], .prose a:not([href])').all()[:3]:
                link.click()
                settled(page)
                assert page.evaluate(LOOK) == [], one.path
                go(page, f"#/doc/vault/{quote(one.path)}")
                page.wait_for_selector(f'.prose:has-text("{one.ends}")')
    assert outside.came == 0


def test_only_images_of_the_vault_are_shown(reader: Reader) -> None:
    pictures = dict[str, list[str]]()
    with watched(reader) as page:
        for one in notes():
            if one.path.startswith("images/"):
                go(page, f"#/doc/vault/{quote(one.path)}")
                page.wait_for_selector(f'.prose:has-text("{one.ends}")')
                settled(page)
                drawn = "all => all.filter(one => one.naturalWidth > 0).map(one => one.naturalWidth + ' ' + one.src)"
                if found := page.locator(".prose img").evaluate_all(drawn):
                    pictures[one.data.split(b"\n")[2].decode()] = found
    assert pictures, "those of the vault are shown"
    assert all(src.split(" ")[1].startswith("blob:") for found in pictures.values() for src in found)
    assert [text for text in pictures if "good.png" not in text and "evil.svg" not in text] == []


@pytest.mark.parametrize("one", memories(), ids=lambda one: one.path)
def test_a_memory_is_reviewed_and_nothing_of_it_runs(reader: Reader, outside: Outside, one: Hostile) -> None:
    number = int(one.path[-5:-3])
    with watched(reader) as page:
        go(page, f"#/review?at={number:08x}-0000-4000-8000-{number:012x}")
        page.wait_for_selector(f'main:has-text("{one.begins}")')
        assert one.ends in page.locator("main").inner_text()
        assert page.evaluate(LOOK) == []
        open_hit(page, one.ends, one.path)
        assert page.evaluate(LOOK) == []
    assert outside.came == 0


def test_the_past_of_a_memory_is_shown_and_nothing_of_it_runs(reader: Reader, outside: Outside) -> None:
    token = reader.here.token("changes", writes=True)
    for number, one in enumerate(memories()):
        text = one.data.decode().split("---\n", 2)[2].replace(one.begins, "changed") + "<script>window.__hit=1</script>"
        id_ = f"{number:08x}-0000-4000-8000-{number:012x}"
        assert reader.served.call("update", token, ref=id_, content=text).status == 200
    with watched(reader) as page:
        for one in memories():
            go(page, f"#/history/vault/{one.path}")
            page.wait_for_selector(f'main:has-text("{one.begins}")')
            assert page.evaluate(LOOK) == []
    assert outside.came == 0


def test_a_session_is_listed_and_read_and_nothing_of_it_runs(reader: Reader, outside: Outside) -> None:
    with watched(reader) as page:
        go(page, "#/sessions?since=2020-01-01")
        page.wait_for_selector(f'main:has-text("{SESSION_WORDS[0]}")')
        assert page.evaluate(LOOK) == []
        for word in SESSION_WORDS:
            go(page, f"#/search?q={word}")
            shown(page, word)
            page.locator("main [data-item] a").first.click()
            page.wait_for_selector(f'main:has-text("{SESSION_WORDS[1]}")')
            assert page.evaluate(LOOK) == []
            for folded in page.locator("main summary").all():
                folded.click()
            assert page.evaluate(LOOK) == []
    assert outside.came == 0


@pytest.mark.parametrize("view", ["health", "tokens", "recall?q=__hit", "timeline?q=__hit", "review", "sessions", ""])
def test_names_and_titles_are_text_in_every_view(reader: Reader, outside: Outside, view: str) -> None:
    with watched(reader) as page:
        go(page, f"#/{view}")
        page.wait_for_selector("main h1", state="attached")
        settled(page)
        assert page.evaluate(LOOK) == []
    assert outside.came == 0


@pytest.mark.parametrize(
    "place",
    ["#token=stolen", "#token=", "#token=stolen&token=x", "?token=stolen",
     "#/search?q=<img src=x onerror=window.__hit=1>", "#/search?q=%22%3E%3Cscript%3Ewindow.__hit=1%3C/script%3E",
     "#/search?q=${7*7}&q=__proto__&__proto__=1", "#/doc/vault/..%2f..%2foutside%2foutside.md",
     "#/doc/vault/../outside/outside.md", "#/doc/../../etc/passwd", "#/doc/__proto__/constructor", "#/doc", "#/doc/",
     "#/doc?ref=javascript:window.__hit=1", "#/doc?ref=[[<svg onload=x>]]",
     "#/doc?ref=../outside&from=vault:html/000.md", "#//evil.example", "#javascript:window.__hit=1",
     "#/javascript:x", "#/__proto__", "#/constructor", "#/toString", "#/../../page/main", "#/..%2fapi", "#/%00",
     "#/%", "#/%ff", "#/" + "x/" * 2000, "#/https://evil.example/x", "#/data:text%2fjavascript,window.__hit=1",
     "#/review?at=<script>", "#/history/vault/<svg>", "#/sessions?day=<img>&project=<svg>",
     "#/timeline?ref=[[javascript:x]]", "#/hasOwnProperty?__proto__[x]=1"],
    ids=lambda place: place[:40],
)  # fmt: skip
def test_an_address_that_somebody_made_up_runs_nothing(reader: Reader, outside: Outside, place: str) -> None:
    """Nor does it sign anybody out, or in as another."""
    page = reader.open()
    page.add_init_script(CANARY)
    page.goto("about:blank")
    page.goto(f"{reader.origin}/{place.replace('evil.example', outside.place)}")
    page.wait_for_selector("main")
    settled(page)
    found = page.evaluate(LOOK)
    assert [one for one in found if not (place[0] == "?" and one.startswith("at "))] == []
    assert "mandrill" not in page.locator("body").inner_text()
    page.goto("about:blank")
    page.goto(f"{reader.origin}/#/")
    page.wait_for_selector(".side nav")
    assert outside.came == 0


def test_the_canary_sees_what_it_should(module_reader: Reader) -> None:
    """Else these tests could not fail."""
    page = module_reader.open()
    page.add_init_script(CANARY)
    page.reload()
    page.wait_for_selector(".side nav")
    page.evaluate("""() => {
      window.__hit = 1;
      alert("x");
      const add = (name, attributes) => {
        const made = document.createElement(name);
        for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
        document.querySelector("main").append(made);
      };
      add("iframe", {});
      add("a", { href: "javascript:x" });
      add("p", { style: "background: url(x)" });
      add("img", { src: "https://127.0.0.1:1/x.png" });
    }""")
    settled(page)
    found = page.evaluate(LOOK)
    for said in ("ran", "called alert", "made <iframe>", "style=", "href=javascript:x", "img https://", "policy: img"):
        assert any(said in one for one in found), (said, found)
    with pytest.raises(PlaywrightError, match="TrustedScript"):  # nor does the browser let anyone
        page.evaluate("() => document.body.setAttribute('onclick', 'window.__hit = 1')")
    module_reader.close()
    assert any("img" in fault for fault in module_reader.faults), module_reader.faults
