"""A year of sessions: by day, project, client and file."""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page_real.browser import DESKTOP, PHONE, Reader, axe, shown
from tests.page_real.held_sessions import BILLS, LONG_AGO, MANY, TODAY, YESTERDAY, long_name, sessions_place
from tests.serve.servers import Place


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with sessions_place(tmp_path_factory.mktemp("sessions")) as made:
        yield made


@pytest.fixture
def reader(reader: Reader) -> Iterator[Reader]:
    """To whom it is the day that the sessions were made for, also once midnight has passed."""
    reader.now = datetime.combine(TODAY, time(12))
    yield reader
    reader.now = None


def rows(page: Page) -> Any:
    return page.locator(".sessions-list li .name")


def day_of(page: Page, day: date) -> Any:
    return page.locator(f'[role=gridcell][data-day="{day}"]')


def test_they_stand_under_their_days_and_are_chosen_by_project(reader: Reader) -> None:
    page = reader.open("#/sessions")
    expect(rows(page)).to_have_count(40)
    first = page.locator(".sessions-list section").first
    assert first.locator("h2").inner_text() == "Yesterday"
    assert first.locator(".name").all_inner_texts() == ["Fix the login"]
    assert "api·OpenCode" in first.locator(".facts").inner_text().replace("\n", "·")
    page.get_by_label("Project").select_option("shop")
    expect(rows(page)).to_have_text(["Number the bills"])
    assert "project=shop" in page.url
    page.get_by_label("Client").select_option("opencode")
    page.go_back()
    page.go_back()
    expect(rows(page)).to_have_count(40)


def test_what_was_worked_on_is_counted_by_project(reader: Reader) -> None:
    page = reader.open("#/sessions")
    card = page.locator(".work").first
    expect(card.locator("h3")).to_have_text("api")
    said = card.inner_text()
    assert "1 session · 1 subagent · 1 file written" in said
    assert "src/auth.py" in said
    assert "1 command still fails: pytest -q" in said
    card.locator("a").click()
    expect(rows(page)).to_have_text(["Fix the login"])
    assert "wrote it" in page.locator(".sessions-list .facts").inner_text()


def test_the_calendar_chooses_a_day_by_keys_alone(reader: Reader) -> None:
    page = reader.open("#/sessions")
    expect(day_of(page, YESTERDAY)).to_have_accessible_name(f"{long_name(YESTERDAY)}: 1 session")
    page.keyboard.press("c")
    expect(day_of(page, TODAY)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(day_of(page, YESTERDAY)).to_be_focused()
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_text(["Fix the login"])
    expect(day_of(page, YESTERDAY)).to_have_attribute("aria-selected", "true")
    assert page.locator(".sessions-list h2").inner_text() == long_name(YESTERDAY)
    page.keyboard.press("ArrowLeft")
    expect(day_of(page, YESTERDAY - timedelta(7))).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("There is no such session")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    expect(rows(page)).to_have_count(40)


def test_the_calendar_chooses_a_day_by_mouse_and_lets_it_go(reader: Reader) -> None:
    page = reader.open("#/sessions")
    expect(day_of(page, LONG_AGO)).to_have_accessible_name(f"{long_name(LONG_AGO)}: {MANY} sessions")
    assert day_of(page, LONG_AGO).get_attribute("data-level") == "4"
    assert day_of(page, BILLS).get_attribute("data-level") == "1"
    day_of(page, BILLS).click()
    expect(rows(page)).to_have_text(["Number the bills"])
    assert page.get_by_label("Day", exact=True).input_value() == str(BILLS)
    day_of(page, BILLS).click()
    expect(rows(page)).to_have_count(40)


def test_a_span_and_subagents_are_chosen_by_chips(reader: Reader) -> None:
    page = reader.open("#/sessions")
    page.get_by_role("button", name="7 days").click()
    expect(rows(page)).to_have_text(["Fix the login"])
    page.get_by_role("button", name="With subagents").click()
    expect(rows(page)).to_have_count(2)
    assert "subagent" in page.locator(".sessions-list").inner_text()
    page.get_by_role("button", name="Show all").click()
    expect(rows(page)).to_have_count(40)


def test_who_touched_a_file_and_what_is_further_down_by_keys_alone(reader: Reader) -> None:
    page = reader.open("#/sessions")
    expect(rows(page)).to_have_count(40)
    page.keyboard.press("l")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(MANY + 2)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    page.keyboard.press("f")
    page.keyboard.type("auth.py")
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_text(["Fix the login"])
    page.keyboard.press("Escape")
    page.keyboard.press("l")
    page.keyboard.press("Enter")
    page.wait_for_selector(".turn.user")
    page.keyboard.press("?")
    assert "next question" in page.locator("dialog").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(reader: Reader, scheme: str, size: Any) -> None:
    page = reader.open(f"#/sessions?day={YESTERDAY}", scheme=scheme, size=size)
    expect(rows(page)).to_have_text(["Fix the login"])
    page.wait_for_selector(".work")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # The newest days are what is seen of a calendar that is wider than its place.
    expect(day_of(page, TODAY)).to_be_in_viewport()
    assert axe(page) == []


def test_who_leaves_with_a_half_written_filter_stays_where_they_went(reader: Reader) -> None:
    page = reader.open("#/sessions")
    page.get_by_label("Touched the file").press_sequentially("src/ap")
    page.goto(f"{reader.origin}/#/search?q=login")
    shown(page, "login", "refined")
    expect(page).to_have_title("Search · vault-index")
    assert "sessions" not in page.url
