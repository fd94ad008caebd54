"""Dates as people write them: ISO, plain words, quarters. A period means its last day: what is asked for is an end."""

import re
from calendar import monthrange
from datetime import date, datetime, timedelta

from vault_index.errors import UsageError

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
_UNIT = r"(?:days?|weeks?|fortnights?|months?|years?)"
_NUMBER = r"(?:\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirty|sixty|ninety)"
_DAY_OF_MONTH = r"(?:the )?\d{1,2}(?:st|nd|rd|th)?"

_END = r"(?:(?:the )?end of )?"
_MONTH_ONLY = re.compile(rf"{_END}({_MONTH})(?: (?:of )?(\d{{4}}))?")
_YEAR_OR_ISO_MONTH = re.compile(rf"{_END}(\d{{4}})(?:-(\d\d))?")
_QUARTER = re.compile(rf"{_END}(?:q([1-4])[ /-]?(\d{{4}})?|(\d{{4}})[ /-]?q([1-4]))")
_END_OF = re.compile(r"(?:the )?end of (?:the )?(this |current |next )?(week|month|quarter|year)|(next |this )quarter")
_WEEKDAY = re.compile(rf"(?:on )?(?:the )?(this |next |coming |last )?({_DAY})")
_PLAIN = re.compile(
    r"today|tomorrow|yesterday|(?:the )?day after tomorrow|(?:next|last) (?:week|month|year)"
    rf"|(?:in )?{_NUMBER} {_UNIT}(?:(?: and)? {_NUMBER} {_UNIT})*(?: from (?:now|today)| ago)?"
    rf"|(?:on )?(?:{_DAY} )?(?:{_DAY_OF_MONTH} (?:of )?{_MONTH}|{_MONTH} {_DAY_OF_MONTH})(?: (?:of )?\d{{4}})?"
)
"""What is given to dateparser, which reads `5` and `may be` as dates too when it is let."""
_NUMERIC = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}")


def read_date(text: str, today: date, *, option: str) -> str:
    """The day of an ISO date or time, of words (`in 3 months`, `next friday`, `end of year`), or the last day of a
    period (`Q1 2027`, `March 2027`), as `2027-03-31`. Raises UsageError that names `option`."""
    found = _read(text, today)
    if found:
        return found.isoformat()
    if _NUMERIC.fullmatch(text.strip()):
        raise UsageError(
            f"{option}: {text.strip()!r} may be read in two ways, day or month first",
            "write the year first: 2027-02-01",
        )
    raise UsageError(
        f"{option}: not a date: {text!r}",
        "write it like 2027-02-01, Q1 2027, March 2027, in 3 months, 90 days, next friday or end of year",
    )


def leading_date(text: str, today: date) -> str | None:
    """The longest date that the text begins with, as `read_date` gives it: `next friday, then …` is a friday."""
    words = re.findall(r"[^\s,;:!?()\"*_`]+[,;:!?()\"*_`]*", text[:80])[:8]
    for count in range(len(words), 0, -1):
        found = _read(" ".join(words[:count]).rstrip(',;:!?()."*_`'), today)
        if found:
            return found.isoformat()
    return None


def _read(text: str, today: date) -> date | None:
    text = text.strip()
    try:
        return datetime.fromisoformat(text.upper()).date()
    except ValueError:
        pass
    words = " ".join(re.sub(r"(?<=[a-z\d])[,.](?=\s|$)", " ", text.lower()).split())
    try:
        return _period(words, today) or _weekday(words, today) or _plain(words, today)
    except (ValueError, OverflowError):
        return None


def _period(words: str, today: date) -> date | None:
    """The last day of a month, a quarter, a year. Without its year it is the one that ends next."""
    if match := re.fullmatch(r"(\d{4})/(\d{1,2})/(\d{1,2})", words):
        return date(*map(int, match.groups()))
    if match := _YEAR_OR_ISO_MONTH.fullmatch(words):
        return _last_day(int(match[1]), int(match[2] or 12))
    if match := _QUARTER.fullmatch(words):
        return _end_of_month(int(match[1] or match[4]) * 3, match[2] or match[3], today)
    if match := _MONTH_ONLY.fullmatch(words):
        return _end_of_month(_MONTHS.index(match[1][:3]) + 1, match[2], today)
    if match := _END_OF.fullmatch(words):
        following = (match[1] or match[3]) == "next "
        return _end_of(match[2] or "quarter", today, following=following)
    return None


def _end_of_month(month: int, year: str | None, today: date) -> date:
    return _last_day(int(year) if year else today.year + (month < today.month), month)


def _end_of(unit: str, today: date, *, following: bool) -> date:
    if unit == "week":
        return today + timedelta(days=6 - today.weekday() + 7 * following)
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    first = (today.month - 1) // months * months + months * following
    last = first + months - 1
    return _last_day(today.year + last // 12, last % 12 + 1)


def _last_day(year: int, month: int) -> date:
    return date(year, month, monthrange(year, month)[1])


def _weekday(words: str, today: date) -> date | None:
    """The next day of that name, never today; with `last` the one before."""
    match = _WEEKDAY.fullmatch(words)
    if not match:
        return None
    ahead = (_DAYS.index(match[2][:3]) - today.weekday() - 1) % 7 + 1
    return today + timedelta(days=ahead - 7 - 7 * (ahead == 7) if match[1] == "last " else ahead)


def _plain(words: str, today: date) -> date | None:
    if not _PLAIN.fullmatch(words):
        return None
    from dateparser.date import DateDataParser  # a quarter of a second until its first date

    settings = {
        "RELATIVE_BASE": datetime(today.year, today.month, today.day),
        "PREFER_DATES_FROM": "future",
        "PARSERS": ["relative-time", "absolute-time"],
        "REQUIRE_PARTS": ["day", "month"],
    }
    found = DateDataParser(languages=["en"], settings=settings).get_date_data(words).date_obj
    return found.date() if found else None
