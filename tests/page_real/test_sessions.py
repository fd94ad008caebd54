"""Sessions: the list of a year by day, project, client and file; and one session as a conversation."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page_real.browser import Reader, copied, refined, toast
from tests.page_real.held_sessions import CLOCK, MANY, YESTERDAY, long_name, sessions_place
from tests.world import World
from vault_index.markdown.tree import tree

NOW = CLOCK


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with sessions_place(tmp_path_factory.mktemp("sessions")) as made:
        yield made


def rows(page: Page) -> Any:
    return page.locator(".sessions-list li .name")


def opened(reader: Reader) -> Page:
    page = reader.open("#/sessions")
    expect(rows(page)).to_have_count(40)
    return page


def test_sessions_page_lists_by_day_and_filters_by_project_or_span(reader: Reader) -> None:
    page = opened(reader)
    first = page.locator(".sessions-list section").first
    expect(first.locator("h2")).to_have_text("Yesterday")
    expect(first.locator(".name")).to_have_text(["Fix the login"])
    expect(first.locator(".facts")).to_contain_text("api")
    expect(first.locator(".facts")).to_contain_text("OpenCode")
    page.get_by_label("Project").select_option("shop")
    expect(rows(page)).to_have_text(["Number the bills"])
    page.wait_for_url("**project=shop*")
    page.get_by_label("Client").select_option("opencode")
    page.wait_for_url("**client=opencode*")
    page.go_back()
    page.go_back()
    expect(rows(page)).to_have_count(40)
    page.get_by_role("button", name="7 days").click()
    expect(rows(page)).to_have_text(["Fix the login"])
    page.get_by_role("button", name="With subagents").click()
    expect(rows(page)).to_have_count(2)
    expect(page.locator(".sessions-list")).to_contain_text("subagent")
    page.get_by_role("button", name="Show all").click()
    expect(rows(page)).to_have_count(40)


def test_sessions_page_counts_the_work_of_each_project(reader: Reader) -> None:
    page = opened(reader)
    card = page.locator(".work").first
    expect(card.locator("h3")).to_have_text("api")
    for fact in ("1 session · 1 subagent · 1 file written", "src/auth.py", "1 command still fails: pytest -q"):
        expect(card).to_contain_text(fact)
    card.locator("a").click()
    expect(rows(page)).to_have_text(["Fix the login"])
    expect(page.locator(".sessions-list .facts")).to_contain_text("wrote it")


def test_sessions_page_loads_all_and_filters_by_file_with_keys(reader: Reader) -> None:
    page = opened(reader)
    for key in ("l", "End", "Enter"):
        page.keyboard.press(key)
    expect(rows(page)).to_have_count(MANY + 2)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    page.keyboard.press("f")
    expect(page.get_by_label("Used the file")).to_be_focused()
    page.keyboard.type("auth.py")
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_text(["Fix the login"])
    for key in ("Escape", "l", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector(".turn.user")


def test_sessions_page_filter_being_typed_does_not_undo_a_navigation(reader: Reader) -> None:
    page = opened(reader)
    page.get_by_label("Used the file").press_sequentially("src/ap")
    page.goto(f"{reader.origin}/#/search?q=login")
    refined(page, "login")
    expect(page).to_have_title("Search · vault-index")
    assert "sessions" not in page.url


def read(reader: Reader, more: str = "") -> Page:
    page = reader.open(f"#/doc?ref=opencode:api/ses_login.md{more}")
    page.wait_for_selector(".turn.assistant")
    page.wait_for_selector(".session-resume")
    return page


def test_session_is_a_conversation(reader: Reader) -> None:
    page = read(reader)
    expect(page.locator(".turn h2")).to_contain_text(["You", "OpenCode"] * 3)
    expect(page.locator(".pause")).to_have_text([long_name(YESTERDAY), "2 h later"])
    # A list item of a user is text, even if it looks like a tool call.
    expect(page.locator(".turn.user .prose").nth(1)).to_contain_text("no call")
    calls = page.locator(".call")
    expect(calls).to_have_text(
        [re.compile("edit.*auth.py.*ok"), re.compile("bash.*-q.*exit 1"), re.compile("task.*ok")]
    )
    expect(calls.nth(1).locator(".outcome.bad")).to_have_count(1)
    expect(page.locator("pre.code-diff")).not_to_be_visible()
    calls.first.click()
    expect(page.locator("pre.code-diff .added")).to_have_text("+    return a == b")
    for fact in ("OpenCode", "3 questions", "1 file written", "opencode -s ses_login"):
        expect(page.locator(".session-facts")).to_contain_text(fact)
    page.locator(".session-facts summary").click()
    page.get_by_role("button", name="Commit it.").click()
    expect(page.locator(".turn.user").nth(2)).to_be_focused()
    page.locator(".session-resume button").click()
    expect(toast(page)).to_contain_text("copied")
    assert copied(page) == "opencode -s ses_login"


def test_session_is_read_by_keys(reader: Reader) -> None:
    page = read(reader)
    turns = page.locator(".turn.user")
    for key, expected in (("n", 0), ("n", 1), ("n", 2), ("n", 2), ("p", 1), ("p", 0), ("p", 0)):
        page.keyboard.press(key)
        expect(turns.nth(expected)).to_be_focused()
    unfolded = page.locator(".turns details[open]")
    page.keyboard.press("x")
    expect(unfolded).to_have_count(3)
    page.keyboard.press("x")
    expect(unfolded).to_have_count(0)


def test_session_and_its_subagent_link_to_each_other(reader: Reader) -> None:
    page = read(reader)
    page.get_by_role("link", name="Read its session").click()
    expect(page.locator("h1")).to_have_text("Find usages")
    expect(page.locator(".turn.user h2")).to_contain_text("Parent agent")
    page.get_by_role("link", name="open its parent session").click()
    expect(page.locator("h1")).to_have_text("Fix the login")


def test_session_unfolds_the_part_with_a_hit(reader: Reader) -> None:
    page = read(reader)
    line = int(page.locator("pre.code-diff").get_attribute("data-line") or 0)
    page = read(reader, f"&lines={line}-{line + 1}")
    expect(page.locator("pre.code-diff")).to_be_visible()
    expect(page.locator(".turns details[open]")).to_have_count(1)


def test_session_part_inside_a_turn_takes_its_speaker_from_the_outline(page: Page) -> None:
    text = "\n" * 40 + "- read: `src/app.py` (ok)\n\n## User · 2026-11-20 09:30\n\nThanks.\n"
    outline = [{"level": 2, "text": "Assistant · 2026-11-20 09:01", "id": "h-a", "line": 12}, *tree(text).outline]
    turns = page.evaluate(
        "async ([nodes, outline]) => (await import('/page/session.js')).turnsOf(nodes, outline)",
        [tree(text).nodes, outline],
    )
    found = [(turn["who"], turn["time"], turn["line"]) for turn in turns]
    assert found == [("Assistant", "09:01", 12), ("User", "09:30", 43)]
    assert turns[0]["blocks"][0]["calls"][0]["target"] == "src/app.py"
