"""What is around a document: neighbours in meaning, other programs, the way back of a memory, the commits of git."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.memories.versions import Repository, git
from tests.page_real.browser import PHONE, Reader, looks, visit
from tests.page_real.desk import Desk, memory
from tests.serve.servers import Place, place

COOT = "80-memory/note/coot.md"
OLD, NOW = (memory(1, f"The coot {does}.", title="Coot") for does in ("dives", "dives for weed"))
AWAY = memory(2, "The swift is in Africa.", title="Swift", archived="2026-11-21")
BIRDS = "Wading birds stand in shallow water and spear fish with long bills."


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("around")) as made:
        settings = made.home.config_file.read_text("utf-8")
        made.home.config_file.write_text(settings.replace('"none"', '"local"'), "utf-8")
        made.write("herons.md", f"# Herons\n\n{BIRDS} See [[cranes]].\n")
        made.write("cranes.md", f"# Cranes\n\n{BIRDS}\n")
        made.write("storks.md", f"# Storks\n\n{BIRDS} Storks nest on roofs.\n")
        made.write("egrets.md", "# Egrets\n\nWhite birds that hunt for fish in ponds.\n")
        made.write("taxes.md", "# Taxes\n\nThe invoice of the accountant is deducted in the yearly declaration.\n")
        repository = Repository(made.vault)
        for text in (OLD, NOW):
            repository.commit("Coot", {COOT: text})
        made.write("80-memory/note/swift.md", AWAY)
        made.daemon()
        yield made


@pytest.fixture(scope="module")
def desk(here: Place, module_reader: Reader) -> Desk:
    made = Desk(here, module_reader.served)
    made.sync()
    return made


def read(reader: Reader, path: str, **options: Any) -> Page:
    page = reader.open(f"#/doc/vault/{path}", **options)
    page.wait_for_selector(".doc-text [data-line]")
    return page


def near(page: Page) -> Any:
    return page.locator(".doc-around section", has_text="Near in meaning").get_by_role("listitem")


# --- neighbours ---------------------------------------------------------------------------------------------------


def test_neighbours_in_meaning_are_listed_the_nearest_first_and_lead_on(reader: Reader, desk: Desk) -> None:
    page = read(reader, "herons.md")
    expect(near(page).first).to_contain_text("Storks")  # what it links to is not told of twice
    titles = near(page).get_by_role("link").all_inner_texts()
    assert "Cranes" not in titles
    assert titles.index("Egrets") < titles.index("Taxes") if "Taxes" in titles else "Egrets" in titles
    how_near = [int(one.split()[-2]) for one in near(page).all_inner_texts()]
    assert how_near == sorted(how_near, reverse=True)
    assert 50 < how_near[0] <= 100
    near(page).first.get_by_role("link").click()
    expect(page.locator("h1")).to_have_text("Storks")
    expect(near(page).get_by_role("link", name="Herons")).to_be_visible()
    near(page).get_by_role("link", name="Herons").press("Enter")
    expect(page.locator("h1")).to_have_text("Herons")


def test_neighbours_stand_below_the_text_on_a_phone(reader: Reader, desk: Desk) -> None:
    page = read(reader, "herons.md", size=PHONE)
    first = near(page).first
    first.scroll_into_view_if_needed()
    text, place_of = page.locator(".doc-text").bounding_box(), first.bounding_box()
    assert text
    assert place_of
    assert place_of["y"] >= text["y"] + text["height"]


# --- other programs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["mouse", "key"])
def test_it_is_handed_to_obsidian_and_to_the_editor(reader: Reader, desk: Desk, by: str) -> None:
    obsidian = "obsidian://open?vault=vault&file=80-memory%2Fnote%2Fcoot"
    editor = f"vscode://file{reader.here.vault}/{COOT}:7"
    for name, key, where in (("Obsidian", "o", obsidian), ("Editor", "e", editor)):
        # A page of its own: Chromium asks whether it may, and keeps every further key for its question.
        page = read(reader, f"{COOT}?at=7")
        with page.expect_request(where):
            page.get_by_role("link", name=name).click() if by == "mouse" else page.keyboard.press(key)
        assert reader.faults == [f"asked elsewhere: {where}"]  # this once it is meant
        reader.faults.clear()


@pytest.mark.parametrize("by", ["mouse", "key"])
def test_its_history_is_one_step_away(reader: Reader, desk: Desk, by: str) -> None:
    page = read(reader, COOT)
    page.get_by_role("link", name="History").click() if by == "mouse" else page.keyboard.press("h")
    page.wait_for_url(f"**/#/history/vault/{COOT}")
    page.wait_for_selector(".diff")
    page.locator(".page-head a").click() if by == "mouse" else page.keyboard.press("u")
    expect(page.locator("h1")).to_have_text("Coot")


# --- the way back -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["mouse", "key"])
def test_a_memory_that_was_archived_is_found_and_restored(reader: Reader, desk: Desk, by: str) -> None:
    file = reader.here.vault / "80-memory/note/swift.md"
    file.write_text(AWAY, "utf-8")
    desk.sync()
    page = reader.open("#/search?q=swift is:archived")
    hit = page.locator(".hit h2 a")
    expect(hit).to_have_text("Swift")
    hit.click() if by == "mouse" else hit.press("Enter")
    expect(page.locator(".note.warn")).to_contain_text("It is archived")
    restore = page.get_by_role("button", name="Restore")
    restore.click() if by == "mouse" else restore.press("Enter")
    expect(page.locator(".toast")).to_contain_text("It is archived no longer")
    expect(page.locator(".note.warn")).to_have_count(0)
    assert "archived: " not in file.read_text("utf-8")
    undo = page.locator(".toast").get_by_role("button", name="Undo")
    undo.click() if by == "mouse" else undo.press("Enter")
    expect(page.locator(".note.warn")).to_contain_text("It is archived")
    assert file.read_text("utf-8") == AWAY


@pytest.mark.parametrize("by", ["mouse", "key"])
def test_a_memory_that_was_deleted_is_restored_from_its_address(reader: Reader, desk: Desk, by: str) -> None:
    path = f"80-memory/note/tern-{by}.md"
    file = reader.here.vault / path
    text = memory(3 + (by == "key"), "The tern fishes.", title="Tern")
    reader.here.write(path, text)
    desk.sync()
    page = read(reader, path)
    page.get_by_role("button", name="Delete").click()
    page.wait_for_url("**/#/search")
    assert not file.exists()
    page.go_back()
    expect(page.locator(".empty-title")).to_have_text("“Tern” was deleted")
    if by == "key":
        page.keyboard.press("h")
        page.wait_for_selector(".diff")
        page.keyboard.press("r")
        page.keyboard.press("Enter")
    else:
        page.get_by_role("link", name="History").click()
        page.get_by_role("button", name="Go back to version").click()
        page.get_by_role("button", name="Go back to it").click()
    expect(page.locator(".toast")).to_contain_text("It says again")
    assert file.read_text("utf-8") == text
    page.locator(".page-head a").click()
    expect(page.locator("h1")).to_have_text("Tern")


# --- git ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["mouse", "key"])
def test_commits_are_compared_and_gone_back_to(reader: Reader, desk: Desk, by: str) -> None:
    file: Path = reader.here.vault / COOT
    file.write_text(NOW, "utf-8")
    desk.sync()
    hashes = git(reader.here.vault, "log", "--format=%h", "--abbrev=8", "--", COOT).split()
    page = reader.open(f"#/history/vault/{COOT}")
    commits = page.locator(".version", has_text="Commit")
    expect(commits.locator("b")).to_have_text([f"Commit {one}" for one in hashes])
    expect(commits.first).to_contain_text("by Ann")
    if by == "mouse":
        commits.first.get_by_role("link").click()
    else:
        page.keyboard.press("l")
        page.keyboard.press("End")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=2)).to_have_text(f"What commit {hashes[0]} changed")
    expect(page.locator(".diff ins")).to_have_text(["for weed"])
    if by == "mouse":
        commits.last.get_by_role("link").click()
    else:
        page.keyboard.press("[")
    expect(page.get_by_role("heading", level=2)).to_have_text(f"What commit {hashes[1]} said")
    if by == "mouse":
        page.get_by_role("button", name="Go back to commit").click()
        page.get_by_role("button", name="Go back to it").click()
    else:
        page.keyboard.press("r")
        page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text(f"It says again what it said in commit {hashes[1]}.")
    assert file.read_text("utf-8") == OLD
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".toast")).to_contain_text("Undone")
    assert file.read_text("utf-8") == NOW


# --- no sessions --------------------------------------------------------------------------------------------------


def test_without_any_session_it_says_what_to_do(reader: Reader, desk: Desk) -> None:
    page = reader.open("#/sessions", permissions=["clipboard-read", "clipboard-write"])
    empty = page.locator(".empty")
    expect(empty).to_contain_text("There are no sessions yet")
    expect(empty).to_contain_text("as soon as there are some")
    # Nothing is offered that would choose among none.
    expect(page.get_by_role("grid")).to_have_count(0)
    expect(page.get_by_role("combobox")).to_have_count(0)
    said, copied = (float(one.evaluate("one => one.clientWidth")) for one in empty.locator("svg").all())
    assert said > copied  # the mark of a button is as small as elsewhere
    empty.get_by_role("button", name="Copy").press("Enter")
    assert page.evaluate("navigator.clipboard.readText()").startswith("vault-index ")


# --- how it looks -------------------------------------------------------------------------------------------------


def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(reader: Reader, desk: Desk) -> None:
    gone = "80-memory/note/gone.md"
    reader.here.write(gone, memory(5, "The dodo is gone.", title="Dodo"))
    desk.sync()
    (reader.here.vault / gone).unlink()
    desk.sync()
    page = reader.open()
    for at, drawn in (
        ("doc/vault/herons.md", ".doc-around li"),
        (f"doc/vault/{gone}", ".empty"),
        (f"history/vault/{COOT}", ".diff"),
        ("sessions", ".empty"),
    ):
        visit(page, f"#/{at}")
        page.wait_for_selector(drawn)
        assert looks(page) == [], at
