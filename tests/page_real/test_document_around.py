"""The surroundings of a document: similar documents, other programs, a restored memory, git commits."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.memories.versions import Repository, git
from tests.page_real.browser import Reader, copied, looks, toast
from tests.page_real.desk import memory
from tests.world import World, opened_world

COOT, TERN = "80-memory/note/coot.md", "80-memory/note/tern.md"
OLD, NEW = (memory(1, f"The coot {does}.", title="Coot") for does in ("dives", "dives for weed"))
DELETED = memory(3, "The tern fishes.", title="Tern")
BIRDS = "Wading birds stand in shallow water and spear fish with long bills."


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with opened_world(tmp_path_factory.mktemp("around")) as made:
        settings = made.home.config_file.read_text("utf-8")
        made.home.config_file.write_text(settings.replace('"none"', '"local"'), "utf-8")
        made.write("herons.md", f"# Herons\n\n{BIRDS} See [[cranes]].\n")
        made.write("cranes.md", f"# Cranes\n\n{BIRDS}\n")
        made.write("storks.md", f"# Storks\n\n{BIRDS} Storks nest on roofs.\n")
        made.write("egrets.md", "# Egrets\n\nWhite birds that hunt for fish in ponds.\n")
        made.write("taxes.md", "# Taxes\n\nThe invoice of the accountant is deducted in the yearly declaration.\n")
        repository = Repository(made.vault)
        for text in (OLD, NEW):
            repository.commit("Coot", {COOT: text})
        made.write(TERN, DELETED)
        made.daemon()
        made.ask("sync")
        yield made


def read(reader: Reader, path: str, **options: Any) -> Page:
    page = reader.open(f"#/doc/vault/{path}", **options)
    expect(page.locator(".doc-text [data-line]").first).to_be_attached()
    return page


def near(page: Page) -> Any:
    return page.locator(".doc-around section", has_text="Similar in meaning").get_by_role("listitem")


def test_document_lists_similar_documents_by_nearness_without_links(reader: Reader) -> None:
    page = read(reader, "herons.md")
    expect(near(page).first).to_contain_text("Storks")
    found = near(page).evaluate_all("all => all.map(one => one.innerText.split(/\\s+/))")
    titles = [words[0] for words in found]
    assert "Egrets" in titles
    assert "Cranes" not in titles
    assert titles[-1] == "Taxes" or "Taxes" not in titles
    how_near = [int(words[-2]) for words in found]
    assert how_near == sorted(how_near, reverse=True)
    assert 50 < how_near[0] <= 100
    near(page).first.get_by_role("link").click()
    expect(page.locator("h1")).to_have_text("Storks")
    near(page).get_by_role("link", name="Herons").press("Enter")
    expect(page.locator("h1")).to_have_text("Herons")


def test_document_of_a_deleted_memory_is_restored_at_its_address(reader: Reader) -> None:
    file = reader.world.vault / TERN
    page = read(reader, TERN)
    page.get_by_role("button", name="Delete").click()
    page.wait_for_url("**/#/search")
    assert not file.exists()
    reader.world.ask("sync")
    page.go_back()
    expect(page.locator(".empty-title")).to_have_text("“Tern” was deleted")
    assert looks(page) == []
    page.keyboard.press("h")
    page.wait_for_selector(".diff")
    page.get_by_role("button", name="Restore version").click()
    page.get_by_role("button", name="Restore", exact=True).click()
    expect(toast(page)).to_contain_text("Restored")
    assert file.read_text("utf-8") == DELETED
    page.locator(".page-head a").click()
    expect(page.locator("h1")).to_have_text("Tern")


def test_history_compares_commits_and_restores_one(reader: Reader) -> None:
    file = reader.world.vault / COOT
    newer, older = git(reader.world.vault, "log", "--format=%h", "--abbrev=8", "--", COOT).split()
    page = reader.open(f"#/history/vault/{COOT}")
    commits = page.locator(".version", has_text="Commit")
    expect(commits.locator("b")).to_have_text([f"Commit {newer}", f"Commit {older}"])
    expect(commits.first).to_contain_text("by Ann")
    heading = page.get_by_role("heading", level=2)
    for key in ("l", "End", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    expect(heading).to_have_text(f"What commit {newer} changed")
    expect(page.locator(".diff ins")).to_have_text(["for weed"])
    commits.last.get_by_role("link").click()
    expect(heading).to_have_text(f"What commit {older} said")
    page.get_by_role("button", name="Restore commit").click()
    page.get_by_role("button", name="Restore", exact=True).click()
    expect(toast(page)).to_contain_text(f"Restored commit {older}.")
    assert file.read_text("utf-8") == OLD
    toast(page).get_by_role("button", name="Undo").click()
    expect(toast(page)).to_contain_text("Undone")
    assert file.read_text("utf-8") == NEW


def test_sessions_page_explains_how_to_index_sessions_if_there_are_none(reader: Reader) -> None:
    page = reader.open("#/sessions")
    empty = page.locator(".empty")
    expect(empty).to_contain_text("There are no sessions yet")
    expect(empty).to_contain_text("appear here automatically")
    expect(page.get_by_role("grid")).to_have_count(0)
    expect(page.get_by_role("combobox")).to_have_count(0)
    empty.get_by_role("button", name="Copy").press("Enter")
    expect(toast(page)).to_contain_text("copied")
    assert copied(page).startswith("vault-index ")
    assert looks(page) == []
