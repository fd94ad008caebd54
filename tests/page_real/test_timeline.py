"""What was written around a document: further back and on, and only what is of one kind or project."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page_real.browser import DESKTOP, PHONE, Reader, axe
from tests.page_real.desk import memory
from tests.serve.servers import Place, place

AT = "#/timeline?ref=notes/heron-15.md"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("timeline")) as made:
        for number in range(30):
            project = ("pond", "lake")[number % 2]
            made.write(
                f"notes/heron-{number:02}.md",
                f"---\ncreated: 2026-10-{1 + number // 2:02}T1{number % 2}:30:00Z\nproject: {project}\n---\n"
                f"# Heron {number}\n\nIt stood in the reeds of the long northern shore.\n",
            )
        made.write("80-memory/note/crane.md", memory(1, "Cranes pass.", title="Crane", created="2026-10-08T20:00:00Z"))
        made.daemon()
        yield made


def opened(reader: Reader, place: str = AT, **options: Any) -> Page:
    page = reader.open(place, **options)
    page.wait_for_selector(".line-one.anchor")
    return page


def titles(page: Page) -> list[str]:
    return list(page.locator(".line-title").all_inner_texts())


def test_it_is_around_the_document_and_goes_further_both_ways(reader: Reader) -> None:
    page = opened(reader)
    around = [
        *(f"Heron {number}" for number in range(7, 16)),
        "Crane",
        *(f"Heron {number}" for number in range(16, 23)),
    ]
    assert titles(page) == around
    anchor = page.locator(".line-one.anchor")
    assert anchor.locator("a").get_attribute("aria-current") == "true"
    expect(anchor).to_be_in_viewport()
    assert page.locator(".line-day").all_inner_texts()[:2] == ["Oct 4, 2026", "Oct 5, 2026"]

    def top() -> float:
        return float(anchor.evaluate("one => one.getBoundingClientRect().top"))

    before = top()
    page.keyboard.press("[")
    expect(page.locator(".line-one")).to_have_count(24)
    assert abs(top() - before) <= 2  # what is looked at stays where it is
    assert titles(page)[0] == "Heron 0"
    assert page.get_by_role("button", name="Further back").count() == 0  # that is all there is
    page.get_by_role("button", name="Further on").click()
    expect(page.locator(".line-one")).to_have_count(31)
    assert titles(page)[-1] == "Heron 29"
    page.reload()
    expect(page.locator(".line-one")).to_have_count(31)


def test_one_kind_and_one_project_are_chosen_by_mouse_and_by_keys(reader: Reader) -> None:
    page = opened(reader)
    page.get_by_role("button", name="Memories").click()
    expect(page.locator(".line-title")).to_have_text(["Heron 15", "Crane"])
    page.get_by_role("button", name="All").click()
    page.get_by_role("button", name="Only lake").click()
    expect(page.locator(".line-title").first).to_have_text("Heron 1")
    assert all(int(one.removeprefix("Heron ")) % 2 for one in titles(page))
    page.keyboard.press("p")
    expect(page.locator(".line-title").first).to_have_text("Heron 7")
    for pressed in ("Notes", "Memories", "Sessions"):
        page.keyboard.press("f")
        expect(page.get_by_role("button", name=pressed)).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("Nothing else of this kind was written around it.")).to_be_visible()
    page.keyboard.press("f")
    expect(page.locator(".line-one")).to_have_count(17)
    page.keyboard.press("l")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/#/doc/vault/80-memory/note/crane.md*")
    page.go_back()
    page.wait_for_selector(".line-one.anchor")
    page.keyboard.press("?")
    said = page.locator("dialog").inner_text()
    for what in ("further back", "further on", "only notes, memories or sessions", "only lake"):
        assert what in said


def test_a_new_note_comes_in_by_itself(reader: Reader, here: Place) -> None:
    page = opened(reader, "#/timeline?ref=80-memory/note/crane.md&before=1&after=1")
    expect(page.locator(".line-title")).to_have_text(["Heron 15", "Crane", "Heron 16"])
    new = here.vault / "notes" / "new.md"
    new.write_text("---\ncreated: 2026-10-08T21:00:00Z\n---\n# A new one\n", "utf-8")
    expect(page.locator(".line-title")).to_have_text(["Heron 15", "Crane", "A new one"])
    new.unlink()
    expect(page.locator(".line-title")).to_have_text(["Heron 15", "Crane", "Heron 16"])


def test_what_is_not_there_says_so(reader: Reader) -> None:
    page = reader.open("#/timeline?ref=notes/none.md")
    expect(page.get_by_role("alert")).to_be_visible()


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(reader: Reader, size: Any) -> None:
    page = opened(reader, size=size)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert axe(page) == []
