"""Review: decisions by keys and by mouse, undo, conflicts, and the comparison of two texts."""

import random
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page_real.browser import toast, visit
from tests.page_real.desk import KEYS, Desk, add_text, decide, item, memory, ready, start, text_is_drawn, wait_for_next
from tests.world import World, opened_world

INBOX = {
    "inbox/a": memory(1, "Herons nest in the **reeds**.\n\n- one\n- two", project="pond", title="Herons"),
    "inbox/b": memory(2, "Cranes pass in October.", title="Cranes"),
}
PORT = "The dev server listens on port 3000 now.\n\nIts log goes to the terminal."
PAIR = {
    "note/c": memory(3, PORT, title="Port", created="2026-11-19"),
    "note/d": memory(4, f"{PORT} It restarts when a file changes.", title="Dev server", tags="[dev]"),
}
EXPIRED = {"note/e": memory(5, "The lake is frozen.", title="Lake", expires="2020-01-01")}
SECRET = "ghp_" + "1234567890abcdefghijABCDEFGHIJ123456"
OF = {"accept": INBOX, "edit": INBOX, "archive": EXPIRED, "delete": EXPIRED, "keep": EXPIRED}
"""Memories to try an action on; the others need PAIR."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("review")
    (folder / "codex").mkdir()
    with opened_world(folder, f'[sessions.codex]\nenabled = true\ndata = "{folder / "codex"}"\n') as made:
        made.daemon()
        yield made


def is_at_end(page: Page) -> None:
    expect(page.locator(".review-end")).to_be_visible()


def alert(page: Page) -> Locator:
    """The error next to the item or in the open dialog."""
    return page.locator("article [role=alert], dialog [role=alert]")


def edit(page: Page, text: str) -> Locator:
    """Open the editor, type at the end, and return its field."""
    text_is_drawn(page)
    page.keyboard.press("e")
    add_text(page, text)
    return page.get_by_label("The whole file")


def undone(page: Page) -> None:
    expect(toast(page)).to_contain_text("Undone: ")


def test_review_page_applies_and_undoes_each_action(page: Page, desk: Desk) -> None:
    for action in KEYS:
        files = OF.get(action, PAIR)
        total = len(INBOX) if files is INBOX else 1
        before = desk.put(total, files)
        visit(page, "#/review")
        decide(page, action)
        toast(page).get_by_role("button", name="Undo").wait_for()
        check(action, before, desk.files())
        page.keyboard.press("u")
        undone(page)
        assert desk.files() == before
        assert desk.ask("review", limit=1)["total"] == total
        ready(page)


def check(action: str, before: dict[str, bytes], after: dict[str, bytes]) -> None:
    text = b"\n".join(after.values()).decode()
    match action:
        case "accept":
            assert [path.split("/")[1] for path in sorted(after)] == ["inbox", "note"]
        case "edit":
            assert text.count("A person wrote this.\n") == 1
        case "merge" | "supersede":
            assert "superseded_by: " in text
            assert "supersedes: " in text
        case "archive":
            assert "archived: " in text
        case "delete":
            assert after == {}
        case _:
            assert after == before


def test_review_page_ends_with_a_summary(page: Page, desk: Desk) -> None:
    desk.put(4, INBOX | PAIR | EXPIRED)
    start(page)
    expect(page.locator(".review-memory strong")).to_have_text("reeds")
    for action in ("accept", "delete", "merge", "keep"):
        before = item(page)
        decide(page, action)
        wait_for_next(page, before)
    for text in ("Review finished", "merged", "kept"):
        expect(page.locator(".review-end")).to_contain_text(text)
    page.reload()
    expect(page.locator(".review-end")).to_contain_text("Nothing to review")
    expect(page.locator(".side .count")).to_have_count(0)


def test_review_page_swap_changes_which_memory_stays(page: Page, desk: Desk) -> None:
    desk.put(1, PAIR)
    start(page)
    gone = page.locator(".review-memory", has_text="Stays").locator("h3").inner_text()
    page.keyboard.press("x")
    page.wait_for_selector(f".review-memory:has(.goes) h3:has-text('{gone}')")
    page.keyboard.press("s")
    toast(page).wait_for()
    superseded = [data for data in desk.files().values() if b"superseded_by: " in data]
    assert [data.count(f"title: {gone}\n".encode()) for data in superseded] == [1]


def test_review_page_decides_once_for_a_double_click_or_a_held_key(page: Page, desk: Desk) -> None:
    desk.put(2, INBOX)
    start(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/api/decide" in request.url else None)
    first = item(page)
    page.get_by_role("button", name="Accept").dblclick()
    wait_for_next(page, first)
    ready(page)
    assert len(asked) == 1
    for _ in range(6):
        page.keyboard.down("a")  # as a keyboard repeats it
    is_at_end(page)
    assert len(asked) == 2


def test_review_page_reloads_a_changed_file_before_it_decides(page: Page, desk: Desk) -> None:
    [(path, data)] = desk.put(1, EXPIRED).items()
    start(page)
    desk.world.write(path, data.decode() + "\nIt thaws.\n")
    page.keyboard.press("d")
    expect(alert(page)).to_contain_text("changed")
    assert desk.files() == {path: data + b"\nIt thaws.\n"}
    expect(page.get_by_text("It thaws.")).to_be_visible()
    decide(page, "delete")
    is_at_end(page)
    assert desk.files() == {}


def test_review_page_editor_keeps_its_text_if_the_file_changes(page: Page, desk: Desk) -> None:
    [(path, data)] = desk.put(1, EXPIRED).items()
    file = desk.world.vault / path
    start(page)
    field = edit(page, "Mine.")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    desk.world.write(path, data.decode() + "Theirs.\n")
    expect(page.locator("article")).to_contain_text("Theirs.")
    ready(page)
    page.get_by_role("button", name="Edit").click()
    expect(field).to_have_value(data.decode() + "Mine.")
    page.keyboard.press("Control+Enter")
    expect(alert(page)).to_contain_text("changed")
    expect(page.locator("dialog .diff .old", has_text="Theirs.")).to_be_visible()
    expect(field).to_have_value(data.decode() + "Mine.")
    assert file.read_bytes() == data + b"Theirs.\n"
    page.keyboard.press("Control+Enter")
    expect(page.locator("dialog")).to_have_count(0)
    assert file.read_text("utf-8").endswith("frozen.\nMine.")


def test_review_page_editor_keeps_its_text_if_decided_elsewhere(page: Page, desk: Desk) -> None:
    [(path, data)] = desk.put(1, EXPIRED).items()
    start(page)
    field = edit(page, "Mine.")
    desk.ask("decide", action="delete", ref=[path])
    page.get_by_text("This item was decided elsewhere").wait_for(state="attached")
    page.keyboard.press("Control+Enter")
    expect(page.locator("dialog [role=alert]")).to_be_visible()
    expect(field).to_have_value(data.decode() + "Mine.")
    assert desk.files() == {}


def test_review_page_item_decided_elsewhere_stays_and_is_locked(page: Page, desk: Desk) -> None:
    before = desk.put(2, INBOX)
    start(page)
    first, path = item(page), min(before)
    desk.ask("decide", action="delete", ref=[path])
    page.get_by_text("This item was decided elsewhere").wait_for()
    page.keyboard.press("d")
    expect(page.locator(f'article[data-id="{first}"]')).to_be_visible()
    expect(page.get_by_role("button", name="Delete")).to_be_disabled()
    page.keyboard.press("n")
    wait_for_next(page, first)
    assert desk.files() == {name: data for name, data in before.items() if name != path}


def test_review_page_filters_by_reason_or_project(page: Page, desk: Desk) -> None:
    desk.put(4, INBOX | PAIR | EXPIRED)
    start(page)
    page.locator(".review-reasons").get_by_text("Expired").click()
    page.wait_for_url("**reason=expired**")
    expect(page.get_by_role("heading", name="Lake")).to_be_visible()
    page.go_back()
    page.get_by_role("link", name="pond").click()
    expect(page.get_by_text("1 of 1")).to_be_visible()
    page.get_by_role("link", name="pond: show all projects").click()
    expect(page.get_by_text("1 of 4")).to_be_visible()
    page.locator(".review-list a").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 of 4")).to_be_visible()
    expect(page.locator(":focus")).to_contain_text("In the inbox")


def test_review_page_does_not_count_as_opening_a_memory(page: Page, desk: Desk) -> None:
    desk.put(1, {"note/g": memory(7, "The key hangs in the shed.", created="2019-01-01", updated="2019-01-02")})
    start(page)
    page.wait_for_selector(".review-memory .prose p")
    assert desk.ask("review")["counts"]["unopened"] == 1


def test_review_page_saves_a_possible_secret_only_after_confirmation(page: Page, desk: Desk) -> None:
    [(path, data)] = desk.put(1, EXPIRED).items()
    start(page)
    edit(page, f"token: {SECRET}\n")
    page.keyboard.press("Control+Enter")
    expect(alert(page)).to_contain_text("looks like")
    assert desk.files() == {path: data}
    page.get_by_role("button", name="Not a credential: save it").click()
    expect(page.locator("dialog")).to_have_count(0)
    assert SECRET in desk.files()[path].decode()
    page.keyboard.press("u")
    undone(page)
    assert desk.files() == {path: data}


ROWS = """pairs => import('/page/diff.js').then(({ rowsOf }) => pairs.map(([one, other]) => rowsOf(one, other).map(
  ({ a, b, old, fresh, equal }) => ({ a, b, old: old ?? null, fresh: fresh ?? null, equal: Boolean(equal) }))))"""
LINES = (
    "", "the port is 3000", "the port is 4000 now", "herons nest", "cranes pass in October", "漢字仮名", "🦩 e\u0301",
)  # fmt: skip


def test_diff_rows_hold_both_texts_line_by_line(page: Page) -> None:
    chance = random.Random(8)
    pairs = [[chance.choices(LINES, k=chance.randrange(15)) for _ in range(2)] for _ in range(80)]
    pairs.append([[f"{side} {line}" for line in range(4000)] for side in "ab"])  # beyond the limit of edits
    for (one, other), rows in zip(pairs, page.evaluate(ROWS, pairs), strict=True):
        assert [row["old"] for row in rows if row["old"] is not None] == one
        assert [row["fresh"] for row in rows if row["fresh"] is not None] == other
        assert [row["a"] for row in rows if row["old"] is not None] == list(range(len(one)))
        assert all(row["old"] == row["fresh"] for row in rows if row["equal"])
