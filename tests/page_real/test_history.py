"""The versions of a memory: compared, restored, and the restoration undone without losing later edits."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page_real.browser import PHONE, Reader, toast
from tests.page_real.desk import Desk, memory

PATH = "80-memory/note/port.md"
SAME = "".join(f"\nPoint {number} stays.\n" for number in range(9))
ODD = "-- two\n++ two of them\n@@ -1 +1 @@\n--- a\n+++ b\n\n\n"
"""Lines that look like those of a diff."""
FIRST = memory(1, f"It listens on port 3000.\n{SAME}\n{ODD}Restart it by hand.", title="Port")
SECOND = FIRST.replace("port 3000", "port 8080")
THIRD = SECOND.replace("by hand", "by its own key").replace("++ two", "++ three")
NOTES = {"wal.md": "# WAL\n"}


@pytest.fixture
def file(desk: Desk) -> Path:
    """The memory in its three versions, the newest last."""
    made = desk.world.vault / PATH
    made.unlink(missing_ok=True)
    desk.world.ask("sync")
    for text in (FIRST, SECOND, THIRD):
        desk.world.write(PATH, text)
        desk.world.ask("sync")
    return made


def newest(desk: Desk) -> int:
    return int(desk.ask("history", ref=PATH)["results"][0]["number"])


def opened(reader: Reader, **options: Any) -> Page:
    page = reader.open(f"#/history/vault/{PATH}", **options)
    page.wait_for_selector(".diff, .diff-same")
    return page


def has_heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=2)).to_have_text(text)


def go_back(page: Page) -> None:
    """Restore the chosen version by mouse."""
    page.get_by_role("button", name="Restore version").click()
    page.get_by_role("button", name="Restore", exact=True).click()
    expect(toast(page)).to_contain_text("Restored")


def test_history_compares_any_two_versions(reader: Reader, desk: Desk, file: Path) -> None:
    last = newest(desk)
    page = opened(reader)
    has_heading(page, f"What version {last} changed")
    expect(page.locator(".diff del")).to_have_text(["two", "hand"])
    expect(page.locator(".diff ins")).to_have_text(["three", "its own key"])
    page.get_by_label(f"From version {last - 2}").check()
    has_heading(page, f"From version {last - 2} to version {last}")
    expect(page.locator(".diff ins").first).to_have_text("8080")
    expect(page.locator(".diff-head b")).to_have_text([f"Version {last - 2}", f"Version {last}"])
    folds = page.locator(".diff-fold button")
    for left in reversed(range(folds.count())):
        folds.first.click()
        expect(folds).to_have_count(left)
    for side, text in (("old", FIRST), ("new", THIRD)):
        lines = page.locator(f".diff-row:not(.diff-head) .{side}:not(.blank) .line").all_text_contents()
        said = [line.removeprefix("removed: ").removeprefix("added: ") for line in lines]
        assert "\n".join(said) + "\n" == text
    page.get_by_label(f"From version {last}").check()
    expect(page.locator(".diff-same")).to_have_text("The texts are identical.")
    page.locator(".version a").nth(1).click()
    expect(page.locator(".diff ins")).to_have_text(["8080"])


def test_history_works_by_keys(reader: Reader, desk: Desk, file: Path) -> None:
    last = newest(desk)
    page = opened(reader, size=PHONE)
    page.keyboard.press("[")
    expect(page.locator(".diff ins")).to_have_text(["8080"])
    page.keyboard.press("]")
    expect(page.locator(".diff ins")).to_have_text(["three", "its own key"])
    for key in ("l", "j", "ArrowDown", "b"):
        page.keyboard.press(key)
    has_heading(page, f"From version {last - 2} to version {last}")
    page.keyboard.press("k")
    page.keyboard.press("a")
    has_heading(page, f"What version {last - 1} changed")
    page.keyboard.press("r")
    expect(page.locator("dialog h2")).to_have_text(f"Restore version {last - 1}?")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    assert file.read_text("utf-8") == THIRD
    page.keyboard.press("r")
    page.keyboard.press("Enter")
    expect(toast(page)).to_contain_text(f"Restored version {last - 1}.")
    assert file.read_text("utf-8") == SECOND
    expect(page.locator(".version").first).to_contain_text(f"Version {last + 1}", ignore_case=True)
    page.keyboard.press("z")
    expect(toast(page)).to_contain_text("Undone")
    assert file.read_text("utf-8") == THIRD
    page.keyboard.press("?")
    expect(page.locator("dialog")).to_contain_text("compare to the focused version")
    expect(page.locator("dialog")).not_to_contain_text("undo the last restore")  # it is undone


def test_history_undo_keeps_later_edits(reader: Reader, desk: Desk, file: Path) -> None:
    page = opened(reader)
    page.get_by_role("button", name="Restore version").click()
    page.get_by_role("button", name="Cancel").click()
    assert file.read_text("utf-8") == THIRD
    go_back(page)
    assert file.read_text("utf-8") == SECOND
    theirs = SECOND + "Somebody wrote this.\n"
    desk.world.write(PATH, theirs)
    toast(page).get_by_role("button", name="Undo").click()
    expect(toast(page)).to_contain_text("The file has changed since; nothing was undone.")
    assert file.read_text("utf-8") == theirs
    expect(page.locator(".version-now").locator("..")).to_contain_text("edited")
    go_back(page)
    toast(page).get_by_role("button", name="Undo").click()
    expect(toast(page)).to_contain_text("Undone")
    assert file.read_text("utf-8") == theirs
