"""Every view: its link restores its state, and axe finds nothing on either screen in either scheme."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page_real.browser import Reader, looks, refined, script, visit
from tests.page_real.desk import READY, Desk, memory
from tests.page_real.held_sessions import CLOCK, YESTERDAY, sessions_place
from tests.page_real.test_document import HERONS
from tests.waiting import until
from tests.world import World

NOW = CLOCK
PORT = "80-memory/note/port.md"
BOAT = "The boathouse is painted green every spring."
MEMORIES = {
    "inbox/a": memory(1, "Herons nest in the reeds.", project="pond", title="Herons"),
    "inbox/b": memory(2, "Cranes pass in October.", title="Cranes"),
    "note/c": memory(3, "The lake is frozen.", title="Lake", project="pond", expires="2020-01-01"),
    "note/d": memory(4, BOAT, title="Boathouse", created="2026-11-19"),
    "note/e": memory(5, f"{BOAT} It takes a day.", title="Boathouse"),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with sessions_place(tmp_path_factory.mktemp("views")) as made:
        made.write("herons.md", HERONS)
        made.write("reeds.md", "---\ntags: [birds]\n---\n# Reeds\n\nReeds of the northern shore.\n")
        yield made


@pytest.fixture(scope="module", autouse=True)
def desk(world: World, module_reader: Reader) -> Desk:
    made = Desk(world, module_reader.served)
    made.put(4, MEMORIES)
    for port in (3000, 8080, 9090):
        world.write(PORT, memory(9, f"It listens on port {port}.", title="Port", project="pond"))
        world.ask("sync")
    return made


def search(page: Page) -> None:
    page.keyboard.type("reeds")
    refined(page, "reeds")
    page.get_by_role("button", name="Notes").click()
    refined(page, "reeds kind:note")
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    expect(page.locator(".why").first).to_be_visible()


def sessions(page: Page) -> None:
    page.get_by_role("link", name="Sessions").click()
    page.get_by_label("Project").select_option("api")
    page.get_by_role("button", name="With subagents").click()
    expect(page.locator(".sessions-list li .name")).to_have_count(2)


def browse(page: Page) -> None:
    page.get_by_role("link", name="Browse").click()
    page.get_by_role("link", name="birds").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".browse-list li b")).to_have_text(["Herons", "Reeds"])


def timeline(page: Page) -> None:
    page.keyboard.type("listens on port")
    refined(page, "listens on port")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("t")
    page.get_by_role("button", name="Only pond").click()
    page.get_by_role("button", name="Memories").click()
    expect(page.locator(".line-title")).to_have_count(2)


def review(page: Page) -> None:
    page.get_by_role("link", name="Review").click()
    page.get_by_role("link", name="pond").first.click()
    expect(page.get_by_text("1 of 2")).to_be_visible()
    page.keyboard.press("n")
    expect(page.get_by_text("2 of 2")).to_be_visible()


def history(page: Page) -> None:
    page.goto(f"{page.url.partition('#')[0]}#/doc/vault/{PORT}")
    page.wait_for_selector(".doc-text [data-line]")
    page.keyboard.press("h")
    page.get_by_label("From version").last.check()
    expect(page.locator(".diff del").first).to_have_text("3000")


def recall(page: Page) -> None:
    page.get_by_role("link", name="Recall").click()
    page.get_by_label("Question").fill("Which port does it listen on?")
    page.get_by_label("Maximum tokens").select_option("400")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator(".quoted")).to_contain_text("port 9090")


DRAWN: dict[Callable[[Page], None], str] = {
    search: ".hit .why",
    browse: ".browse-list li",
    sessions: ".sessions-list li",
    timeline: ".anchor",
    review: ".review-memory h3",
    history: ".diff del",
    recall: ".quoted",
}
"""The steps in each view before a user copies the link, and the element in focus."""
STATE = script("state.js")


@pytest.mark.parametrize("act", DRAWN, ids=lambda act: act.__name__)
def test_view_is_restored_by_its_link(reader: Reader, act: Callable[[Page], None]) -> None:
    page = reader.open()
    expect(page.locator("#search")).to_be_focused()
    act(page)
    link = page.evaluate("location.hash")
    fresh = reader.begun(page.context, link)
    expect(fresh.locator(DRAWN[act]).first).to_be_in_viewport()
    different: dict[str, Any] = {}

    def is_same() -> bool:
        seen, again = page.evaluate(STATE), fresh.evaluate(STATE)
        different.clear()
        different.update({key: (seen[key], again[key]) for key in seen if seen[key] != again[key]})
        return not different

    with suppress(AssertionError):  # the difference says more
        until(is_same)
    assert different == {}
    assert page.evaluate("location.hash") == link


def test_view_opened_before_signing_in_is_shown_afterwards(reader: Reader) -> None:
    page = reader.sign_in("#/tokens")
    page.get_by_role("button", name="Sign out this page").click()
    page.locator("dialog").get_by_role("button", name="Sign out").click()
    expect(page.locator("main")).to_contain_text("vault-index open")
    link = reader.begun(page.context, f"#/doc/vault/{PORT}")
    expect(link.locator("main")).to_contain_text("vault-index open")
    page.goto(reader.code())
    expect(link.locator("h1")).to_have_text("Port")
    assert "token" not in link.url


# --- looks ------------------------------------------------------------------------------------------------------------

LOOKS = {
    "start": ("", "see .changed"),
    "hits": ("search?q=reeds -tag:x&why=1", "see .hit .why", "click #filters", "click .hit-head button"),
    "browse": ("browse?source=vault&path=80-memory/note", "see .browse-list li"),
    "misspelled": ("search?q=northen shore", "see .hit"),
    "wrong query": ("search?q=reeds after:soon", "see [role=alert]"),
    "no hits": ("search?q=xylograph", "see .empty"),
    "document": ("doc/vault/herons.md?lines=8-9", "see .doc-text .hit", "see .doc-around"),
    "memory": (f"doc/vault/{PORT}", "see .doc-around"),
    "session": ("doc?ref=opencode:api/ses_login.md", "see .session-resume", "click .session-facts summary", "press x",
                "see .turns details[open]"),
    "sessions": (f"sessions?day={YESTERDAY}", "see .sessions-list li", "see .work"),
    "timeline": (f"timeline?ref={PORT}", "see .anchor"),
    "history": (f"history/vault/{PORT}", "see .diff"),
    "going back": (f"history/vault/{PORT}", "see .diff", "press r", "see dialog"),
    "review": ("review", f"see {READY}"),
    "review of two": ("review?reason=duplicate", f"see {READY}", "see .diff"),
    "merge": ("review?reason=duplicate", f"see {READY}", "see .diff", "press m", "see dialog .diff"),
    "edit": ("review?reason=expired", f"see {READY}", "press e", "see dialog textarea"),
    "health": ("health", "see .ledger .calm", "see #growth", "see .bar"),
    "recall": ("recall?q=reeds", "see .quoted"),
    "tokens": ("tokens", "see #pages"),
    "new token": ("tokens", "see #pages", "press n", "see [name=name]:focus", "type phone"),
    "token": ("tokens", "see #pages", "press n", "see [name=name]:focus", "type laptop", "press Enter", "see .made"),
}  # fmt: skip
"""States of views, each a place and the steps that lead to it."""


@pytest.mark.parametrize("state", LOOKS)
def test_view_is_accessible_and_no_wider_than_the_screen(page: Page, state: str) -> None:
    place, *steps = LOOKS[state]
    visit(page, f"#/{place}")
    for step in steps:
        verb, _, what = step.partition(" ")
        match verb:
            case "see":
                page.wait_for_selector(what, state="attached")
            case "click":
                page.locator(what).first.click()
            case "press":
                page.keyboard.press(what)
            case "type":
                page.keyboard.type(what)
    assert looks(page) == []
