"""The search: hits while typing, filters, and actions on a hit."""

import json
import re
from typing import Any

from playwright.sync_api import Locator, Page, Request, Route, expect

from tests.page_real.browser import DESKTOP, PHONE, Reader, axe, copied, looks, refined, shown, toast
from tests.waiting import until
from vault_index.query.language.tree import tokenize


def memory(title: str, more: str = "") -> str:
    return f"---\ntype: decision\ncreated: 2026-01-05\n{more}---\n# {title}\n\nThe quince press stays.\n"


COPIED = "The zinnia bed lies behind the shed, and is dug over in autumn.\n"
NEW = "1d9c4c1e-7a55-4b0e-9f5e-3a3f0c7c2a10"
NOTES = {
    "garden/Shrubs.md": (
        "---\ntags: [garden]\ncreated: 2025-02-03\n---\n# Shrubs\n\n## Watering\n\nThe **tamarisk** wants"
        " [[Rain barrel|little water]] in summer. 🌧 The tamarisk is 🌿 a shrub of the coast.\n"
    ),
    "garden/Pruning.md": "# Pruning\n\nA tamarisk is cut in March, a damson hardly ever.\n",
    "kitchen/Jam.md": "---\ntags: [food]\n---\n# Jam\n\nDamson jam sets by itself.\n",
    "copies/one.md": COPIED,
    "copies/two.md": COPIED,
    **{f"log/{day:02}.md": f"# Day {day}\n\nThe ledger of day {day} was closed.\n" for day in range(1, 46)},
    "80-memory/old.md": memory("Hire a press", "expires: 2026-02-01\n"),
    "80-memory/new.md": f"---\nid: {NEW}\n---\n# New\n\nA new quince.\n",
    "80-memory/gone.md": memory("Lend the press", f"superseded_by: {NEW}\n"),
}


def opened(reader: Reader, query: str, **options: Any) -> Page:
    page = reader.open(f"#/search?q={query}", **options)
    refined(page, query)
    return page


def search(page: Page, query: str) -> None:
    """Fill in a whole query and wait for its final hits."""
    page.fill("#search", query)
    refined(page, query)


def titles(page: Page) -> Locator:
    return page.locator(".hit h2 a")


