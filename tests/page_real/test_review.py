"""Deciding in the page: by mouse and by keys, undone, refused where something changed, and what two texts differ in."""

import random
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.memories.waiting import Author
from tests.page_real.browser import DESKTOP, PHONE, Reader, looks, visit
from tests.page_real.desk import Desk, decide, item, memory, ready, review, start
from tests.serve.servers import Place, place
from vault_index.sources.sessions.kept import Kept

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
TALK = (
    "---\nsession: talk-{number}\ntitle: Herons {number}\nclient: codex\nproject: api\ndirectory: /home/user/api\n"
    "created: 2026-11-0{number}T10:00:00+00:00\nupdated: 2026-11-0{number}T11:00:00+00:00\n---\n"
    "## User\n\nWhy is heron {number} here?\n"
)
OF = {"accept": INBOX, "edit": INBOX, "archive": EXPIRED, "delete": EXPIRED, "keep": EXPIRED}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("review")
    (folder / "codex").mkdir()
    with place(folder, f'[sessions.codex]\nenabled = true\ndata = "{folder / "codex"}"\n') as made:
        made.daemon()
        yield made


@pytest.fixture(scope="module")
def desk(here: Place, module_reader: Reader) -> Desk:
    return Desk(here, module_reader.served)


@pytest.mark.parametrize("by", ["key", "mouse"])
def test_each_action_is_done_and_undone(page: Page, desk: Desk, by: str) -> None:
    page.set_viewport_size(PHONE if by == "mouse" else DESKTOP)
    for action in ("accept", "edit", "merge", "supersede", "archive", "delete", "keep"):
        files = OF.get(action, PAIR)
        total = len(INBOX) if files is INBOX else 1
        before = desk.put(total, files)
        visit(page, "#/review")
        decide(page, action, by=by)
        undo = page.locator(".toast").get_by_role("button", name="Undo")
        undo.wait_for()
        check(action, before, desk.files())
        if by == "key":
            page.keyboard.press("u")
        else:
            undo.click()
        page.get_by_text("Undone: ").wait_for()
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


def test_all_is_reviewed_and_told_of(reader: Reader, desk: Desk) -> None:
    desk.put(4, INBOX | PAIR | EXPIRED)
    page = review(reader)
    assert page.locator(".review-memory strong").inner_text() == "reeds"
    for action in ("accept", "delete", "merge", "keep"):
        before = item(page)
        decide(page, action)
        page.wait_for_selector(f'article[data-id="{before}"]', state="detached")
    end = page.locator(".review-end").inner_text()
    assert "That is all" in end
    assert "merged" in end
    assert "kept" in end
    page.reload()
    assert "Nothing to review" in page.locator(".review-end").inner_text()
    assert page.locator(".side .count").count() == 0


def test_the_other_one_stays_after_a_swap(page: Page, desk: Desk) -> None:
    desk.put(1, PAIR)
    start(page)
    stays = page.locator(".review-memory", has_text="Stays")
    gone = stays.locator("h3").inner_text()
    page.keyboard.press("x")
    page.wait_for_selector(f".review-memory:has(.goes) h3:has-text('{gone}')")
    page.keyboard.press("s")
    page.locator(".toast").wait_for()
    superseded = [path for path, data in desk.files().items() if b"superseded_by: " in data]
    assert [desk.files()[path].count(f"title: {gone}\n".encode()) for path in superseded] == [1]


