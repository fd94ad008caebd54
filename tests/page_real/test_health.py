"""Health: the state of the index. Recall: the text that an agent would receive."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime

import pytest
from playwright.sync_api import Page, expect

from tests.page_real.browser import Reader, axe, copied, toast
from tests.world import World, opened_world
from vault_index.results.status import SentRecord
from vault_index.store.state import State

NOW = datetime(2020, 6, 15, 12)
"""The time on the clock of the pages: the notes were written in the month before."""
SERVER, MODEL = "https://api.example/v1", "text-embedding-3-small"
SENT = (
    SentRecord("2020-05-03", SERVER, MODEL, "vault", "wal.md", 3, 120),
    SentRecord("2020-05-03", SERVER, MODEL, "vault", "diary/may.md", 1, 0),
    SentRecord("2020-06-15", SERVER, MODEL, "vault", "wal.md", 2, 1000),
    SentRecord("2020-06-15", SERVER, MODEL, "", "(queries)", 1, 7),
)
MAY = "---\ncreated: 2020-05-10\n---\n"
NOTES = {
    "wal.md": f"{MAY}# WAL\n\nReaders never wait for a tamarisk.\n",
    "diary/may.md": f"{MAY}# May\n\nIt rained.\n",
    ".vaultignore": "diary/\n",
    "bad.md": "---\ntags: [a\n---\n# Bad\n\nIts frontmatter is none.\n",
    # The other notes match its second heading better.
    "sundry.md": f"{MAY}# Sundry\n\nThis and that.\n\n## Rain hours\n\n{'Nothing of the kind. ' * 80}\n",
    **{
        f"log/{number}.md": f"{MAY}# Rain hours {number}\n\nRain hours, and hours of rain: rain hours.\n"
        for number in range(24)
    },
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with opened_world(tmp_path_factory.mktemp("health")) as made:
        for path, text in NOTES.items():
            made.write(path, text)
        with closing(State(made.home.state_db)) as state:
            state.record_sent(SENT)
        made.daemon()
        yield made


@pytest.fixture
def health(reader: Reader) -> Page:
    page = reader.open("#/health")
    page.wait_for_selector(".numbers a")
    return page


def test_health_shows_a_problem_and_links_to_its_note(health: Page) -> None:
    problem = health.locator(".problems li")
    expect(problem).to_contain_text("frontmatter cannot be read")
    expect(problem).to_contain_text("The note is indexed")
    problem.get_by_role("link", name="bad.md").click()
    health.wait_for_url("**/#/doc?ref=bad.md")


def test_health_checks_everything_by_a_key_and_changes_nothing(world: World, health: Page) -> None:
    expect(health.locator(".problems li")).to_have_count(1)
    world.home.state_db.chmod(0o644)
    health.keyboard.press("x")
    expect(health.locator(".checked")).to_contain_text("problems, listed below")
    assert world.home.state_db.stat().st_mode & 0o777 == 0o644
    health.get_by_role("button", name="Copy vault-index doctor --fix").first.click()
    expect(toast(health)).to_contain_text("copied")
    assert copied(health) == "vault-index doctor --fix"
    world.home.state_db.chmod(0o600)


def test_health_shows_the_progress_of_long_work(reader: Reader) -> None:
    page = reader.open()
    work = {"stage": "embed", "done": 120, "total": 400, "rate": 9.3, "seconds_left": 95}
    data = json.dumps({"progress": {"work": work, "waiting": 3, "pending": 280}})
    page.route("**/events", lambda route: route.fulfill(body=f"event: progress\nid: a-1\ndata: {data}\n\n"))
    page.goto(f"{reader.origin}/#/health")
    page.reload()
    card = page.locator(".work")
    expect(card).to_contain_text("120 of 400 · 9.3 a second · 2 min left")
    expect(card).to_contain_text("Passages to embed280")
    bar = card.get_by_role("progressbar", name="Embedding passages")
    expect(bar).to_have_attribute("aria-valuenow", "120")
    expect(bar).to_have_attribute("aria-valuemax", "400")
    expect(page.locator(".page-head")).to_contain_text("Embedding passages: 30 %.")


def test_health_describes_watch_embedder_disk_and_growth(health: Page) -> None:
    cards = health.locator(".cards")
    expect(cards).to_contain_text("The daemon runs")
    expect(cards).to_contain_text("No pending work.")
    expect(cards).to_contain_text("search by keywords only")
    expect(health.get_by_role("img", name="On the disk")).to_have_accessible_name(re.compile("index"))
    expect(health.locator(".stacked dd").nth(2)).to_be_attached()
    months = health.locator("section", has=health.locator("#growth")).locator(".bar")
    expect(months.nth(-2)).to_have_attribute("aria-label", "May 2020: 26 documents")


def test_health_ledger_works_by_keys_by_mouse_and_as_a_table(health: Page) -> None:
    ledger = health.locator(".ledger")
    expect(ledger.locator(".told")).to_contain_text("1,127 tokens in all")
    expect(ledger.locator(".note")).to_contain_text("1 document was sent before becoming private")
    expect(ledger.locator(".note")).to_contain_text("diary/may.md to api.example/v1")
    ledger.locator(".bar").last.focus()
    expect(ledger.locator(".told")).to_contain_text("1,007 tokens in 3 texts to api.example/v1")
    health.keyboard.press("ArrowLeft")
    expect(ledger.locator(".told")).to_contain_text("nothing")
    health.keyboard.press("End")
    expect(ledger.locator(".told")).to_contain_text("1,007 tokens")
    health.locator("h1").focus()
    ledger.locator(".bar").first.hover()
    expect(ledger.locator(".told b")).to_be_visible()
    ledger.locator("summary").press("Enter")
    expect(ledger.locator("tbody tr")).to_have_count(2)
    expect(ledger.locator("tbody tr").first).to_contain_text("1 and queries")


def test_recall_page_shows_the_text_that_an_agent_receives(reader: Reader) -> None:
    page = reader.open("#/recall")
    page.wait_for_selector(".asked")
    page.keyboard.press("i")
    expect(page.get_by_label("Question")).to_be_focused()
    page.keyboard.type("tamarisk readers")
    page.keyboard.press("Enter")
    expect(page.locator(".quoted")).to_contain_text("> Readers never wait for a tamarisk.")
    page.wait_for_url("**q=tamarisk+readers*")
    expect(page.locator(".told-from li").first).to_contain_text("answers the question")
    expect(page.get_by_role("meter", name="Tokens of the budget")).to_have_attribute("aria-valuemax", "1200")
    page.get_by_label("Maximum tokens").select_option("400")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator(".told-bar")).to_contain_text("of 400 tokens")
    page.locator(".told-from a").first.press("Enter")
    page.wait_for_url("**/#/doc/vault/wal.md?lines=*")
    page.go_back()
    expect(page.get_by_label("Question")).to_have_value("tamarisk readers")
    page.get_by_label("Question").fill("xylophonist")
    page.keyboard.press("Enter")
    expect(page.locator(".empty")).to_contain_text("An agent would get nothing")


def test_recall_page_measures_recall_of_the_vault(reader: Reader) -> None:
    page = reader.open("#/recall")
    page.wait_for_selector(".self-test")
    page.keyboard.press("x")
    expect(page.locator(".self-test .rows").first).to_contain_text("Headings")
    hard = page.locator(".hard li").first
    expect(hard).to_contain_text("Rain hours")
    hard.get_by_role("button").press("Enter")
    expect(hard.locator(".because")).to_contain_text("“rain” is in")
    expect(hard.locator("a").first).to_have_attribute("href", "#/search?q=Rain+hours")
    assert axe(page) == []
    page.goto(f"{reader.origin}/#/health")
    page.wait_for_selector(".numbers")
    page.go_back()
    expect(page.locator(".hard li").first).to_contain_text("Rain hours")  # the measurement is kept
