"""The timeline: the documents before and after one."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.page_real.browser import Reader
from tests.page_real.desk import memory

HERONS = {
    f"notes/heron-{number:02}.md": (
        f"---\ncreated: 2026-10-{1 + number // 2:02}T1{number % 2}:30:00Z\nproject: {('pond', 'lake')[number % 2]}\n"
        f"---\n# Heron {number}\n\nIt stood in the reeds of the long northern shore.\n"
    )
    for number in range(30)
}
CRANE = "80-memory/note/crane.md"
NOTES = {**HERONS, CRANE: memory(1, "Cranes pass.", title="Crane", created="2026-10-08T20:00:00Z")}


def opened(reader: Reader, place: str = "#/timeline?ref=notes/heron-15.md") -> Page:
    page = reader.open(place)
    page.wait_for_selector(".line-one.anchor")
    return page


def titles(page: Page) -> Any:
    return page.locator(".line-title")


def herons(numbers: range) -> list[str]:
    return [f"Heron {number}" for number in numbers]


def test_timeline_page_surrounds_the_document_and_loads_more_both_ways(reader: Reader) -> None:
    page = opened(reader)
    expect(titles(page)).to_have_text([*herons(range(7, 16)), "Crane", *herons(range(16, 23))])
    anchor = page.locator(".line-one.anchor")
    expect(anchor.locator("a")).to_have_attribute("aria-current", "true")
    expect(anchor).to_be_in_viewport()
    expect(page.locator(".line-day").nth(0)).to_have_text("Oct 4, 2026")
    expect(page.locator(".line-day").nth(1)).to_have_text("Oct 5, 2026")
    top = "one => one.getBoundingClientRect().top"
    before = anchor.evaluate(top)
    page.keyboard.press("[")
    expect(page.locator(".line-one")).to_have_count(24)
    assert abs(anchor.evaluate(top) - before) <= 2  # the document keeps its position on the screen
    expect(titles(page).first).to_have_text("Heron 0")
    expect(page.get_by_role("button", name="Earlier")).to_have_count(0)
    page.get_by_role("button", name="Later").click()
    expect(page.locator(".line-one")).to_have_count(31)
    expect(titles(page).last).to_have_text("Heron 29")
    page.reload()
    expect(page.locator(".line-one")).to_have_count(31)


def test_timeline_page_filters_by_kind_or_project(reader: Reader) -> None:
    page = opened(reader)
    page.get_by_role("button", name="Memories").click()
    expect(titles(page)).to_have_text(["Heron 15", "Crane"])
    page.get_by_role("button", name="All").click()
    page.get_by_role("button", name="Only lake").click()
    expect(titles(page)).to_have_text(herons(range(1, 30, 2)))
    page.keyboard.press("p")
    expect(titles(page).first).to_have_text("Heron 7")
    for pressed in ("Notes", "Memories", "Sessions"):
        page.keyboard.press("f")
        expect(page.get_by_role("button", name=pressed)).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("No other documents of this kind around this time.")).to_be_visible()
    page.keyboard.press("f")
    expect(page.locator(".line-one")).to_have_count(17)
    page.keyboard.press("l")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/#/doc/vault/{CRANE}*")


def test_timeline_page_names_a_missing_document(reader: Reader) -> None:
    expect(reader.open("#/timeline?ref=notes/none.md").get_by_role("alert")).to_be_visible()
