"""Reading a document: its text, its links, changes on disk, and the actions of a memory."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, ViewportSize, expect

from tests.page_real.browser import DESKTOP, PHONE, Reader, copied, looks, refined, toast
from tests.page_real.desk import add_text, memory

HERONS = Path(__file__).with_name("herons.md").read_text("utf-8")
ARABIC = "# الطرفاء 🌳\n\n> اقتباس\n\n```python\nprint('hello')\n```\n\nThis paragraph is English.\n"
EGRET, STORK, COOT = (f"80-memory/note/{name}.md" for name in ("egret", "stork", "coot"))


def chapter(number: int) -> str:
    return f"## Chapter {number}\n\n" + "\n\n".join(f"Line {number}.{at} {'of a long note ' * 12}" for at in range(8))


LONG = "# Long\n\n" + "\n\n".join(map(chapter, range(60))) + "\n\nThe very last line.\n"
CHANGING = "# Changing\n\n" + "A line of it.\n\n" * 60 + "## End\n\nIt says one.\n"
NOTES = {
    "birds/herons.md": HERONS,
    "birds/cranes.md": "# Cranes\n\nThey pass over [[herons]] in October.\n",
    "birds/pond/pond.md": "# Pond\n\nWide.\n\n## Water\n\nDeep.\n",
    "long.md": LONG,
    "changing.md": CHANGING,
    "arabic.md": ARABIC,
    EGRET: memory(1, "The egret stands in the water.", title="Egret"),
    COOT: memory(3, "The coot swims.\n\n- [ ] ring it", title="Coot"),
    STORK: memory(2, "The stork stands in the water.", title="Stork"),
}


def read(reader: Reader, path: str, query: str = "", **options: Any) -> Page:
    page = reader.open(f"#/doc/vault/{path}{query}", **options)
    expect(page.locator(".doc-text [data-line]").first).to_be_attached()
    return page


def is_at(page: Page, title: str, path: str) -> None:
    expect(page.locator("h1")).to_have_text(title)
    page.wait_for_url(f"**/#/doc/vault/{path}*")


def test_document_is_drawn_from_its_markdown(reader: Reader) -> None:
    page = read(reader, "birds/herons.md")
    text = page.locator(".doc-text")
    expect(page.locator("h1")).to_have_text(["Herons"])
    # A level-2 heading follows each heading; an empty one is omitted.
    headings = text.locator("[id^=h-]:not(p)")
    expect(headings).to_have_count(2)
    expect(text.locator("h2[id^=h-]")).to_have_count(2)
    # Line breaks of an author are kept, those of an editor are not.
    expect(text.locator("p").nth(0)).to_have_css("white-space", "pre-line")
    expect(text.locator("p").nth(1)).to_have_css("white-space", "normal")
    callouts = text.locator(".callout-title")
    expect(callouts).to_have_text(["Mind the nest", "Tip", "Folded", "Quote"])
    assert len(set(callouts.evaluate_all("all => all.map(one => getComputedStyle(one).color)"))) == 4
    title, below = (text.get_by_text(part).bounding_box() for part in ("Mind the nest", "They leave it."))
    assert title
    assert below
    assert title["y"] + title["height"] <= below["y"]
    expect(text.get_by_role("checkbox").nth(0)).to_be_checked()
    expect(text.get_by_role("checkbox").nth(1)).not_to_be_checked()
    expect(text.locator("math msup")).to_have_text("a2")
    expect(text.locator("pre .code-number")).to_have_text("3")
    page.get_by_role("button", name="Copy the code").click()
    expect(toast(page)).to_contain_text("The code is copied")
    assert copied(page) == "nests = 3"
    page.keyboard.press("m")
    expect(page.locator(".doc-raw")).to_contain_text("tags: [birds]")
    page.get_by_role("button", name="Source").click()
    expect(page.locator(".doc-raw")).to_have_count(0)
    page.keyboard.press("t")
    page.wait_for_url("**/#/timeline?*")


def test_document_shows_what_obsidian_shows(reader: Reader) -> None:
    page = read(reader, "birds/herons.md", size=PHONE)
    text = page.locator(".doc-text")
    folded = text.get_by_text("Seen later.")
    expect(folded).to_be_hidden()
    expect(text.get_by_text("Come early.")).to_be_visible()
    text.get_by_text("Folded").click()
    expect(folded).to_be_visible()
    expect(text.locator(".doc-properties")).to_contain_text("at the pond")
    expect(text.locator(".doc-properties").get_by_role("link", name="pond")).to_have_count(1)
    expect(text.get_by_text("seen", exact=True)).to_be_visible()  # without its block ID
    expect(text.get_by_role("link", name="nowhere")).to_have_class("ref missing")
    expect(text.get_by_role("link", name="cranes")).to_have_class("ref")
    text.locator(".embed").scroll_into_view_if_needed()
    expect(text.locator(".embedded")).to_contain_text("Wide.")


def test_document_links_are_drawn_and_listed(reader: Reader) -> None:
    page = read(reader, "birds/cranes.md")
    page.keyboard.press("v")
    nodes = page.locator(".graph a")
    expect(nodes).to_have_count(3)  # also the pond, which only the herons link to
    expect(page.locator(".graph line")).to_have_count(3)
    page.get_by_text("3 documents as a list").click()
    expect(page.locator(".graph-list li").first).to_contain_text("linked with Herons")
    assert looks(page) == []
    page.get_by_role("link", name="Pond", exact=True).first.press("Enter")
    is_at(page, "Pond", "birds/pond/pond.md")
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_document_tables_scroll_and_break_no_word(reader: Reader, size: ViewportSize) -> None:
    page = read(reader, "birds/herons.md", size=size)
    cell = page.get_by_role("cell", name="incomprehensibilities")
    assert cell.evaluate("one => one.clientHeight < 2 * parseFloat(getComputedStyle(one).lineHeight)")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


HEIGHT = "document.documentElement.scrollHeight"
GAPS = """one => {
  const range = document.createRange();
  range.selectNodeContents(document.createTreeWalker(one, NodeFilter.SHOW_TEXT).nextNode());
  const text = range.getBoundingClientRect(), box = one.getBoundingClientRect();
  return [text.left - box.left, box.right - text.right];
}"""
"""The space left and right of the first text in an element."""


def test_document_in_arabic_runs_right_to_left_and_its_code_left_to_right(reader: Reader) -> None:
    page = read(reader, "arabic.md")
    for selector, from_the_right in (("h1", True), ("blockquote", True), ("pre", False), (".prose > p", False)):
        left, right = page.locator(f".doc {selector}").last.evaluate(GAPS)
        assert (right < left) == from_the_right, selector


def test_document_links_lead_to_other_documents_and_back(reader: Reader) -> None:
    page = read(reader, "birds/herons.md")
    expect(page.locator(".doc-crumbs")).to_have_text(re.compile(r"^\s*vault\s*›\s*birds\s*$"))
    expect(page.locator(".doc-tags a")).to_have_attribute("href", "#/search?q=tag%3Abirds")
    around = page.locator(".doc-around")
    expect(around.locator("section", has_text="Linked from").get_by_role("link")).to_have_text("Cranes")
    expect(around.locator("section", has_text="Links to").get_by_role("link")).to_have_text("Pond")
    text = page.locator(".doc-text")
    text.get_by_role("link", name="cranes").click()
    is_at(page, "Cranes", "birds/cranes.md")
    page.keyboard.press("u")
    text.get_by_role("link", name="the pond").click()
    is_at(page, "Pond", "birds/pond/pond.md?at=5")
    expect(page.get_by_role("heading", name="Water")).to_be_in_viewport()
    page.keyboard.press("Backspace")
    text.locator(".embed").click()
    is_at(page, "Pond", "birds/pond/pond.md")
    page.keyboard.press("u")
    text.get_by_role("link", name="nowhere").click()
    expect(page.locator(".empty-title")).to_contain_text("“nowhere”")
    page.get_by_role("link", name="Search for").click()
    page.wait_for_url("**/#/search?q=nowhere")


def test_document_ignores_a_link_answered_after_going_back(reader: Reader) -> None:
    held: list[Route] = []
    page = read(reader, "birds/herons.md")
    page.route("**/page/read", lambda route: route.continue_() if held else held.append(route))
    with page.expect_request("**/page/read"):
        page.locator(".doc-text a", has_text="cranes").click()
    page.go_back()
    is_at(page, "Herons", "birds/herons.md")
    held[0].fulfill(response=held[0].fetch())
    # A later request is answered later.
    page.evaluate("fetch('/page/main.js').then(() => new Promise(requestAnimationFrame))")
    is_at(page, "Herons", "birds/herons.md")


def test_document_shows_a_hit_far_down_with_its_context(reader: Reader) -> None:
    line = LONG[: LONG.index("Line 30.4")].count("\n") + 1
    page = read(reader, "long.md", f"?lines={line}-{line}")
    hit = page.locator(".doc-text .hit")
    expect(hit).to_be_in_viewport()
    expect(hit).to_have_text(re.compile("^Line 30.4"))
    expect(hit).to_have_css("display", "block")  # unlike a hit of the search
    expect(page.locator(".doc-outline [aria-current]")).to_have_text("Chapter 30")
    first = page.locator(".doc-text [data-line]").first.inner_text()
    page.get_by_role("button", name="Earlier").click()
    expect(page.get_by_text("Line 0.0")).to_be_attached()
    expect(page.get_by_text(first)).to_be_in_viewport()


def test_document_loads_the_rest_and_its_outline_reaches_any_heading(reader: Reader) -> None:
    page = read(reader, "long.md")
    last = page.get_by_text("The very last line.")
    expect(last).to_have_count(0)
    before = page.evaluate(HEIGHT)
    page.get_by_role("button", name="Show more").scroll_into_view_if_needed()
    expect(last).to_be_attached()
    assert before / page.evaluate(HEIGHT) == pytest.approx(1, abs=0.15)  # the scroll bar is honest from the start
    outline = page.locator(".doc-outline")
    outline.get_by_role("link", name="Chapter 59").click()
    expect(page.locator("#h-chapter-59")).to_be_in_viewport()
    for key, number in (("p", 58), ("p", 57), ("n", 58)):
        page.keyboard.press(key)
        expect(outline.locator("[aria-current]")).to_have_text(f"Chapter {number}")


def test_document_steps_through_the_hits_of_the_search(reader: Reader) -> None:
    page = reader.open("#/search?q=water")
    refined(page, "water")
    links = page.locator(".hits h2 a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert len(links) > 2
    page.locator(".hits h2 a").first.click()
    at = page.locator(".doc-hits")
    expect(at).to_have_text(f"hit 1 of {len(links)}")
    for key, number in (("]", 1), ("]", 2), ("[", 1)):
        page.keyboard.press(key)
        expect(at).to_have_text(f"hit {number + 1} of {len(links)}")
        page.wait_for_url(f"**/{links[number]}")
    page.get_by_role("button", name="Previous hit").click()
    expect(at).to_have_text(f"hit 1 of {len(links)}")
    page.keyboard.press("u")
    page.wait_for_url("**/#/search?q=water*")


def test_document_updates_when_its_file_changes(reader: Reader) -> None:
    page = read(reader, "changing.md")
    page.get_by_text("It says one.").scroll_into_view_if_needed()
    file = reader.world.vault / "changing.md"
    reader.world.write("changing.md", CHANGING.replace("says one", "says two"))
    expect(page.get_by_text("It says two.")).to_be_in_viewport()
    expect(toast(page)).to_contain_text("changed on disk")
    file.unlink()
    expect(page.locator(".note.warn")).to_contain_text("The file no longer exists")
    expect(page.get_by_text("It says two.")).to_be_attached()


def test_document_of_a_memory_is_edited_and_its_tasks_ticked(reader: Reader) -> None:
    file = reader.world.vault / COOT
    before = file.read_text()
    page = read(reader, COOT)
    page.get_by_role("checkbox").click()
    expect(toast(page)).to_contain_text("Done.")
    assert file.read_text().endswith("- [x] ring it\n")
    toast(page).get_by_role("button", name="Undo").click()
    expect(page.get_by_role("checkbox")).not_to_be_checked()
    assert file.read_text() == before
    page.keyboard.press("i")
    add_text(page, "It dives.\n")
    assert looks(page) == []
    page.keyboard.press("Control+Enter")
    expect(page.locator(".doc-text")).to_contain_text("It dives.")
    assert "It dives." in file.read_text()


def test_document_of_a_memory_is_archived_deleted_and_restored(reader: Reader) -> None:
    egret, stork = (reader.world.vault / path for path in (EGRET, STORK))
    before = egret.read_bytes()
    page = read(reader, EGRET)
    for name, address in (
        ("History", f"#/history/vault/{EGRET}"),
        ("Obsidian", "obsidian://open?vault=vault&file=80-memory%2Fnote%2Fegret"),
        ("Editor", f"vscode://file{egret}:1"),
    ):
        expect(page.get_by_role("link", name=name)).to_have_attribute("href", address)
    page.get_by_role("button", name="Archive").click()
    expect(page.locator(".note.warn")).to_contain_text("It is archived")
    assert b"archived: " in egret.read_bytes()
    # Undo reverts this change, not a later one of another client.
    token = reader.world.token("other", writes=True)
    assert reader.served.call("archive", token, ref=STORK).status == 200
    toast(page).get_by_role("button", name="Undo").click()
    expect(toast(page)).to_contain_text("Undone.")
    assert egret.read_bytes() == before
    assert b"archived: " in stork.read_bytes()
    expect(page.locator(".note.warn")).to_have_count(0)
    page.goto(f"{reader.origin}/#/search?q=stork is:archived")
    page.locator(".hit h2 a", has_text="Stork").press("Enter")
    page.get_by_role("button", name="Restore").click()
    expect(toast(page)).to_contain_text("It is no longer archived")
    expect(page.locator(".note.warn")).to_have_count(0)
    assert b"archived: " not in stork.read_bytes()
    page.goto(f"{reader.origin}/#/doc/vault/{EGRET}")
    is_at(page, "Egret", EGRET)
    page.get_by_role("button", name="Delete").click()
    page.wait_for_url("**/#/search")
    assert not egret.exists()
    toast(page).get_by_role("button", name="Undo").click()
    expect(toast(page)).to_contain_text("Undone.")
    assert egret.read_bytes() == before
