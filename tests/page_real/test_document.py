"""Reading a document: its text, what is around it, and what is done with it."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.page_real.browser import DESKTOP, PHONE, Reader, axe, shown
from tests.page_real.desk import memory
from tests.serve.servers import Place, place

NOTE = """---
tags: [birds]
---
# Herons

See [[cranes]], [the pond](pond/pond.md#water) and [[nowhere]].
A second line of it.

This paragraph was filled by an editor, which broke its line here, at
the width of its window.

### Skipped

> [!warning] Mind the nest
> They leave it.

> [!tip]+
> Come early.

> [!quote]
> Said once.

| | Count |
|---|---:|
| reeds | 12 |

- [x] seen
- [ ] ringed

```python
nests = 3
```

$$
a^2
$$

![[pond]]

# Another

#

Text at the end.
"""
CHANGING = "# Changing\n\n" + "A line of it.\n\n" * 60 + "## End\n\nIt says one.\n"
KEPT = "80-memory/note"


def chapter_of(number: int) -> str:
    return f"## Chapter {number}\n\n" + "\n\n".join(f"Line {number}.{at} {'of a long note ' * 12}" for at in range(8))


LONG = "# Long\n\n" + "\n\n".join(map(chapter_of, range(60))) + "\n\nThe very last line.\n"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("document")) as made:
        made.write("birds/herons.md", NOTE)
        made.write("birds/cranes.md", "# Cranes\n\nThey pass over [[herons]] in October.\n")
        made.write("birds/pond/pond.md", "# Pond\n\nWide.\n\n## Water\n\nDeep.\n")
        made.write("long.md", LONG)
        made.write("changing.md", CHANGING)
        for number, name in enumerate(("egret", "stork"), start=1):
            made.write(f"{KEPT}/{name}.md", memory(number, f"The {name} stands in the water.", title=name.capitalize()))
        made.daemon()
        yield made


@pytest.fixture
def page(reader: Reader) -> Page:
    return reader.open()


def read(reader: Reader, page: Page, path: str, **params: str) -> None:
    query = "&".join(f"{key}={value}" for key, value in params.items())
    page.goto(f"{reader.origin}/#/doc/{path}{query and f'?{query}'}")
    expect(page.locator(".doc-text [data-line]").first).to_be_attached()


def is_at(page: Page, title: str, path: str) -> None:
    expect(page.locator("h1")).to_have_text(title)
    page.wait_for_url(f"**/#/doc/vault/{path}*")


def test_a_note_is_drawn_as_it_was_written(reader: Reader, page: Page) -> None:
    read(reader, page, "vault/birds/herons.md")
    text = page.locator(".doc-text")
    assert page.locator("h1").all_inner_texts() == ["Herons"]
    assert [one.evaluate("it => it.tagName") for one in text.locator("[id^=h-]:not(p)").all()] == ["H2", "H2"]
    lines = "it => getComputedStyle(it).whiteSpace"
    assert text.locator("p").nth(0).evaluate(lines) == "pre-line"
    assert text.locator("p").nth(1).evaluate(lines) == "normal"
    titles = text.locator(".callout-title")
    assert titles.all_inner_texts() == ["Mind the nest", "Tip", "Quote"]
    assert len({one.evaluate("it => getComputedStyle(it).color") for one in titles.all()}) == 3
    assert [box.is_checked() for box in text.get_by_role("checkbox").all()] == [True, False]
    assert "mono" in text.locator(".math").evaluate("it => getComputedStyle(it).fontFamily").lower()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the code").click()
    expect(page.locator(".toast")).to_contain_text("The code is copied")
    assert page.evaluate("navigator.clipboard.readText()") == "nests = 3"
    page.get_by_role("button", name="Source").click()
    assert "tags: [birds]" in page.locator(".doc-raw").inner_text()


def test_it_leads_to_what_is_around_it(reader: Reader, page: Page) -> None:
    read(reader, page, "vault/birds/herons.md")
    assert page.locator(".doc-crumbs").inner_text().split() == ["vault", "›", "birds"]
    assert page.locator(".doc-tags a").get_attribute("href") == "#/search?q=tag%3Abirds"
    around = page.locator(".doc-around")
    expect(around.locator("section", has_text="Linked from").get_by_role("link")).to_have_text("Cranes")
    expect(around.locator("section", has_text="Links to").get_by_role("link")).to_have_text("Pond")
    editor = page.get_by_role("link", name="Editor").get_attribute("href") or ""
    assert editor == f"vscode://file{reader.here.vault}/birds/herons.md:1"
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


def test_who_goes_back_before_a_link_is_answered_stays_there(reader: Reader, page: Page) -> None:
    held: list[Route] = []
    read(reader, page, "vault/birds/herons.md")
    page.route("**/page/read", lambda route: route.continue_() if held else held.append(route))
    with page.expect_request("**/page/read"):
        page.locator(".doc-text a", has_text="cranes").click()
    page.go_back()
    is_at(page, "Herons", "birds/herons.md")
    held[0].fulfill(response=held[0].fetch())
    # What is asked after it is answered after it.
    page.evaluate("fetch('/page/main.js').then(() => new Promise(requestAnimationFrame))")
    is_at(page, "Herons", "birds/herons.md")


def test_a_hit_far_down_is_shown_with_what_stands_around_it(reader: Reader, page: Page) -> None:
    line = LONG[: LONG.index("Line 30.4")].count("\n") + 1
    read(reader, page, "vault/long.md", lines=f"{line}-{line}")
    hit = page.locator(".doc-text .hit")
    expect(hit).to_be_in_viewport()
    assert hit.inner_text().startswith("Line 30.4")
    # It reads as before: what a hit of the search looks like is something else.
    assert hit.evaluate("it => getComputedStyle(it).display") == "block"
    expect(page.locator(".doc-outline [aria-current]")).to_have_text("Chapter 30")
    first = page.locator(".doc-text [data-line]").first.inner_text()
    page.get_by_role("button", name="Earlier").click()
    expect(page.get_by_text("Line 0.0")).to_be_attached()
    expect(page.get_by_text(first)).to_be_in_viewport()


def test_what_comes_is_read_by_itself_and_the_outline_leads_anywhere(reader: Reader, page: Page) -> None:
    read(reader, page, "vault/long.md")
    assert page.get_by_text("The very last line.").count() == 0
    page.get_by_role("button", name="Read on").scroll_into_view_if_needed()
    expect(page.get_by_text("The very last line.")).to_be_attached()
    outline = page.locator(".doc-outline")
    outline.get_by_role("link", name="Chapter 59").click()
    expect(page.locator("#h-chapter-59")).to_be_in_viewport()
    for key, chapter in (("p", 58), ("p", 57), ("n", 58)):
        page.keyboard.press(key)
        expect(outline.locator("[aria-current]")).to_have_text(f"Chapter {chapter}")


def test_the_hits_of_a_search_are_gone_through(reader: Reader, page: Page) -> None:
    page.goto(f"{reader.origin}/#/search?q=water")
    shown(page, "water", "refined")
    links = [one.get_attribute("href") or "" for one in page.locator(".hits h2 a").all()]
    assert len(links) > 2
    page.locator(".hits h2 a").first.click()
    hits = page.locator(".doc-hits")
    expect(hits).to_have_text(f"hit 1 of {len(links)}")
    for key, at in (("]", 1), ("]", 2), ("[", 1)):
        page.keyboard.press(key)
        expect(hits).to_have_text(f"hit {at + 1} of {len(links)}")
        assert page.url.endswith(links[at])
    page.get_by_role("button", name="Previous hit").click()
    expect(hits).to_have_text(f"hit 1 of {len(links)}")
    page.keyboard.press("u")
    page.wait_for_url("**/#/search?q=water*")


def test_what_changes_on_disk_is_shown_and_said(reader: Reader, page: Page) -> None:
    here = reader.here
    read(reader, page, "vault/changing.md")
    page.get_by_text("It says one.").scroll_into_view_if_needed()
    file = here.vault / "changing.md"
    here.write("changing.md", file.read_text("utf-8").replace("says one", "says two"))
    expect(page.get_by_text("It says two.")).to_be_in_viewport()
    expect(page.locator(".toast")).to_contain_text("changed on disk")
    file.unlink()
    expect(page.locator(".note.warn")).to_contain_text("gone from its place")
    assert page.get_by_text("It says two.").count() == 1


def test_a_memory_is_archived_and_deleted_and_that_very_change_undone(reader: Reader, page: Page) -> None:
    egret, stork = (reader.here.vault / f"{KEPT}/{name}.md" for name in ("egret", "stork"))
    before = egret.read_bytes()
    read(reader, page, f"vault/{KEPT}/egret.md")
    assert page.get_by_role("link", name="History").get_attribute("href") == f"#/history/vault/{KEPT}/egret.md"
    page.get_by_role("button", name="Archive").click()
    expect(page.locator(".note.warn")).to_contain_text("It is archived")
    assert b"archived: " in egret.read_bytes()
    # Somebody else does something meanwhile, which is not what is undone.
    token = reader.here.token("other", writes=True)
    assert reader.served.call("archive", token, ref=f"{KEPT}/stork.md").status == 200
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".toast")).to_contain_text("back as it was")
    assert egret.read_bytes() == before
    assert b"archived: " in stork.read_bytes()
    expect(page.locator(".note.warn")).to_have_count(0)
    page.get_by_role("button", name="Delete").click()
    page.wait_for_url("**/#/search")
    assert not egret.exists()
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".toast")).to_contain_text("back as it was")
    assert egret.read_bytes() == before


def test_everything_has_its_key(reader: Reader, page: Page) -> None:
    read(reader, page, "vault/birds/herons.md")
    page.keyboard.press("?")
    keys = page.locator("dialog").inner_text()
    assert all(what in keys for what in ("next heading", "open in the editor", "timeline", "go back"))
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    expect(page.locator(".doc-raw")).to_be_visible()
    page.keyboard.press("m")
    expect(page.locator(".doc-raw")).to_have_count(0)
    page.keyboard.press("t")
    page.wait_for_url("**/#/timeline?*")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(reader: Reader, scheme: str, size: Any) -> None:
    page = reader.open(scheme=scheme, size=size)
    for path in ("birds/herons.md", f"{KEPT}/stork.md"):
        read(reader, page, f"vault/{path}", lines="6-7")
        expect(page.locator(".doc-around")).to_be_attached()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert axe(page) == []