def chip(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def test_search_page_finds_a_word_while_it_is_typed(reader: Reader) -> None:
    page = reader.open()
    asked: list[Any] = []

    def add(request: Request) -> None:
        if request.url.endswith("/api/search"):
            asked.append(request.post_data_json)

    page.on("request", add)
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("tam")
    refined(page, "tam")
    assert [one["query"] for one in asked if one.get("mode") == "text"][-1] == "tam*"
    expect(titles(page).filter(has_text=re.compile("Shrubs|Pruning"))).to_have_count(2)
    expect(page.locator(".hit mark", has_text="tamarisk").first).to_be_visible()
    page.wait_for_url("**/#/search?q=tam")
    page.keyboard.type("arisk")
    refined(page, "tamarisk")
    assert [one["query"] for one in asked if "mode" not in one][-1] == "tamarisk"
    asked.clear()
    page.press("#search", "Home")
    page.keyboard.press("Delete")
    shown(page, "amarisk")
    assert asked[0]["query"] == "amarisk"  # only the word at the cursor is completed


def test_search_page_ignores_a_late_answer_to_an_older_query(reader: Reader) -> None:
    page = reader.open()
    held: list[Route] = []

    def hold(route: Route) -> None:
        if "ledger" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/search", hold)
    page.fill("#search", "ledger")
    until(lambda: page.evaluate("true") and held)  # events arrive during a call
    search(page, "damson")
    for route in held:
        route.continue_()
    search(page, "damson jam")
    expect(titles(page).first).to_have_text("Jam")
    expect(titles(page).filter(has_text="Day")).to_have_count(0)


def test_search_page_reports_an_invalid_query_and_keeps_the_hits(reader: Reader) -> None:
    page = opened(reader, "tamarisk")
    page.fill("#search", "tamarisk after:soon")
    expect(page.get_by_role("alert")).to_contain_text("Not a date: 'soon'")
    expect(titles(page)).to_have_count(2)
    search(page, "tamarisk after:2025")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_search_page_chips_turn_filters_on_and_off(reader: Reader) -> None:
    page = opened(reader, "quince")
    chip(page, "Memories").click()
    refined(page, "quince kind:memory")
    chip(page, "Last week").click()
    refined(page, 'quince kind:memory after:"last week"')
    chip(page, "Today").click()
    refined(page, "quince kind:memory after:today")
    expect(page.locator(".filters [aria-pressed=true]")).to_have_text(["Memories", "Today"])
    for name in ("Today", "Memories"):
        chip(page, name).click()
    refined(page, "quince")
    expect(page.locator("#search")).to_have_value("quince")


def test_search_page_shows_filters_of_the_query_as_removable_chips(reader: Reader) -> None:
    page = opened(reader, "tamarisk -path:kitchen")
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    tag = page.get_by_role("button", name="#garden")
    tag.press("Enter")
    refined(page, "tamarisk -path:kitchen tag:garden")
    expect(titles(page)).to_have_text(["Shrubs"])
    expect(tag).to_be_focused()
    expect(tag).to_have_attribute("aria-pressed", "true")
    chips = page.get_by_role("group", name="Filters of this search").get_by_role("button")
    expect(chips.locator("span")).to_have_text(["not path kitchen", "tag garden"])
    chips.nth(0).click()
    refined(page, "tamarisk tag:garden")
    chips.nth(0).press("Enter")
    refined(page, "tamarisk")
    expect(titles(page)).to_have_count(2)
    expect(page.locator("#search")).to_be_focused()


QUERIES = (
    "wal", "-tag:food", "NOT tag:food x", 'title:"field notes" y', "a tag:x OR tag:y b", "10:30",
    "(tag:work OR tag:code) z", "http://localhost:8080", "std::vector", "error: not found", "after:today, x",
    "[status]", "[status:done] x", "[x] done", '["due date":2026-05-01]', "KIND:notes",
    "x -(tag:food path:a)", '"tag:food"', "is:expired", "path:a/b*.md", "by:alice bead_id:bd-12",
)  # fmt: skip


def test_search_page_parses_filters_like_the_server(page: Page) -> None:
    values = """async queries => {
      const { filtersOf } = await import('/page/query.js');
      return queries.map(query => filtersOf(query).map(({ value }) => value.replaceAll('"', '')));
    }"""
    assert dict(zip(QUERIES, page.evaluate(values, QUERIES), strict=True)) == {
        query: [token.text.replace('"', "") for token in tokenize(query) if token.kind == "filter"] for query in QUERIES
    }


def test_search_page_hit_shows_place_words_copies_and_state(reader: Reader) -> None:
    page = opened(reader, "tamarisk shrub coast")
    hit = page.locator(".hit").first
    text = "The tamarisk wants little water in summer. 🌧 The tamarisk is 🌿 a shrub of the coast."
    for part in ("vault › garden", "§ Watering", text):
        expect(hit).to_contain_text(part, use_inner_text=True)
    expect(hit.locator(".snippet mark")).to_have_text(["tamarisk", "tamarisk", "shrub", "coast"])
    href = "#/doc/vault/garden/Shrubs.md?lines=9-9&q=tamarisk+shrub+coast"
    expect(hit.locator("h2 a")).to_have_attribute("href", href)
    search(page, "zinnia bed")
    expect(page.locator(".hit")).to_have_count(1)
    expect(page.locator(".hit")).to_contain_text(re.compile(r"Also in\s+copies/(one|two)\.md"))
    for state in ("expired", "superseded"):
        search(page, f"press is:{state}")
        expect(page.locator(".hit .chip")).to_have_text([state])
        expect(page.locator(".hit-place")).to_contain_text("decision")


def test_search_page_shows_every_warning_of_an_answer(reader: Reader) -> None:
    page = reader.open()

    def change(route: Route) -> None:
        answer = route.fetch()
        data = answer.json()
        data.update(degraded=["source old: its folder is not there"], confidence="low")
        data["results"][0].update(states=["unreviewed"], changed_since_index=True, weak=False)
        route.fulfill(response=answer, body=json.dumps(data))

    page.route("**/api/search", change)
    search(page, "damson")
    expect(page.locator(".hit .chip")).to_have_text(["unreviewed", "changed since"])
    expect(page.locator("main")).to_contain_text("Source old: its folder is not there.")
    expect(page.locator(".told")).to_contain_text("not certain")


def test_search_page_corrects_a_word_and_shows_weak_hits_on_demand(reader: Reader) -> None:
    page = opened(reader, "tamraisk")
    expect(titles(page).filter(has_text=re.compile("Shrubs|Pruning"))).to_have_count(2)
    chip(page, "tamarisk").click()
    refined(page, "tamarisk")
    search(page, "ledger of an unheard galleon voyage")
    page.get_by_role("button", name="weak hit").click()
    weak = page.locator(".hit .chip", has_text="weak").first
    expect(weak).to_be_visible()
    page.reload()
    expect(weak).to_be_visible()
    search(page, "xylograph")
    expect(page.locator("main")).to_contain_text("Nothing answers this")


def test_search_page_loads_more_hits_near_the_end(reader: Reader) -> None:
    page = opened(reader, "ledger", size=PHONE)
    expect(page.locator(".told")).to_contain_text("20+ hits")
    for number in (40, 45):
        page.locator(".hit").last.scroll_into_view_if_needed()
        page.wait_for_selector(f".hit:nth-child({number})")
    expect(page.locator(".told")).to_contain_text("45 hits")
    assert len(set(titles(page).evaluate_all("all => all.map(one => one.textContent)"))) == 45


def test_search_page_explains_a_hit(reader: Reader) -> None:
    page = opened(reader, "damson jam")
    page.get_by_role("button", name="More about Jam").click()
    page.get_by_role("button", name="Why this?").click()
    why = page.locator(".why").first
    expect(why).to_contain_text("contains damson, jam")
    expect(why).to_contain_text(re.compile(r"0\.\d\d = words 0\.\d\d"))
    expect(why.locator(".why-bar i").nth(1)).to_be_attached()
    expect(page.locator(".legend")).to_contain_text("Searched for: damson, in 2 passages")
    page.wait_for_url("**why=1**")
    titles(page).first.focus()
    page.keyboard.press("e")
    expect(page.locator(".why")).to_have_count(0)
    expect(titles(page).first).to_be_focused()


def test_search_page_hit_opens_by_keys_and_is_focused_on_the_way_back(reader: Reader) -> None:
    page = reader.open()
    page.keyboard.type("tamarisk")
    page.keyboard.press("Enter")  # before the hits are final
    first = page.locator(".doc h1")
    expect(first).to_be_visible()
    page.keyboard.press("/")
    expect(page.locator("#search")).to_have_value("tamarisk")
    refined(page, "tamarisk")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    second = titles(page).nth(1)
    expect(second).to_be_focused()
    href = second.get_attribute("href")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{href}")
    page.go_back()
    expect(page.locator("#search")).to_have_value("tamarisk")
    expect(page.locator(f'.hits a[href="{href}"]')).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("k")
    expect(page.locator("#search")).to_be_focused()
    href = titles(page).first.get_attribute("href")
    page.locator(".hit .snippet").first.click()  # by mouse anywhere on it
    page.wait_for_url(f"**/{href}")


def test_search_page_shows_the_selected_hit_beside_the_list(page: Page) -> None:
    page.set_viewport_size(DESKTOP)
    search(page, "tamarisk")
    page.keyboard.press("ArrowDown")
    beside = page.get_by_role("region", name="The selected document")
    expect(beside.locator(".preview-head")).to_have_text(titles(page).first.inner_text())
    page.keyboard.press("ArrowDown")
    expect(beside.locator(".preview-head")).to_have_text(titles(page).nth(1).inner_text())
    expect(beside.locator(".prose .hit")).to_be_in_viewport()
    assert looks(page) == []
    page.set_viewport_size(PHONE)
    expect(beside).to_have_count(0)


def test_search_page_hit_is_copied_and_opened_in_obsidian_and_timeline(reader: Reader) -> None:
    page = opened(reader, "damson jam")
    page.evaluate(
        "addEventListener('click', event => { const to = event.target.closest('a[href^=obsidian]');"
        " if (to) { event.preventDefault(); document.documentElement.dataset.went = to.href; } })"
    )
    page.keyboard.press("ArrowDown")
    page.keyboard.press("c")
    expect(toast(page)).to_contain_text("The link is copied")
    assert copied(page).startswith(f"{reader.origin}/#/doc/vault/kitchen/Jam.md?lines=")
    page.keyboard.press("o")
    page.wait_for_selector('html[data-went^="obsidian://open?vault=vault&file=kitchen"]', state="attached")
    page.get_by_role("button", name="More about Jam").click()
    expect(page.get_by_role("link", name="Open in Obsidian")).to_have_attribute("href", re.compile("^obsidian:"))
    around = page.get_by_role("link", name="Show in timeline").get_attribute("href")
    titles(page).first.focus()
    page.keyboard.press("t")
    page.wait_for_url(f"**/{around}")


def test_search_page_completes_filters_and_names_the_nearest_value(page: Page) -> None:
    offers = page.get_by_role("option")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("jam ta")
    expect(offers).to_have_text([re.compile("tag:")])
    page.keyboard.press("Tab")
    expect(offers).to_have_text([re.compile("food *1"), re.compile("garden *1")])
    page.keyboard.type("f")
    expect(offers).to_have_count(1)
    assert axe(page) == []
    page.keyboard.press("ArrowDown")
    expect(offers).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.locator("#search")).to_have_value("jam tag:food ")
    expect(offers).to_have_count(0)
    page.fill("#search", "tag:fod")
    page.get_by_role("button", name="tag:food").click()
    expect(page.locator("#search")).to_have_value("tag:food")
