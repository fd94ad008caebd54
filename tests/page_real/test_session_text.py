"""A session that is read: a conversation."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page_real.browser import DESKTOP, PHONE, Reader, axe
from tests.page_real.held_sessions import YESTERDAY, long_name, sessions_place
from tests.serve.servers import Place
from vault_index.markdown.tree import tree

_VIEW = Path(__file__).parents[2] / "vault_index/serve/page/site/views/document.js"
pytestmark = pytest.mark.skipif(not _VIEW.exists(), reason="the view of documents, which shows it, is not there yet")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with sessions_place(tmp_path_factory.mktemp("sessions")) as made:
        yield made


def read(reader: Reader, ref: str = "opencode:api/ses_login.md", **options: Any) -> Page:
    page = reader.open(f"#/doc?ref={ref}", **options)
    page.wait_for_selector(".turn.assistant")
    page.wait_for_selector(".session-resume")
    return page


def test_a_session_is_a_conversation(reader: Reader) -> None:
    page = read(reader)
    expect(page.locator(".turn.user")).to_have_count(3)
    assert [one.split("\n")[0] for one in page.locator(".turn h2").all_inner_texts()] == ["You", "OpenCode"] * 3
    assert page.locator(".pause").all_inner_texts() == [long_name(YESTERDAY), "2 h later"]
    # What a user says is no call, whatever it looks like.
    assert "no call" in page.locator(".turn.user .prose").nth(1).inner_text()
    calls = page.locator(".call")
    assert [one.split() for one in calls.all_inner_texts()] == [
        ["edit", "src/auth.py", "ok"],
        ["bash", "pytest", "-q", "exit", "1"],
        ["task", "Find", "usages", "ok"],
    ]
    assert "bad" in (calls.nth(1).locator(".outcome").get_attribute("class") or "")
    expect(page.locator("pre.code-diff")).not_to_be_visible()
    calls.first.click()
    assert page.locator("pre.code-diff .added").inner_text().strip() == "+    return a == b"
    facts = page.locator(".session-facts").inner_text()
    assert all(word in facts for word in ("OpenCode", "3 questions", "1 file written", "opencode -s ses_login"))


def test_a_session_is_gone_through_by_keys_alone(reader: Reader) -> None:
    page = read(reader)
    turns = page.locator(".turn.user")
    for key, expected in (("n", 0), ("n", 1), ("n", 2), ("n", 2), ("p", 1), ("p", 0), ("p", 0)):
        page.keyboard.press(key)
        expect(turns.nth(expected)).to_be_focused()
    opened = page.locator(".turns details[open]")
    page.keyboard.press("x")
    expect(opened).to_have_count(3)
    page.keyboard.press("x")
    expect(opened).to_have_count(0)


def test_its_questions_lead_to_their_places_and_its_command_is_copied(reader: Reader) -> None:
    page = read(reader)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".session-facts summary").click()
    page.get_by_role("button", name="Commit it.").click()
    expect(page.locator(".turn.user").nth(2)).to_be_focused()
    page.locator(".session-resume button").click()
    expect(page.locator(".toast")).to_contain_text("copied")
    assert page.evaluate("navigator.clipboard.readText()") == "opencode -s ses_login"


def test_a_subagent_and_who_asked_for_it_lead_to_each_other(reader: Reader) -> None:
    page = read(reader)
    page.get_by_role("link", name="Read its session").click()
    expect(page.locator("h1")).to_have_text("Find usages")
    expect(page.locator(".turn.user h2")).to_contain_text("The agent that asked")
    page.get_by_role("link", name="the one that asked for it").click()
    expect(page.locator("h1")).to_have_text("Fix the login")


def test_a_hit_in_what_is_folded_is_unfolded(reader: Reader) -> None:
    page = read(reader)
    line = int(page.locator("pre.code-diff").get_attribute("data-line") or 0)
    page = read(reader, f"opencode:api/ses_login.md&lines={line}-{line + 1}")
    expect(page.locator("pre.code-diff")).to_be_visible()
    expect(page.locator(".turns details[open]")).to_have_count(1)


def test_a_part_that_begins_within_a_turn_is_of_whom_the_outline_names(reader: Reader) -> None:
    page = reader.open("#/sessions")
    text = "\n" * 40 + "- read: `src/app.py` (ok)\n\n## User · 2026-11-20 09:30\n\nThanks.\n"
    outline = [{"level": 2, "text": "Assistant · 2026-11-20 09:01", "id": "h-a", "line": 12}, *tree(text).outline]
    turns = page.evaluate(
        "async ([nodes, outline]) => (await import('/page/session.js')).turnsOf(nodes, outline)",
        [tree(text).nodes, outline],
    )
    assert [(one["who"], one["time"], one["line"]) for one in turns] == [
        ("Assistant", "09:01", 12),
        ("User", "09:30", 43),
    ]
    assert turns[0]["blocks"][0]["calls"][0]["target"] == "src/app.py"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(reader: Reader, scheme: str, size: Any) -> None:
    page = read(reader, scheme=scheme, size=size)
    page.locator(".session-facts summary").click()
    page.keyboard.press("x")
    expect(page.locator("pre.code-diff")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert axe(page) == []
