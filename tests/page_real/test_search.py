"""The search: what is drawn while somebody types, the filters, the hits and what can be done with them."""

import json
import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.page_real.browser import DESKTOP, PHONE, Reader, looks, shown
from tests.serve.servers import Place, place
from vault_index.query.language.tree import tokenize

HIT = ".hit h2 a"
SCREENS = pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])


def memory(title: str, more: str = "") -> str:
    return (
        f"---\ntype: decision\ncreated: 2026-01-05\n{more}---\n# {title}\n\nThe quince press stays, said of {title}.\n"
    )


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("search")) as made:
        made.write(
            "garden/Shrubs.md",
            "---\ntags: [garden]\ncreated: 2025-02-03\n---\n# Shrubs\n\n## Watering\n\n"
            "The **tamarisk** wants [[Rain barrel|little water]] in summer. 🌧 The tamarisk is 🌿 a shrub of the "
            "coast.\n",
        )
        made.write("garden/Pruning.md", "# Pruning\n\nA tamarisk is cut in March, a damson hardly ever.\n")
        made.write("kitchen/Jam.md", "---\ntags: [food]\n---\n# Jam\n\nDamson jam sets by itself.\n")
        for name in ("one", "two"):
            made.write(f"copies/{name}.md", "The zinnia bed lies behind the shed, and is dug over in autumn.\n")
        for number in range(1, 46):
            made.write(f"log/{number:02}.md", f"# Day {number}\n\nThe ledger of day {number} was closed.\n")
        made.write("80-memory/press.md", memory("Keep the press"))
        made.write("80-memory/old.md", memory("Hire a press", "expires: 2026-02-01\n"))
        made.write("80-memory/new.md", "---\nid: 1d9c4c1e-7a55-4b0e-9f5e-3a3f0c7c2a10\n---\n# New\n\nA new quince.\n")
        made.write(
            "80-memory/gone.md",
            memory("Lend the press", "superseded_by: 1d9c4c1e-7a55-4b0e-9f5e-3a3f0c7c2a10\n"),
        )
        made.daemon()
        yield made


def searched(page: Page, query: str) -> None:
    """Type it, as a whole, and wait for what is found by its meaning too."""
    page.fill("#search", query)
    refined(page, query)


def refined(page: Page, query: str) -> None:
    page.wait_for_selector(f"html[data-refined='{query}']", state="attached")


def searches(page: Page) -> list[Any]:
    """What is asked of the server from now on."""
    asked: list[Any] = []

    def told(request: Request) -> None:
        if request.url.endswith("/api/search"):
            asked.append(request.post_data_json)

    page.on("request", told)
    return asked


def titles(page: Page) -> list[str]:
    return list(page.locator(HIT).all_inner_texts())


# --- typing ---------------------------------------------------------------------------------------------------


def test_each_key_shows_hits_and_a_word_that_is_not_whole_yet_is_found(reader: Reader) -> None:
    page = reader.open()
    asked = searches(page)
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("tam")
    shown(page, "tam")
    assert [one["query"] for one in asked if one.get("mode") == "text"][-1] == "tam*"
    refined(page, "tam")
    assert set(titles(page)) == {"Shrubs", "Pruning"}
    assert "tamarisk" in page.locator(".hit mark").all_inner_texts()
    page.wait_for_url("**/#/search?q=tam")
    page.keyboard.type("arisk")
    refined(page, "tamarisk")
    assert [one["query"] for one in asked if "mode" not in one][-1] == "tamarisk"


def test_within_a_query_nothing_is_added_to_its_words(reader: Reader) -> None:
    page = reader.open()
    searched(page, "damson jam")
    asked = searches(page)
    page.press("#search", "Home")
    page.keyboard.press("Delete")
    shown(page, "amson jam")
    assert asked[0]["query"] == "amson jam"


def test_what_a_slow_answer_says_never_takes_the_place_of_a_newer_one(reader: Reader) -> None:
    page = reader.open()
    held: list[Route] = []

    def hold(route: Route) -> None:
        if "ledger" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/search", hold)
    page.fill("#search", "ledger")
    page.fill("#search", "damson")
    refined(page, "damson")
    for route in held:
        route.continue_()
    page.unroute("**/api/search")
    searched(page, "damson jam")
    assert held
    assert titles(page)[0] == "Jam"
    assert not any("Day" in title for title in titles(page))


def test_who_types_faster_than_the_answers_come_sees_hits_all_the_same(reader: Reader) -> None:
    page = reader.open()
    held: list[Route] = []
    page.route("**/api/search", lambda route: held.append(route))
    with page.expect_request("**/api/search"):
        page.fill("#search", "dams")
    page.fill("#search", "damson")
    held[0].continue_()
    page.wait_for_selector("html[data-shown=dams] .hit")
    assert "Jam" in titles(page)
    for route in held[1:]:
        route.continue_()
    page.unroute("**/api/search")
    searched(page, "damson jam")


