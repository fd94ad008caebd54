"""The versions of a memory in the page: compared, gone back to, and that undone without touching what others wrote."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page_real.browser import DESKTOP, PHONE, Reader, axe
from tests.page_real.desk import Desk, memory
from tests.serve.servers import Place, place

PATH = "80-memory/note/port.md"
AT = f"#/history/vault/{PATH}"
SAME = "".join(f"\nPoint {number} stays.\n" for number in range(9))
# Lines that a diff begins its own with.
ODD = "-- two\n++ two of them\n@@ -1 +1 @@\n--- a\n+++ b\n\n\n"
FIRST = memory(1, f"It listens on port 3000.\n{SAME}\n{ODD}Restart it by hand.", title="Port")
SECOND = FIRST.replace("port 3000", "port 8080")
THIRD = SECOND.replace("by hand", "by its own key").replace("++ two", "++ three")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("history")) as made:
        made.daemon()
        yield made


@pytest.fixture(scope="module")
def desk(here: Place, module_reader: Reader) -> Desk:
    return Desk(here, module_reader.served)


@pytest.fixture
def file(desk: Desk) -> Path:
    """The memory with its three versions, and none that another test made."""
    return laid(desk)


def laid(desk: Desk) -> Path:
    made = desk.here.vault / PATH
    for number, text in enumerate(("", FIRST, SECOND, THIRD)):
        if number:
            desk.here.write(PATH, text)
        else:
            made.unlink(missing_ok=True)
        desk.sync()
    return made


def newest(desk: Desk) -> int:
    return int(desk.ask("history", ref=PATH)["results"][0]["number"])


def opened(reader: Reader, more: str = "", **options: Any) -> Page:
    page = reader.open(AT + more, **options)
    page.wait_for_selector(".diff, .diff-same")
    return page


def toast(page: Page) -> Any:
    return page.locator(".toast")


def test_any_two_versions_are_compared_by_mouse(reader: Reader, desk: Desk, file: Path) -> None:
    last = newest(desk)
    page = opened(reader)
    expect(page.get_by_role("heading", level=2)).to_have_text(f"What version {last} changed")
    assert page.locator(".diff del").all_inner_texts() == ["two", "hand"]
    assert page.locator(".diff ins").all_inner_texts() == ["three", "its own key"]
    page.get_by_label(f"From version {last - 2}").check()
    expect(page.get_by_role("heading", level=2)).to_have_text(f"From version {last - 2} to version {last}")
    expect(page.locator(".diff ins").first).to_have_text("8080")
    assert page.locator(".diff-head b").all_inner_texts() == [f"Version {last - 2}", f"Version {last}"]
    page.reload()  # it is all in the address
    expect(page.locator(".diff ins").first).to_have_text("8080")
    while page.locator(".diff-fold").count():
        page.locator(".diff-fold button").first.click()
    for side, text in (("old", FIRST), ("new", THIRD)):
        lines = page.locator(f".diff-row:not(.diff-head) .{side}:not(.blank) .line")
        said = [one.removeprefix("removed: ").removeprefix("added: ") for one in lines.all_text_contents()]
        assert "\n".join(said) + "\n" == text
    page.get_by_label(f"From version {last}").check()
    expect(page.locator(".diff-same")).to_have_text("Both say the same.")
    page.locator(".version a").nth(1).click()
    expect(page.locator(".diff ins")).to_have_text(["8080"])


def test_all_of_it_goes_by_keys_alone(reader: Reader, desk: Desk, file: Path) -> None:
    last = newest(desk)
    page = opened(reader, size=PHONE)
    page.keyboard.press("[")
    expect(page.locator(".diff ins")).to_have_text(["8080"])
    page.keyboard.press("]")
    expect(page.locator(".diff ins")).to_have_text(["three", "its own key"])
    page.keyboard.press("l")
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("b")
    expect(page.get_by_role("heading", level=2)).to_have_text(f"From version {last - 2} to version {last}")
    page.keyboard.press("k")
    page.keyboard.press("a")
    expect(page.get_by_role("heading", level=2)).to_have_text(f"What version {last - 1} changed")
    page.keyboard.press("r")
    expect(page.locator("dialog h2")).to_have_text(f"Go back to version {last - 1}?")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    assert file.read_text("utf-8") == THIRD
    page.keyboard.press("r")
    page.keyboard.press("Enter")
    expect(toast(page)).to_contain_text(f"It says again what it said in version {last - 1}.")
    assert file.read_text("utf-8") == SECOND
    expect(page.locator(".version").first).to_contain_text(f"Version {last + 1}", ignore_case=True)
    page.keyboard.press("z")
    expect(toast(page)).to_contain_text("Undone")
    assert file.read_text("utf-8") == THIRD
    page.keyboard.press("?")
    assert "undo going back" not in page.locator("dialog").inner_text()  # there is nothing left to undo
    assert "compare up to it" in page.locator("dialog").inner_text()


def test_undo_leaves_alone_what_was_written_since(reader: Reader, desk: Desk, file: Path) -> None:
    page = opened(reader)
    page.get_by_role("button", name="Go back to version").click()
    page.get_by_role("button", name="Cancel").click()
    assert file.read_text("utf-8") == THIRD
    page.get_by_role("button", name="Go back to version").click()
    page.get_by_role("button", name="Go back to it").click()
    expect(toast(page)).to_contain_text("It says again")
    assert file.read_text("utf-8") == SECOND
    theirs = SECOND + "Somebody wrote this.\n"
    desk.here.write(PATH, theirs)
    toast(page).get_by_role("button", name="Undo").click()
    expect(toast(page)).to_contain_text("It was changed since, and nothing was undone.")
    assert file.read_text("utf-8") == theirs
    # The list knows of it, though nobody asked for it.
    expect(page.locator(".version-now").locator("..")).to_contain_text("edited")
    page.get_by_role("button", name="Go back to version").click()
    page.get_by_role("button", name="Go back to it").click()
    expect(toast(page)).to_contain_text("It says again")
    toast(page).get_by_role("button", name="Undo").click()
    expect(toast(page)).to_contain_text("Undone")
    assert file.read_text("utf-8") == theirs


def test_one_that_was_deleted_comes_back_and_goes_again(reader: Reader, desk: Desk, file: Path) -> None:
    file.unlink()
    desk.sync()
    page = opened(reader)
    assert page.locator(".page-head a").count() == 0  # there is no document to go to
    assert page.locator(".diff .new:not(.blank) .line").count() == 0
    page.keyboard.press("r")
    page.keyboard.press("Enter")
    expect(toast(page)).to_contain_text("It says again")
    assert file.read_text("utf-8") == THIRD
    toast(page).get_by_role("button", name="Undo").click()
    expect(toast(page)).to_contain_text("Undone")
    assert not file.exists()


def test_no_change_of_a_pause_is_lost(reader: Reader, file: Path) -> None:
    page = opened(reader)
    tell = """changes => dispatchEvent(new CustomEvent("vault-index:changed", {
        detail: { event: "changes", data: { changes } } }))"""
    with page.expect_request("**/api/history"):
        for path in ("other.md", PATH, "another.md"):
            page.evaluate(tell, [{"source": "vault", "path": path, "change": "changed"}])


def test_what_has_no_versions_says_so(reader: Reader, desk: Desk) -> None:
    desk.here.write("wal.md", "# WAL\n")
    desk.sync()
    page = reader.open("#/history/vault/wal.md")
    expect(page.get_by_role("alert")).to_contain_text("no memory")


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(reader: Reader, file: Path, size: Any) -> None:
    page = opened(reader, size=size)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert axe(page) == []
    page.keyboard.press("r")
    page.wait_for_selector("dialog")
    assert axe(page) == []
