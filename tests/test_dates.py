from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, time, timedelta

import pytest
from hypothesis import given, strategies as st

from tests.tables import tables
from vault_index.dates import leading_date, read_date, read_start, written_date
from vault_index.errors import UsageError

TODAY = date(2026, 11, 21)  # a Saturday
NOW = datetime(2026, 11, 21, 13, 5, 30).astimezone()


CASES = tables(__file__)


def in_iso_format(table: dict[str, str]) -> dict[str, str | None]:
    """The expected values as ISO dates, or as local times with their offset; None for an empty text."""
    return {
        text: (datetime.fromisoformat(said).astimezone().isoformat() if " " in said else said or None)
        for text, said in table.items()
    }


def beginning(moment: date | None) -> datetime | None:
    return datetime(*moment.timetuple()[:6]) if moment else None


def test_read_date_accepts_common_notations() -> None:
    expected = in_iso_format(CASES["dates"])
    assert {text: read_date(text, NOW, option="--expires") for text in expected} == expected


@pytest.mark.parametrize(
    ("table", "read"),
    [("written", lambda text: written_date(text, first=True)), ("starts", lambda text: read_start(text, NOW))],
    ids=["written", "starts"],
)
def test_written_date_and_read_start_return_the_first_moment(table: str, read: Callable[[str], date | None]) -> None:
    """`written_date` does not depend on the clock; `read_start` returns the most likely past moment."""
    expected = {text: datetime.fromisoformat(said) if said else None for text, said in CASES[table].items()}
    assert {text: beginning(read(text)) for text in expected} == expected


def test_read_date_refuses_other_text_with_examples() -> None:
    for text in CASES["no_dates"]:
        with pytest.raises(UsageError, match=r"^--expires: not a date") as raised:
            read_date(text, NOW, option="--expires")
        assert "2027-02-01" in raised.value.hint
        assert "in 3 months" in raised.value.hint


def test_read_date_refuses_an_ambiguous_order_of_day_and_month() -> None:
    for text in ("01/02/2027", "1.2.2027", "1-2-27", "13/02/2027"):
        with pytest.raises(UsageError, match=f"^valid_until: '{text}' is ambiguous") as raised:
            read_date(text, NOW, option="valid_until")
        assert "2027-02-01" in raised.value.hint


@given(st.dates(date(1970, 1, 1), date(2200, 1, 1)), st.integers(1, 400))
def test_read_date_counts_words_from_today(today: date, days: int) -> None:
    now = datetime.combine(today, time(23, 59))
    assert read_date(f"in {days} days", now, option="x") == (today + timedelta(days=days)).isoformat()


WORDS = st.sampled_from(
    ["in", "a", "3", "31", "0", "9999", "2027", "days", "years", "ago", "the", "end of", "next", "last", "may",
     "friday", "q1", "30th", "and", "from now"]
)  # fmt: skip


@given(st.text(max_size=40) | st.lists(WORDS, max_size=5).map(" ".join))
def test_read_date_returns_a_date_or_a_usage_error(text: str) -> None:
    with suppress(UsageError):
        assert datetime.fromisoformat(read_date(text, NOW, option="x"))


def test_leading_date_finds_a_date_at_the_beginning() -> None:
    expected = in_iso_format(CASES["beginnings"])
    assert {text: leading_date(text, NOW) for text in expected} == expected