def test_a_hit_that_stays_is_not_drawn_anew_and_keeps_the_focus(reader: Reader) -> None:
    page = reader.open("#/search?q=damson")
    refined(page, "damson")
    page.focus(HIT)
    page.locator(HIT).first.evaluate("link => { link.closest('.hit').dataset.old = 'yes' }")
    title = titles(page)[0]
    page.keyboard.press("e")
    page.wait_for_selector(".why")
    assert page.locator(".hit[data-old=yes] h2").inner_text() == title
    expect(page.locator(".hit[data-old=yes] h2 a")).to_be_focused()


def test_what_is_wrong_with_a_query_is_said_and_the_hits_stay(reader: Reader) -> None:
    page = reader.open("#/search?q=tamarisk")
    refined(page, "tamarisk")
    page.fill("#search", "tamarisk after:soon")
    assert "Not a date: 'soon'" in page.locator("[role=alert]").inner_text()
    assert set(titles(page)) == {"Shrubs", "Pruning"}
    searched(page, "tamarisk after:2025")
    assert page.locator("[role=alert]").count() == 0


def test_a_link_to_a_search_is_one_and_the_way_back_leads_there(reader: Reader) -> None:
    page = reader.open("#/search?q=damson")
    refined(page, "damson")
    page.goto(f"{reader.origin}/#/search?q=tamarisk")
    refined(page, "tamarisk")
    page.go_back()
    refined(page, "damson")
    assert page.input_value("#search") == "damson"


# --- filters --------------------------------------------------------------------------------------------------


def test_filters_are_turned_on_and_off_by_chips(reader: Reader) -> None:
    page = reader.open()
    searched(page, "quince")
    page.get_by_role("button", name="Memories", exact=True).click()
    refined(page, "quince kind:memory")
    page.get_by_role("button", name="Last week").click()
    refined(page, 'quince kind:memory after:"last week"')
    page.get_by_role("button", name="Today").click()
    refined(page, "quince kind:memory after:today")
    pressed = page.locator(".filters [aria-pressed=true]").all_inner_texts()
    assert pressed == ["Memories", "Today"]
    for name in ("Today", "Memories"):
        page.get_by_role("button", name=name, exact=True).click()
    refined(page, "quince")
    assert page.input_value("#search") == "quince"


def test_filters_that_are_typed_are_chips_that_take_them_away(reader: Reader) -> None:
    page = reader.open()
    searched(page, "tamarisk tag:garden -path:kitchen")
    assert titles(page) == ["Shrubs"]
    chips = page.get_by_role("group", name="Filters of this search").get_by_role("button")
    assert chips.locator("span").all_inner_texts() == ["tag garden", "not path kitchen"]
    chips.nth(0).click()
    refined(page, "tamarisk -path:kitchen")
    assert len(titles(page)) == 2
    page.get_by_role("button", name="not path kitchen").press("Enter")
    refined(page, "tamarisk")
    expect(page.locator("#search")).to_be_focused()


def test_sources_and_tags_are_offered_by_keys_alone(reader: Reader) -> None:
    page = reader.open("#/search?q=tamarisk")
    refined(page, "tamarisk")
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    tag = page.get_by_role("button", name="#garden")
    tag.wait_for()
    tag.focus()
    page.keyboard.press("Enter")
    refined(page, "tamarisk tag:garden")
    expect(tag).to_be_focused()
    assert tag.get_attribute("aria-pressed") == "true"
    assert page.get_by_role("button", name="vault", exact=True).count() == 1


QUERIES = (
    "wal", "tag:food", "-tag:food", "NOT tag:food x", 'title:"field notes" y', "a tag:x OR tag:y b", "10:30",
    "(tag:work OR tag:code) z", "http://localhost:8080", "std::vector", "error: not found", "after:today, x",
    "[status]", "[status:done] x", "[x] done", "[ERROR] log", '["due date":2026-05-01]', "KIND:notes",
    "x -(tag:food path:a)", '"tag:food"', "is:expired", "path:a/b*.md", "by:alice bead_id:bd-12",
)  # fmt: skip


def test_the_page_sees_the_filters_that_the_server_sees(page: Page) -> None:
    script = "async queries => { const { filtersOf } = await import('/page/query.js'); return queries.map(filtersOf); }"
    found = page.evaluate(script, list(QUERIES))
    for query, filters in zip(QUERIES, found, strict=True):
        assert [_value(one) for one in filters] == [
            token.text.replace('"', "") for token in tokenize(query) if token.kind == "filter"
        ], query


def _value(one: dict[str, str]) -> str:
    return one["value"].replace('"', "")