def test_a_second_click_and_a_key_that_is_held_decide_nothing_more(page: Page, desk: Desk) -> None:
    desk.put(2, INBOX)
    start(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/api/decide" in request.url else None)
    first = item(page)
    page.get_by_role("button", name="Accept").dblclick()
    page.wait_for_selector(f'article[data-id="{first}"]', state="detached")
    ready(page)
    assert len(asked) == 1
    page.keyboard.down("a")
    for _ in range(5):
        page.keyboard.down("a")  # as a keyboard repeats it
    page.locator(".review-end").wait_for()
    assert len(asked) == 2


def test_what_changed_meanwhile_is_not_decided_on_but_shown_anew(page: Page, desk: Desk) -> None:
    [(path, data)] = desk.put(1, EXPIRED).items()
    start(page)
    (desk.here.vault / path).write_bytes(data + b"\nIt thaws.\n")
    page.keyboard.press("d")
    assert "changed" in page.locator("article [role=alert]").inner_text()
    assert desk.files() == {path: data + b"\nIt thaws.\n"}
    page.get_by_text("It thaws.").wait_for()
    decide(page, "delete")
    page.locator(".review-end").wait_for()
    assert desk.files() == {}


def test_a_text_that_was_written_is_kept_where_the_file_changed(page: Page, desk: Desk) -> None:
    [(path, data)] = desk.put(1, EXPIRED).items()
    start(page)
    page.keyboard.press("e")
    field = page.get_by_label("The whole file")
    page.keyboard.press("Control+End")
    page.keyboard.type("Mine.")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("e")
    assert field.input_value().endswith("Mine.")
    (desk.here.vault / path).write_bytes(data + b"Theirs.\n")
    page.keyboard.press("Control+Enter")
    assert "changed" in page.locator("dialog [role=alert]").inner_text()
    page.wait_for_selector("dialog .diff .old >> text=Theirs.")
    assert field.input_value().endswith("Mine.")
    assert desk.files()[path] == data + b"Theirs.\n"
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("dialog", state="detached")
    assert desk.files()[path].decode().endswith("frozen.\nMine.")


def test_a_text_that_was_written_is_kept_where_the_memory_was_decided_elsewhere(page: Page, desk: Desk) -> None:
    [path] = desk.put(1, EXPIRED)
    start(page)
    page.keyboard.press("e")
    field = page.get_by_label("The whole file")
    page.keyboard.press("Control+End")
    page.keyboard.type("Mine.")
    desk.ask("decide", action="delete", ref=[path])
    page.get_by_text("This was decided meanwhile").wait_for(state="attached")
    page.keyboard.press("Control+Enter")
    page.locator("dialog [role=alert]").wait_for()
    assert field.input_value().endswith("Mine.")
    assert desk.files() == {}


def test_what_is_decided_elsewhere_stays_on_the_screen_and_is_decided_no_more(page: Page, desk: Desk) -> None:
    before = desk.put(2, INBOX)
    start(page)
    first = item(page)
    path = min(before)
    desk.ask("decide", action="delete", ref=[path])
    page.get_by_text("This was decided meanwhile").wait_for()
    page.keyboard.press("d")
    assert item(page) == first
    assert page.get_by_role("button", name="Delete").is_disabled()
    page.keyboard.press("n")
    page.wait_for_selector(f'article[data-id="{first}"]', state="detached")
    assert desk.files() == {name: data for name, data in before.items() if name != path}


def test_links_name_a_reason_a_project_and_an_item(reader: Reader, desk: Desk) -> None:
    desk.put(4, INBOX | PAIR | EXPIRED)
    page = review(reader)
    page.locator(".review-reasons").get_by_text("Expired").click()
    page.wait_for_url("**reason=expired**")
    page.get_by_role("heading", name="Lake").wait_for()
    again = review(reader, page.url[page.url.index("#") :])
    assert item(again) == item(page)
    page.go_back()
    page.get_by_role("heading", name="Herons").wait_for()
    page.get_by_role("link", name="pond").click()
    page.get_by_text("1 of 1").wait_for()
    page.get_by_role("link", name="pond: show those of all projects").click()
    page.get_by_text("1 of 4").wait_for()
    page.locator(".review-list a").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_text("2 of 4").wait_for()
    expect(page.locator(":focus")).to_contain_text("In the inbox")


def test_hundreds_are_gone_through(reader: Reader, desk: Desk) -> None:
    author = Author()
    desk.put(120, {f"inbox/{number:03}": memory(number, author.sentence()) for number in range(120)})
    page = review(reader)
    page.locator(".review-list a").nth(47).click()
    for number in range(48, 53):
        page.get_by_text(f"{number} of 120").wait_for()
        page.keyboard.press("n")
    shown = item(page)
    decide(page, "archive")
    page.get_by_text("53 of 119").wait_for()
    again = review(reader, page.url[page.url.index("#") :])
    assert item(again) == item(page) != shown


def test_looking_at_what_nobody_opened_does_not_open_it(page: Page, desk: Desk) -> None:
    desk.put(1, {"note/g": memory(7, "The key hangs in the shed.", created="2019-01-01", updated="2019-01-02")})
    start(page)
    page.wait_for_selector(".review-memory .prose p")
    assert desk.ask("review")["counts"]["unopened"] == 1


def test_the_page_goes_on_when_the_server_is_back(page: Page, desk: Desk) -> None:
    desk.put(2, INBOX)
    start(page)
    page.route("**/api/*", lambda route: route.abort())
    decide(page, "accept")
    assert "does not answer" in page.locator("[role=alert]").first.inner_text()
    page.unroute("**/api/*")
    page.wait_for_selector(".page.review > [role=alert]", state="detached")
    decide(page, "accept")
    page.locator(".toast").wait_for()
    assert sum("/inbox/" in path for path in desk.files()) == 1


def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(page: Page, desk: Desk) -> None:
    desk.put(4, INBOX | PAIR | EXPIRED)
    start(page)
    found = looks(page)
    for key, shown in (("n", ""), ("n", ".diff"), ("m", "dialog .diff"), ("Escape", ""), ("e", "dialog textarea")):
        page.keyboard.press(key)
        if key == "Escape":
            page.wait_for_selector("dialog", state="detached")
        ready(page)
        if shown:
            page.wait_for_selector(shown)
        found += looks(page)
    assert found == []


def test_what_only_looks_like_a_secret_is_saved_when_a_person_says_so(page: Page, desk: Desk) -> None:
    [(path, data)] = desk.put(1, EXPIRED).items()
    start(page)
    page.keyboard.press("e")
    page.get_by_label("The whole file").wait_for()
    page.keyboard.press("Control+End")
    page.keyboard.type(f"token: {SECRET}\n")
    page.keyboard.press("Control+Enter")
    assert "looks like" in page.locator("dialog [role=alert]").inner_text()
    assert desk.files() == {path: data}
    page.get_by_role("button", name="It is none: save it").click()
    page.wait_for_selector("dialog", state="detached")
    assert SECRET in desk.files()[path].decode()
    page.keyboard.press("u")
    page.get_by_text("Undone: ").wait_for()
    assert desk.files() == {path: data}


def test_a_session_that_its_client_lost_is_kept_or_deleted_for_good(page: Page, desk: Desk) -> None:
    desk.put(0, {})
    kept = Kept(desk.here.home.sessions_dir / "codex")
    for number in (1, 2):
        kept.put(path := f"api/talk-{number}.md", TALK.format(number=number), 1)
        kept.hold(path)
    start(page)
    page.get_by_text("Why is heron 1 here?").wait_for()
    assert page.locator(".review-memory h3 a").count() == 0  # there is no document to open
    page.locator(".review-memory").get_by_role("heading", name="User").wait_for()  # drawn, not as it is written
    decide(page, "keep")
    page.locator(".toast").get_by_text("Kept: ").wait_for()
    assert (kept.held("api/talk-1.md"), "heron 1" in kept.read("api/talk-1.md")[1]) == ("", True)
    page.keyboard.press("u")
    page.get_by_text("Undone: ").wait_for()
    page.get_by_text("Why is heron 1 here?").wait_for()
    assert "heron 1" in kept.held("api/talk-1.md")
    ready(page)
    page.keyboard.press("d")
    assert "There is no undo" in page.locator("dialog").inner_text()
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    assert "heron 1" in kept.held("api/talk-1.md")
    page.keyboard.press("d")
    page.get_by_role("button", name="Delete for good").press("Enter")
    page.get_by_text("Why is heron 2 here?").wait_for()
    assert list(kept.all(deleted=True)) == ["api/talk-2.md"]
    assert page.locator(".toast").get_by_role("button", name="Undo").count() == 0
    decide(page, "delete", by="mouse")
    page.get_by_role("button", name="Delete for good").click()
    page.locator(".review-end").wait_for()
    assert kept.size() == (0, 0)


# --- two texts ------------------------------------------------------------------------------------------------------

RUNS = "([one, other, most]) => import('/page/diff.js').then(({ runs }) => runs(one, other, most))"
ROWS = """([one, other]) => import('/page/diff.js').then(({ rowsOf }) => rowsOf(one, other).map(
  ({ a, b, old, fresh, equal }) => ({ a, b, old: old ?? null, fresh: fresh ?? null, equal: Boolean(equal) })))"""


def common(one: str, other: str) -> int:
    """The length of their longest common subsequence."""
    row = [0] * (len(other) + 1)
    for letter in one:
        last = 0
        for at, its in enumerate(other, start=1):
            last, row[at] = row[at], last + 1 if letter == its else max(row[at], row[at - 1])
    return row[-1]


def test_what_is_equal_is_found_and_as_much_of_it_as_there_is(page: Page) -> None:
    chance = random.Random(7)
    for _ in range(150):
        one, other = ("".join(chance.choices("abc", k=chance.randrange(12))) for _ in range(2))
        found = page.evaluate(RUNS, [list(one), list(other), 100])
        for at, its, length in found:
            assert one[at : at + length] == other[its : its + length] != ""
        ends = [(0, 0), *((at + length, its + length) for at, its, length in found)]
        assert all(at >= a and its >= b for (at, its, _), (a, b) in zip(found, ends, strict=False))
        assert sum(length for _, _, length in found) == common(one, other), (one, other)


def test_rows_are_both_texts_line_by_line(page: Page) -> None:
    chance = random.Random(8)
    lines = [
        "",
        "the port is 3000",
        "the port is 4000 now",
        "herons nest",
        "cranes pass in October",
        "漢字仮名",
        "🦩 e\u0301",
    ]
    for number in range(80):
        one, other = (chance.choices(lines, k=chance.randrange(15)) for _ in range(2))
        if number == 0:  # more edits than are looked for
            one, other = ([f"{side} {line}" for line in range(4000)] for side in "ab")
        rows = page.evaluate(ROWS, [one, other])
        assert [row["old"] for row in rows if row["old"] is not None] == one
        assert [row["fresh"] for row in rows if row["fresh"] is not None] == other
        assert [row["a"] for row in rows if row["old"] is not None] == list(range(len(one)))
        assert all(row["old"] == row["fresh"] for row in rows if row["equal"])


def test_equal_lines_are_folded_until_they_are_asked_for(page: Page, desk: Desk) -> None:
    body = "\n".join(f"Line {number} of the long story." for number in range(40))
    desk.put(1, {f"note/{name}": memory(at, f"{body}\nEnd {name}.") for at, name in enumerate("ab", start=20)})
    start(page)
    fold = page.get_by_role("button", name="37 equal lines")
    assert page.get_by_role("row").filter(has_text="Line 20 of").count() == 0
    fold.click()
    assert page.get_by_role("row").filter(has_text="Line 20 of").count() == 1
    words = page.locator(".diff del, .diff ins").all_inner_texts()
    assert sorted(words) == ["a", "b"]
    assert page.locator(".differs .unseen").all_inner_texts() == ["removed:", "added:"]
