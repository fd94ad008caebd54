"""What somebody who sees the page for the first time stumbles over."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page_real.browser import PHONE, Reader, shown
from tests.serve.servers import Place, place, until

CALLOUTS = "# Callouts\n\n" + "\n".join(f"> [!{kind}] Above\n> Below\n" for kind in ("note", "info", "tip", "warning"))
ARABIC = """# الطرفاء 🌳

شجرة تنمو في الصحراء.

> اقتباس

```python
print("hello")
```

This paragraph is English.
"""
CODE = '# Code\n\n```python\ngreeting = "so long that on a phone its end is below the button"\n```\n'
LONG = f"# Long\n\n{'Before it. ' * 200}\n\nBegins {'and goes on ' * 120}.\n\n{'After. ' * 300}\n"
TABS = 8
IN_FRONT = """
window.away = false;
Object.defineProperty(document, "hidden", { get: () => window.away });
"""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("eyes")) as made:
        made.write("callouts.md", CALLOUTS)
        made.write("trees/arabic.md", ARABIC)
        made.write("code.md", CODE)
        made.write("empty.md", "")
        made.write("long.md", LONG)
        made.write("tagged.md", f"---\ntags: [{'-'.join(['keep'] * 14)}, b, c]\n---\nOf many tags.\n")
        made.write("wal.md", "# WAL\n\nReaders never wait for a tamarisk.\n")
        made.daemon()
        yield made


def move(page: Page, place: str) -> None:
    """Somewhere else in the page as it is loaded."""
    page.evaluate("place => { location.hash = place; }", place)


def box(page: Page, selector: str) -> Any:
    return page.locator(selector).first.evaluate("one => one.getBoundingClientRect().toJSON()")


def text_box(page: Page, selector: str, start: int, end: int) -> Any:
    """Where some characters of a text stand."""
    return page.locator(selector).first.evaluate(
        """(one, [start, end]) => {
            const walker = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
            const range = document.createRange();
            const node = walker.nextNode();
            range.setStart(node, start < 0 ? node.length + start : start);
            range.setEnd(node, end < 0 ? node.length + end : end);
            return range.getBoundingClientRect().toJSON();
        }""",
        [start, end],
    )


def test_what_a_callout_says_stands_below_its_title(reader: Reader) -> None:
    page = reader.open("#/doc/vault/callouts.md")
    callouts = page.locator(".callout")
    expect(callouts).to_have_count(4)
    for one in callouts.all():
        above, below = (one.get_by_text(said).bounding_box() for said in ("Above", "Below"))
        assert above
        assert below
        assert above["y"] + above["height"] <= below["y"]


def test_what_is_written_from_the_right_stands_right_and_code_of_it_left(reader: Reader) -> None:
    page = reader.open("#/doc/vault/trees/arabic.md")
    page.wait_for_selector(".prose pre")
    assert text_box(page, ".doc h1", -2, 10)["left"] < text_box(page, ".doc h1", 0, 3)["left"]
    quote = box(page, ".prose blockquote")
    assert quote["right"] - text_box(page, ".prose blockquote", 0, 5)["right"] < 40
    code, foot = text_box(page, ".prose pre", 0, 14), box(page, ".code-foot")
    assert code["left"] < code["right"] <= foot["left"]
    english = page.get_by_text("This paragraph is English").bounding_box()
    assert english
    assert text_box(page, ".prose > p:last-child", 0, 4)["left"] - english["x"] < 5


def test_the_end_of_a_line_of_code_can_be_moved_out_from_below_the_button(reader: Reader) -> None:
    page = reader.open("#/doc/vault/code.md", size=PHONE)
    page.wait_for_selector(".prose pre")
    page.locator(".prose pre").evaluate("one => { one.scrollLeft = one.scrollWidth; }")
    assert text_box(page, ".prose pre", -4, -1)["right"] <= box(page, ".code-foot")["left"]


def test_a_hit_that_fills_the_screen_is_read_from_its_beginning(reader: Reader) -> None:
    page = reader.open("#/doc/vault/long.md?lines=5-5", size=PHONE)
    expect(page.locator(".prose .hit")).to_be_in_viewport()
    expect(page.locator(".prose .hit")).to_have_text(re.compile("^Begins"))
    until(lambda: page.evaluate("scrollY") > 0)
    assert 0 <= text_box(page, ".prose .hit", 0, 6)["top"] < PHONE["height"] / 2


def test_a_long_tag_pushes_no_filter_out_of_the_screen(reader: Reader) -> None:
    page = reader.open(size=PHONE)
    page.click("#filters")
    chips = page.locator(".filter-more .chip")
    expect(chips.filter(has_text="#keep")).to_be_visible()
    rights = chips.evaluate_all("all => all.map((one) => one.getBoundingClientRect().right)")
    assert max(rights) <= PHONE["width"]


def test_a_tab_has_the_name_of_its_document(reader: Reader) -> None:
    page = reader.open("#/doc/vault/wal.md")
    expect(page).to_have_title("WAL · vault-index")
    move(page, "#/doc/vault/empty.md")
    expect(page).to_have_title("empty · vault-index")
    move(page, "#/health")
    expect(page).to_have_title("Health · vault-index")


def test_a_note_without_text_says_so(reader: Reader) -> None:
    expect(reader.open("#/doc/vault/empty.md").locator("article")).to_have_text("There is no text in it.")


def test_what_is_refused_for_good_is_not_to_be_tried_again_and_a_path_stays_one(reader: Reader) -> None:
    page = reader.open("#/history/vault/trees/arabic.md")
    refused = page.get_by_role("alert")
    expect(refused).to_contain_text("trees/arabic.md is no memory")
    expect(refused.get_by_role("button")).to_have_count(0)


def test_paper_is_white_and_has_nothing_to_press(reader: Reader) -> None:
    page = reader.open("#/doc/vault/code.md", scheme="dark")
    page.get_by_role("button", name="Theme: system").click()
    page.get_by_role("button", name="Theme: light").click()
    page.wait_for_selector(".prose pre")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(251, 250, 247)"
    assert [one.inner_text() for one in page.get_by_role("button").all() if one.is_visible()] == []


def test_a_view_that_is_long_in_coming_says_that_it_comes(reader: Reader) -> None:
    page = reader.open()
    held: list[Any] = []
    page.route("**/views/health.js", lambda route: held.append(route))
    move(page, "#/health")
    expect(page.locator("main").get_by_role("status")).to_have_text("Loading…")
    until(lambda: page.evaluate("true") and held)  # what the browser asks comes while it is spoken to
    held[0].continue_()
    expect(page.get_by_role("heading", name="Health")).to_be_visible()


def test_more_tabs_than_a_browser_has_connections_all_answer(reader: Reader) -> None:
    first = reader.open()
    context = first.context
    context.add_init_script(IN_FRONT)
    tabs = [context.new_page() for _ in range(TABS)]
    for page in tabs:
        page.goto(f"{reader.origin}/#/search?q=tamarisk")
        shown(page, "tamarisk", "refined")
        turn(page, away=True)
    reader.here.write("later.md", "# Later\n\nA second tamarisk.\n")
    # It was away, and hears of what it missed as soon as it is seen again.
    turn(tabs[0], away=False)
    move(tabs[0], "#/doc/vault/later.md")
    expect(tabs[0].get_by_role("heading", name="Later")).to_be_visible()


def turn(page: Page, *, away: bool) -> None:
    page.evaluate("away => { window.away = away; document.dispatchEvent(new Event('visibilitychange')); }", away)


def test_what_a_server_left_unanswered_is_there_once_it_is_back(browser: Any, tmp_path: Path) -> None:
    with place(tmp_path) as here:
        here.write("wal.md", "# WAL\n\nReaders never wait for a tamarisk.\n")
        here.daemon()
        served = here.serve()
        reader = Reader(browser, here, served)
        search = reader.open()
        other = search.context.new_page()
        other.goto(f"{reader.origin}/#/")
        other.wait_for_selector(".changed")
        served.process.terminate()
        served.process.wait()
        search.fill("#search", "tamarisk")
        move(other, "#/doc/vault/wal.md")
        for page in (search, other):
            expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
            expect(page.get_by_role("alert").get_by_role("button", name="Try again")).to_be_visible()
        again = here.process("serve", "--listen", f"127.0.0.1:{served.port}")
        again.port()
        expect(search.locator(".hit")).to_have_count(1)
        expect(other.get_by_role("heading", name="WAL")).to_be_visible()
        for page in (search, other):
            expect(page.get_by_role("alert")).to_have_count(0)
        reader.close()
