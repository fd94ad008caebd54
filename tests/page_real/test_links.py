"""A link that was kept or sent: on a page that begins with it, the same is seen, on every screen."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page_real.browser import PHONE, Reader, axe, shown
from tests.page_real.desk import Desk, memory
from tests.page_real.held_sessions import sessions_place
from tests.serve.servers import Place, until

FOLDER = "80-memory"
PORT = f"{FOLDER}/note/port.md"
MEMORIES = {
    "inbox/a": memory(1, "Herons nest in the reeds.", project="pond", title="Herons"),
    "inbox/b": memory(2, "Cranes pass in October.", title="Cranes"),
    "note/c": memory(3, "The lake is frozen.", title="Lake", project="pond", expires="2020-01-01"),
}
LONG = "# Long\n\n" + "".join(
    f"## Part {at}\n\n{f'Reeds of part {at}, and of the shore. ' * 30}\n\n" for at in range(40)
)
SEEN = r"""() => {
  const main = document.querySelector("main").cloneNode(true);
  // What is of the moment: times, what an answer took, the disk, the mark of an answer, the hits of the search before.
  const passing = "time, .told, .loading, .card:has(.stacked), .told-bar, .quoted .frame, .doc-hits";
  for (const one of main.querySelectorAll(passing)) one.remove();
  const fields = [...document.querySelectorAll("main :is(input, select, textarea)")];
  const texts = (one) => one.textContent.split(/\s*\n\s*/);
  return {
    title: document.title, address: location.hash, text: [...main.querySelectorAll(":not(:has(*))")].flatMap(texts),
    fields: fields.map((one) => [one.name || one.ariaLabel, one.value, one.checked]),
    on: [...main.querySelectorAll("[aria-pressed=true], [aria-current], [aria-selected=true], .hit")].flatMap(texts),
  };
}"""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with sessions_place(tmp_path_factory.mktemp("links")) as made:
        made.write("long.md", LONG)
        made.write("reeds.md", "---\ntags: [birds]\n---\n# Reeds\n\nReeds of the northern shore.\n")
        yield made


@pytest.fixture(scope="module")
def desk(here: Place, module_reader: Reader) -> Desk:
    made = Desk(here, module_reader.served)
    made.put(3, MEMORIES)
    for port in (3000, 8080, 9090):
        here.write(PORT, memory(9, f"It listens on port {port}.", title="Port", project="pond"))
        made.sync()
    return made


# --- what somebody did before they sent the address of it ---------------------------------------------------------


def search(page: Page) -> None:
    page.keyboard.type("reeds")
    shown(page, "reeds", "refined")
    page.get_by_role("button", name="Notes").click()
    shown(page, "reeds kind:note", "refined")
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    expect(page.locator(".why").first).to_be_visible()


def document(page: Page) -> None:
    page.keyboard.type("reeds of part 33")
    shown(page, "reeds of part 33", "refined")
    page.locator(".hit h2 a", has_text="Long").first.click()
    expect(page.locator(".doc-text .hit").first).to_be_in_viewport()


def session(page: Page) -> None:
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("e")
    page.get_by_role("link", name="Fix the login").click()
    page.locator(".doc-outline").get_by_role("link", name="Commit it.").click()
    page.wait_for_url("**?at=*")


def sessions(page: Page) -> None:
    page.get_by_role("link", name="Sessions").click()
    page.get_by_label("Project").select_option("api")
    page.get_by_role("button", name="With subagents").click()
    expect(page.locator(".sessions-list li .name")).to_have_count(2)


def timeline(page: Page) -> None:
    page.keyboard.type("listens on port")
    shown(page, "listens on port", "refined")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("t")
    page.get_by_role("button", name="Only pond").click()
    page.get_by_role("button", name="Memories").click()
    expect(page.locator(".line-title")).to_have_count(2)


def review(page: Page) -> None:
    page.get_by_role("link", name="Review").click()
    page.get_by_role("link", name="pond").first.click()
    page.get_by_text("1 of 2").wait_for()
    page.keyboard.press("n")
    page.get_by_text("2 of 2").wait_for()


def history(page: Page) -> None:
    page.keyboard.type("listens on port")
    shown(page, "listens on port", "refined")
    page.locator(".hit h2 a").first.click()
    page.wait_for_selector(".doc-text [data-line]")
    page.keyboard.press("h")
    page.get_by_label("From version").last.check()
    expect(page.locator(".diff del").first).to_have_text("3000")


def health(page: Page) -> None:
    page.get_by_role("link", name="Health").click()


def recall(page: Page) -> None:
    page.get_by_role("link", name="Recall").click()
    page.get_by_label("Question").fill("Which port does it listen on?")
    page.get_by_label("Tokens at most").select_option("400")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator(".quoted")).to_contain_text("port 9090")


def tokens(page: Page) -> None:
    page.get_by_role("link", name="Tokens").click()


LOOKED_AT: dict[Callable[[Page], None], str] = {
    search: ".hit .why",
    document: ".doc-text .hit",
    session: ".turn.user:has-text('Commit it.')",
    sessions: ".sessions-list li",
    timeline: ".anchor",
    review: ".review-memory h3",
    history: ".diff del",
    health: ".numbers",
    recall: ".quoted",
    tokens: "#pages",
}


@pytest.mark.parametrize("did", LOOKED_AT)
def test_who_opens_a_link_sees_what_was_seen(reader: Reader, desk: Desk, did: Callable[[Page], None]) -> None:
    page = reader.open()
    did(page)
    place = page.evaluate("location.hash")
    fresh = reader.begun(page, place)
    expect(fresh.locator(LOOKED_AT[did]).first).to_be_in_viewport()
    with suppress(AssertionError):  # it is said below what is otherwise
        until(lambda: fresh.evaluate(SEEN) == page.evaluate(SEEN))
    for what, seen in page.evaluate(SEEN).items():
        assert fresh.evaluate(SEEN)[what] == seen
    assert page.evaluate("location.hash") == place


def test_a_link_that_is_opened_before_signing_in_is_not_lost(reader: Reader, desk: Desk) -> None:
    page = reader.open("#/tokens")
    page.get_by_role("button", name="Sign out this page").click()
    page.locator("dialog").get_by_role("button", name="Sign out").click()
    expect(page.locator("main")).to_contain_text("vault-index open")
    link = reader.begun(page, f"#/doc/vault/{PORT}")
    expect(link.locator("main")).to_contain_text("vault-index open")
    page.goto(reader.code())
    expect(link.locator("h1")).to_have_text("Port")
    assert "token" not in link.url


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_a_phone_that_begins_there(reader: Reader, desk: Desk, scheme: str) -> None:
    page = reader.open(size=PHONE, scheme=scheme)
    found: dict[str, Any] = {}
    for place, drawn in (
        ("#/review", 'article[aria-busy="false"]'),
        ("#/search?q=reeds&why=1", ".hit .why"),
        ("#/doc/vault/long.md?lines=40-42", ".doc-text .hit"),
        ("#/doc/opencode/api/ses_login.md", ".session-resume"),
        ("#/sessions", ".sessions-list li"),
        (f"#/timeline?ref={PORT}", ".anchor"),
        (f"#/history/vault/{PORT}", ".diff"),
        ("#/health", ".numbers"),
        ("#/recall?q=reeds", ".quoted"),
        ("#/tokens", "#pages"),
    ):
        fresh = reader.begun(page, place)
        fresh.wait_for_selector(drawn)
        wide = fresh.evaluate("document.documentElement.scrollWidth - innerWidth")
        found[place] = ([f"{wide} wider than the screen"] if wide > 0 else []) + axe(fresh)
        fresh.close()
    assert {place: faults for place, faults in found.items() if faults} == {}
