from contextlib import suppress
from datetime import date, datetime, time, timedelta

import pytest
from hypothesis import given, strategies as st

from vault_index.dates import leading_date, read_date, read_start, written_date
from vault_index.errors import UsageError

TODAY = date(2026, 11, 21)  # a Saturday
NOW = datetime(2026, 11, 21, 13, 5, 30).astimezone()


def local(*parts: int) -> str:
    return datetime(*parts).astimezone().isoformat(timespec="seconds")  # type: ignore[arg-type]


DATES = {
    "2027-02-01": "2027-02-01", " 2027-02-01 ": "2027-02-01", "20270201": "2027-02-01", "2027/2/1": "2027-02-01",
    "2027-02-01T10:00:00": local(2027, 2, 1, 10), "2027-02-01T23:30:00-08:00": "2027-02-01T23:30:00-08:00",
    "2027-02-01t10:00z": "2027-02-01T10:00:00+00:00", "2027-02-01 10:00": local(2027, 2, 1, 10),
    "tomorrow at 9:30": local(2026, 11, 22, 9, 30), "next friday 17:00": local(2026, 11, 27, 17),
    "15 March 2027 08:00": local(2027, 3, 15, 8), "in 2 hours": local(2026, 11, 21, 15, 5, 30),
    "90 minutes": local(2026, 11, 21, 14, 35, 30), "in a day and 12 hours": local(2026, 11, 23, 1, 5, 30),
    "2027-02": "2027-02-28", "2027": "2027-12-31", "today": "2026-11-21", "Tomorrow": "2026-11-22",
    "the day after tomorrow": "2026-11-23", "yesterday": "2026-11-20", "in 3 months": "2027-02-21",
    "3 months": "2027-02-21", "90 days": "2027-02-19", "2 weeks": "2026-12-05", "in a week": "2026-11-28",
    "in a fortnight": "2026-12-05", "two weeks from now": "2026-12-05", "in 1 year and 2 months": "2028-01-21",
    "in  18\tmonths": "2028-05-21", "3 days ago": "2026-11-18", "next week": "2026-11-28",
    "next month": "2026-12-21", "next year": "2027-11-21", "friday": "2026-11-27", "next friday": "2026-11-27",
    "this Fri": "2026-11-27", "on monday": "2026-11-23", "saturday": "2026-11-28", "last saturday": "2026-11-14",
    "last friday": "2026-11-20", "15 March 2027": "2027-03-15", "March 15, 2027": "2027-03-15",
    "the 5th of January 2027": "2027-01-05", "Mon, 1 Feb 2027": "2027-02-01", "Sept. 3": "2027-09-03",
    "29 february 2028": "2028-02-29", "29 february": "2028-02-29", "21 november": "2027-11-21",
    "november 22nd": "2026-11-22", "March 2027": "2027-03-31", "feb. 2028": "2028-02-29", "november": "2026-11-30",
    "May": "2027-05-31", "end of march": "2027-03-31", "Q1 2027": "2027-03-31", "2027-Q2": "2027-06-30",
    "q3": "2027-09-30", "Q4": "2026-12-31", "end of Q4 2027": "2027-12-31", "next quarter": "2027-03-31",
    "end of year": "2026-12-31", "the end of next year": "2027-12-31", "end of the month": "2026-11-30",
    "end of next month": "2026-12-31", "end of quarter": "2026-12-31", "end of week": "2026-11-22",
    "end of 2027": "2027-12-31", "7d": "2026-11-28", "2w": "2026-12-05", "30 d": "2026-12-21",
    "in 1y": "2027-11-21", "12h": local(2026, 11, 22, 1, 5, 30), "now": local(2026, 11, 21, 13, 5, 30),
    "in 3 weeks": "2026-12-12",
}  # fmt: skip


def test_read_date_accepts_common_notations() -> None:
    assert {text: read_date(text, NOW, option="--expires") for text in DATES} == DATES