@pytest.mark.parametrize(
    ("query", "at", "left"),
    [
        ("wal tag:a x", 0, "wal x"),
        ("tag:a OR tag:b wal", 0, "tag:b wal"),
        ("tag:a OR tag:b wal", 1, "tag:a wal"),
        ("x (tag:a OR tag:b) y", 1, "x (tag:a) y"),
        ("x -(tag:a) y", 0, "x y"),
        ("NOT tag:a", 0, ""),
        ('after:"last week" FOR tag:a', 1, 'after:"last week" FOR'),
    ],
)
def test_nothing_is_left_of_a_filter_that_is_taken_away(page: Page, query: str, at: int, left: str) -> None:
    taken = "import('/page/query.js').then(q => q.without(text, q.filtersOf(text)[at]))"
    assert page.evaluate(f"([text, at]) => {taken}", [query, at]) == left


# --- hits -----------------------------------------------------------------------------------------------------


def test_a_hit_says_its_place_and_its_words_without_marks_of_markdown(reader: Reader) -> None:
    page = reader.open("#/search?q=tamarisk shrub coast")
    refined(page, "tamarisk shrub coast")
    hit = page.locator(".hit").first
    text = hit.inner_text()
    assert "vault › garden" in text
    assert "§ Watering" in text
    assert "The tamarisk wants little water in summer. 🌧 The tamarisk is 🌿 a shrub of the coast." in text
    assert set(hit.locator("mark").all_inner_texts()) == {"tamarisk", "shrub", "coast"}
    assert hit.locator("h2 a").get_attribute("href") == "#/doc/vault/garden/Shrubs.md?lines=9-9&q=tamarisk+shrub+coast"


def test_a_hit_says_what_sets_it_apart(reader: Reader) -> None:
    page = reader.open("#/search?q=zinnia bed")
    refined(page, "zinnia bed")
    assert page.locator(".hit").count() == 1
    assert re.search(r"Also in copies/(one|two)\.md", page.locator(".hit").inner_text())
    for state in ("expired", "superseded"):
        searched(page, f"press is:{state}")
        assert page.locator(".hit .chip").all_inner_texts() == [state]
        assert "Decision" in page.locator(".hit-place").inner_text()


def test_rare_things_about_an_answer_are_said(reader: Reader) -> None:
    page = reader.open()

    def change(route: Route) -> None:
        answer = route.fetch()
        told = answer.json()
        told.update(degraded=["source old: its folder is not there"], confidence="low")
        told["results"][0].update(newer="1d9c", unreviewed=True, changed_since_index=True, weak=False)
        route.fulfill(response=answer, body=json.dumps(told))

    page.route("**/api/search", change)
    searched(page, "damson")
    assert page.locator(".hit .chip").all_inner_texts() == ["older", "not reviewed", "changed since"]
    assert "Source old: its folder is not there." in page.locator("main").inner_text()
    assert "not certain" in page.locator(".told").inner_text()


def test_a_word_that_was_misspelt_is_told_and_taken(reader: Reader) -> None:
    page = reader.open()
    searched(page, "tamraisk")
    assert set(titles(page)) >= {"Shrubs", "Pruning"}
    page.get_by_role("button", name="tamarisk", exact=True).click()
    refined(page, "tamarisk")


def test_what_hardly_answers_is_shown_on_demand(reader: Reader) -> None:
    page = reader.open()
    searched(page, "ledger of an unheard galleon voyage")
    before = page.locator(".hit").count()
    page.get_by_role("button", name="weaker hit").click()
    page.wait_for_selector(".hit .chip >> text=weak")
    assert page.locator(".hit").count() > before
    page.reload()
    page.wait_for_selector(".hit .chip >> text=weak")
    searched(page, "xylograph")
    assert "Nothing answers this" in page.locator("main").inner_text()


@SCREENS
def test_more_hits_come_as_the_end_comes_near(reader: Reader, size: Any) -> None:
    page = reader.open("#/search?q=ledger", size=size)
    refined(page, "ledger")
    assert "20+ hits" in page.locator(".told").inner_text()
    for number in (40, 45):
        page.locator(".hit").last.scroll_into_view_if_needed()
        page.wait_for_selector(f".hit:nth-child({number})")
    expect(page.locator(".told")).to_contain_text("45 hits")
    assert len(set(titles(page))) == 45
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)


