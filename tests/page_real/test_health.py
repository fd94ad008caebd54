"""How the index is doing, and what an agent would be told, as the page shows it."""

import json
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page_real.browser import Reader, axe, looks
from tests.serve.servers import Place, place
from vault_index.results.status import SentRecord
from vault_index.store.state import State

MODEL = "text-embedding-3-small"
SENT = (
    SentRecord("2026-01-03", "https://api.example/v1", MODEL, "vault", "wal.md", 3, 120),
    SentRecord("2026-01-03", "https://api.example/v1", MODEL, "vault", "diary/may.md", 1, 0),
    SentRecord(time.strftime("%Y-%m-%d"), "https://api.example/v1", MODEL, "vault", "wal.md", 2, 1000),
    SentRecord(time.strftime("%Y-%m-%d"), "https://api.example/v1", MODEL, "", "(queries)", 1, 7),
)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("health")) as made:
        made.write("wal.md", "# WAL\n\nReaders never wait for a tamarisk.\n")
        made.write("diary/may.md", "# May\n\nIt rained.\n")
        made.write(".vaultignore", "diary/\n")
        made.write("bad.md", "---\ntags: [a\n---\n# Bad\n\nIts frontmatter is none.\n")
        # One part is called as the others say it oftener.
        made.write("sundry.md", f"# Sundry\n\nThis and that.\n\n## Rain hours\n\n{'Nothing of the kind. ' * 80}\n")
        for number in range(24):
            made.write(f"log/{number}.md", f"# Rain hours {number}\n\nRain hours, and hours of rain: rain hours.\n")
        with closing(State(made.home.state_db)) as state:
            state.record_sent(SENT)
        made.daemon()
        yield made


@pytest.fixture
def health(reader: Reader) -> Page:
    page = reader.open("#/health", permissions=["clipboard-read", "clipboard-write"])
    page.wait_for_selector(".numbers a")
    return page


def number_of(page: Page, label: str) -> Any:
    return page.locator(".numbers > div", has_text=label).locator("dd")


def test_a_fault_is_shown_with_its_place(health: Page) -> None:
    fault = health.locator(".problems li")
    expect(fault).to_contain_text("frontmatter cannot be read")
    expect(fault).to_contain_text("The note is indexed")
    fault.get_by_role("link", name="bad.md").click()
    health.wait_for_url("**/#/doc?ref=bad.md")


def test_everything_is_checked_by_a_key_and_what_mends_a_fault_is_copied(here: Place, health: Page) -> None:
    expect(health.locator(".problems li")).to_have_count(1)
    here.home.state_db.chmod(0o644)
    health.keyboard.press("x")
    expect(health.locator(".checked")).to_contain_text("things to look at")
    assert here.home.state_db.stat().st_mode & 0o777 == 0o644  # it only looks
    health.get_by_role("button", name="Copy vault-index doctor --fix").first.click()
    expect(health.locator(".toast")).to_contain_text("copied")
    assert health.evaluate("navigator.clipboard.readText()") == "vault-index doctor --fix"
    here.home.state_db.chmod(0o600)


def test_it_renews_itself_as_notes_come(here: Place, health: Page) -> None:
    before = int(number_of(health, "notes").inner_text())
    here.write("new.md", "# New\n\nA note that comes while somebody looks.\n")
    expect(number_of(health, "notes")).to_have_text(str(before + 1))
    expect(health.locator(".sources tbody tr").first).to_contain_text(f"{before + 1} of {before + 1}")
    (here.vault / "new.md").unlink()
    expect(number_of(health, "notes")).to_have_text(str(before))


def test_long_work_is_followed_as_the_daemon_tells_of_it(reader: Reader) -> None:
    page = reader.open()
    work = {"stage": "embed", "done": 120, "total": 400, "rate": 9.3, "seconds_left": 95}
    told = json.dumps({"progress": {"work": work, "waiting": 3, "pending": 280}})
    page.route("**/events", lambda route: route.fulfill(body=f"event: progress\nid: a-1\ndata: {told}\n\n"))
    page.goto(f"{reader.origin}/#/health")
    page.reload()
    card = page.locator(".work")
    expect(card).to_contain_text("120 of 400 · 9.3 a second · 2 min left")
    expect(card).to_contain_text("Passages to embed280")
    bar = card.get_by_role("progressbar", name="Embedding passages")
    assert [bar.get_attribute(f"aria-value{one}") for one in ("now", "max")] == ["120", "400"]
    expect(page.locator(".page-head")).to_contain_text("Embedding passages: 30 %.")