STARTS = {
    "2026-11-01": (2026, 11, 1), "2026-11-01 15:00": (2026, 11, 1, 15), "2026": (2026, 1, 1),
    "2026-03": (2026, 3, 1), "last week": (2026, 11, 14), "last month": (2026, 10, 21),
    "3 days ago": (2026, 11, 18), "3 days": (2026, 11, 18), "two weeks ago": (2026, 11, 7),
    "2 hours ago": (2026, 11, 21, 11, 5, 30), "yesterday": (2026, 11, 20), "today": (2026, 11, 21),
    "tomorrow": (2026, 11, 22), "in 3 days": (2026, 11, 24), "this week": (2026, 11, 16),
    "this year": (2026, 1, 1), "monday": (2026, 11, 16), "saturday": (2026, 11, 21),
    "last saturday": (2026, 11, 14), "next friday": (2026, 11, 27), "March": (2026, 3, 1),
    "December": (2025, 12, 1), "march 2025": (2025, 3, 1), "Q4": (2026, 10, 1), "Q1 2027": (2027, 1, 1),
    "24 December": (2025, 12, 24), "21 november": (2026, 11, 21), "29 february": (2024, 2, 29), "banana": None,
    "7d": (2026, 11, 14), "2w": (2026, 11, 7), "12h": (2026, 11, 21, 1, 5, 30), "30d ago": (2026, 10, 22),
    "in the last 7 days": (2026, 11, 14), "the past two weeks": (2026, 11, 7), "past month": (2026, 10, 21),
    "last 12h": (2026, 11, 21, 1, 5, 30), "now": (2026, 11, 21, 13, 5, 30),
    "2026-13": None,
}  # fmt: skip


WRITTEN = {
    "Tuesday, November 20th 2018, 1:02:03 pm": (2018, 11, 20, 13, 2, 3), "20 Nov 2018": (2018, 11, 20),
    "2018/11/20": (2018, 11, 20), "[[Daily/2018-11-20|Tuesday]]": (2018, 11, 20), "2018-11": (2018, 11, 1),
    "2018-11-20 12:05 am": (2018, 11, 20, 0, 5), "Q2 2019": (2019, 4, 1), "tomorrow": None, "March": None,
    "last week": None, "now": None, "5 March": None, "end of year": None,
}  # fmt: skip


def test_written_date_does_not_depend_on_the_clock() -> None:
    found = {text: written_date(text, first=True) for text in WRITTEN}
    assert {text: day and tuple(day.timetuple()[: len(WRITTEN[text] or ())]) for text, day in found.items()} == WRITTEN


def test_read_start_returns_the_first_and_most_likely_past_moment() -> None:
    found = {text: read_start(text, NOW) for text in STARTS}
    assert {text: start and local(*start.timetuple()[:6]) for text, start in found.items()} == {
        text: parts and local(*parts) for text, parts in STARTS.items()
    }


NO_DATES = [
    "", " ", "banana", "maybe later", "5", "12", "v2.0", "1.2.3", "soon", "never", "may be", "in", "in 5", "10:30",
    "noon", "3m", "second", "friday 13", "5 march 2", "february 30", "31 april 2027", "2027-13-01", "2027-02-30",
    "0 march", "1767225600", "12 2027", "tomorrow or later", "the release", "in 99999 years", "in 9000 years",
    "9999 years", "Q5 2027", "Q0", "spring 2027", "in -3 months", "0000", "in 1.5 years", "days", "next", "the end",
    "in drei Monaten", "dans 3 mois", "\x00", "２０２７-02-01 x", "2027-02-01 or so",
]  # fmt: skip


def test_read_date_refuses_other_text_with_examples() -> None:
    for text in NO_DATES:
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


BEGINNINGS = {
    "next friday, then delete it": "2026-11-27", "March 2027 at the latest": "2027-03-31",
    "March 15, 2027, when it ends": "2027-03-15", "2027-02-01.": "2027-02-01",
    "2027-02-01 15:00, when it ends": local(2027, 2, 1, 15), "Q2 2027) because": "2027-06-30",
    "in 2 hours": local(2026, 11, 21, 15, 5, 30), "2w, then delete it": "2026-12-05",
    "the release in May": None, "we know more": None, "": None,
}  # fmt: skip


def test_leading_date_finds_a_date_at_the_beginning() -> None:
    assert {text: leading_date(text, NOW) for text in BEGINNINGS} == BEGINNINGS