@pytest.mark.parametrize("way", ["mouse", "keys"])
def test_why_a_hit_was_found_is_shown_and_said(reader: Reader, way: str) -> None:
    page = reader.open("#/search?q=damson jam")
    refined(page, "damson jam")
    if way == "mouse":
        page.get_by_role("button", name="More about Jam").click()
        page.get_by_role("button", name="Why this?").click()
    else:
        page.keyboard.press("ArrowDown")
        page.keyboard.press("e")
    why = page.locator(".why").first
    assert "says damson, jam" in why.inner_text()
    assert re.search(r"0\.\d\d = words 0\.\d\d", why.inner_text())
    assert why.locator(".why-bar i").count() >= 2
    assert "Looked for: damson, in 2 passages" in page.locator(".legend").inner_text()
    assert "why=1" in page.url
    page.focus(HIT)
    page.keyboard.press("e")
    page.wait_for_selector(".why", state="detached")


# --- going on -------------------------------------------------------------------------------------------------


def test_hits_are_gone_through_and_opened_by_keys_and_the_way_back_leads_to_the_same(reader: Reader) -> None:
    page = reader.open()
    page.keyboard.type("tamarisk")
    refined(page, "tamarisk")
    page.keyboard.press("Enter")
    page.keyboard.press("j")
    second = page.locator(HIT).nth(1)
    expect(second).to_be_focused()
    href = second.get_attribute("href")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{href}")
    page.go_back()
    expect(page.locator(f'a[href="{href}"]')).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("k")
    expect(page.locator("#search")).to_be_focused()


def test_a_press_anywhere_on_a_hit_opens_it(reader: Reader) -> None:
    page = reader.open("#/search?q=tamarisk", size=PHONE)
    refined(page, "tamarisk")
    href = page.locator(HIT).first.get_attribute("href")
    page.locator(".hit .snippet").first.click()
    page.wait_for_url(f"**/{href}")


def test_a_hit_is_copied_opened_elsewhere_and_seen_in_its_time(reader: Reader) -> None:
    page = reader.open("#/search?q=damson jam", permissions=["clipboard-read", "clipboard-write"])
    refined(page, "damson jam")
    page.evaluate(
        "addEventListener('click', event => { const to = event.target.closest('a[href^=obsidian]');"
        " if (to) { event.preventDefault(); document.documentElement.dataset.went = to.href; } })"
    )
    page.keyboard.press("ArrowDown")
    page.keyboard.press("c")
    page.wait_for_selector("text=The link is copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"{reader.origin}/#/doc/vault/kitchen/Jam.md?lines=")
    page.keyboard.press("o")
    page.wait_for_selector('html[data-went^="obsidian://open?vault=vault&file=kitchen"]', state="attached")
    page.get_by_role("button", name="More about Jam").click()
    expect(page.get_by_role("link", name="Open in Obsidian")).to_have_attribute("href", re.compile("^obsidian:"))
    around = page.get_by_role("link", name="Around it in time").get_attribute("href")
    page.focus(HIT)
    page.keyboard.press("t")
    page.wait_for_url(f"**/{around}")


# --- nothing asked yet ----------------------------------------------------------------------------------------


def test_searches_that_led_somewhere_are_kept_and_can_be_forgotten(reader: Reader) -> None:
    page = reader.open()
    for number in range(10):
        page.fill("#search", f"ledger {number}")
        page.keyboard.press("Enter")
    refined(page, "ledger 9")
    page.get_by_role("button", name="Clear the search").click()
    kept = page.locator("section", has_text="Recent searches").locator(".chip")
    assert kept.all_inner_texts() == [f"ledger {number}" for number in range(9, 1, -1)]
    kept.first.click()
    refined(page, "ledger 9")
    page.reload()
    page.get_by_role("button", name="Clear the search").click()
    page.get_by_role("button", name="Forget these").click()
    expect(kept).to_have_count(0)
    page.reload()
    page.wait_for_selector(".changed")
    expect(kept).to_have_count(0)


def test_what_changed_of_late_is_shown_as_it_changes(reader: Reader) -> None:
    page = reader.open()
    page.wait_for_selector(".changed li:nth-child(8)")
    reader.here.write("kitchen/Chutney.md", "# Chutney\n\nOf green tomatoes.\n")
    page.wait_for_selector(".changed >> text=Chutney")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/#/doc/vault/kitchen/Chutney.md")
    page.go_back()
    page.get_by_role("button", name='after:"last week"').click()
    refined(page, 'after:"last week"')


def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(reader: Reader) -> None:
    page = reader.open()
    page.wait_for_selector(".changed")
    faults = {"start": looks(page)}
    page.click("#filters")
    searched(page, "press is:expired -tag:x")
    page.locator(".hit-head button").click()
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    page.wait_for_selector(".why")
    faults["why"] = looks(page)
    page.fill("#search", "press after:soon")
    page.wait_for_selector("[role=alert]")
    faults["error"] = looks(page)
    searched(page, "xylograph")
    faults["nothing"] = looks(page)
    searched(page, f"tamraisk before:{date.today() + timedelta(2)}")
    page.focus(HIT)
    faults["hits"] = looks(page)
    assert faults == {state: [] for state in faults}