def test_what_is_told_of_watch_embedder_and_disk(health: Page) -> None:
    cards = health.locator(".cards")
    expect(cards).to_contain_text("It runs")
    expect(cards).to_contain_text("Nothing waits.")
    expect(cards).to_contain_text("search is by words alone")
    assert "index" in (health.get_by_role("img", name="On the disk").get_attribute("aria-label") or "")
    assert health.locator(".stacked dd").count() >= 3


def test_what_left_the_machine_is_read_by_keys_by_pointer_and_as_a_table(health: Page) -> None:
    ledger = health.locator(".ledger")
    expect(ledger.locator(".told")).to_contain_text("1,127 tokens in all")
    last = ledger.locator(".bar").last
    last.focus()
    expect(ledger.locator(".told")).to_contain_text("1,007 tokens in 3 texts to api.example/v1")
    health.keyboard.press("ArrowLeft")
    expect(ledger.locator(".told")).to_contain_text("nothing")
    health.keyboard.press("End")
    expect(ledger.locator(".told")).to_contain_text("1,007 tokens")
    health.locator("h1").focus()
    ledger.locator(".bar").first.hover()
    expect(ledger.locator(".told b")).to_be_visible()
    ledger.locator("summary").focus()
    health.keyboard.press("Enter")
    expect(ledger.locator("tbody tr")).to_have_count(2)
    expect(ledger.locator("tbody tr").first).to_contain_text("1 and queries")


def test_what_was_sent_before_it_was_private_is_named(health: Page) -> None:
    warning = health.locator(".ledger .note")
    expect(warning).to_contain_text("1 document was sent before it was private")
    expect(warning).to_contain_text("diary/may.md to api.example/v1")


def test_growth_is_plotted_by_month(health: Page) -> None:
    last = health.locator("section", has=health.locator("#growth")).locator(".bar").last
    expect(last).to_have_attribute("aria-label", f"{time.strftime('%B %Y')}: 27 documents")


def test_what_an_agent_would_be_told_is_asked_by_keys_alone(reader: Reader) -> None:
    page = reader.open("#/recall")
    page.wait_for_selector(".asked")
    page.keyboard.press("i")
    page.keyboard.type("tamarisk readers")
    page.keyboard.press("Enter")
    expect(page.locator(".quoted")).to_contain_text("> Readers never wait for a tamarisk.")
    assert "q=tamarisk+readers" in page.url
    expect(page.locator(".told-from li").first).to_contain_text("answers the question")
    assert page.get_by_role("meter", name="Tokens of the budget").get_attribute("aria-valuemax") == "1200"
    page.get_by_label("Tokens at most").select_option("400")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator(".told-bar")).to_contain_text("of 400 tokens")
    page.locator(".told-from a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/#/doc/vault/wal.md?lines=*")
    page.go_back()
    expect(page.get_by_label("Question")).to_have_value("tamarisk readers")


def test_nothing_to_tell_is_said(reader: Reader) -> None:
    page = reader.open("#/recall?q=xylophonist")
    expect(page.locator(".empty")).to_contain_text("An agent would be told nothing")


def test_how_well_the_vault_is_found_is_measured_and_explained(reader: Reader) -> None:
    page = reader.open("#/recall")
    page.wait_for_selector(".self-test")
    page.keyboard.press("x")
    expect(page.locator(".self-test .rows").first).to_contain_text("Headings", timeout=60_000)
    hard = page.locator(".hard li").first
    expect(hard).to_contain_text("Rain hours")
    hard.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(hard.locator(".because")).to_contain_text("“rain” is in")
    expect(hard.locator("a").first).to_have_attribute("href", "#/search?q=Rain+hours")
    assert axe(page) == []
    page.goto(f"{reader.origin}/#/health")  # it took a while, and is kept
    page.wait_for_selector(".numbers")
    page.go_back()
    expect(page.locator(".hard li").first).to_contain_text("Rain hours")


@pytest.mark.parametrize(("at", "drawn"), [("#/health", "#growth"), ("#/recall?q=tamarisk", ".quoted")])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(reader: Reader, at: str, drawn: str) -> None:
    page = reader.open(at)
    page.wait_for_selector(drawn, state="attached")
    for summary in page.locator("summary").all():
        summary.click()
    assert looks(page) == []
