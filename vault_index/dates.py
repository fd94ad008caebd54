"""Parse dates as people write them: ISO dates, relative dates, months and quarters.

As an end, a period means its last day; as a start, its first.
"""

import re
from calendar import monthrange
from contextlib import suppress
from datetime import date, datetime, time, timedelta

from vault_index.errors import UsageError

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = (
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?"
    r"|sat(?:urday)?|sun(?:day)?)"
)
_LENGTHS = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(1),
    "week": timedelta(7),
    "fortnight": timedelta(14),
}
_IN_MONTHS = {"month": 1, "year": 12}
_UNIT = rf"(?:{'|'.join((*_LENGTHS, *_IN_MONTHS))})s?"
_WORDS = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_NUMBERS = {"a": 1, "an": 1, "next": 1, "last": 1, "thirty": 30, "sixty": 60, "ninety": 90} | {
    word: number for number, word in enumerate(_WORDS, start=1)
}
_NUMBER = rf"(?:\d{{1,4}}|an?|{'|'.join(_WORDS)}|thirty|sixty|ninety)"
_DAY_OF_MONTH = r"(?:the )?(\d{1,2})(?:st|nd|rd|th)?"

_END = r"(?:(?:the )?end of )?"
_MONTH_ONLY = re.compile(rf"{_END}({_MONTH})(?: (?:of )?(\d{{4}}))?")
_YEAR_OR_ISO_MONTH = re.compile(rf"{_END}(\d{{4}})(?:-(\d\d))?")
_QUARTER = re.compile(rf"{_END}(?:q([1-4])[ /-]?(\d{{4}})?|(\d{{4}})[ /-]?q([1-4]))")
_END_OF = re.compile(
    r"(?:the )?end of (?:the )?(this |current |next )?(week|month|quarter|year)"
    r"|(next |this )quarter"
)
_THIS = re.compile(r"this (week|month|quarter|year)")
_WEEKDAY = re.compile(rf"(?:on )?(?:the )?(this |next |coming |last )?({_DAY})")
_NEAR = {
    "yesterday": -1,
    "today": 0,
    "tomorrow": 1,
    "day after tomorrow": 2,
    "the day after tomorrow": 2,
}
_RELATIVE = re.compile(
    rf"(?:next|last) (?:week|month|year)|(?:in )?{_NUMBER} {_UNIT}(?:(?: and)? {_NUMBER} {_UNIT})*"
    r"(?: from (?:now|today)| ago)?"
)
_SHORT_UNITS = {"h": "hours", "d": "days", "w": "weeks", "y": "years"}
_SHORT = re.compile(r"\b(\d{1,4}) ?([hdwy])\b")
_PAST = re.compile(
    r"(?:(?:in|within|over|during) )?(?:the )?(?:last|past) "
    rf"(?:({_NUMBER} {_UNIT})|(week|month|year))"
)
_COUNT = re.compile(rf"({_NUMBER}|next|last) ({_UNIT})")
_TIME = re.compile(r"(.+?) (?:at )?(\d{1,2}):(\d\d)(?::(\d\d))?(?: ?([ap])\.?m\.?)?")
_WRITTEN = re.compile(
    rf"(?:on )?(?:{_DAY} )?(?:{_DAY_OF_MONTH} (?:of )?({_MONTH})|({_MONTH}) {_DAY_OF_MONTH})"
    r"(?: (?:of )?(\d{4}))?"
)
_TWO_CLOCKS = (datetime(2001, 3, 5), datetime(2014, 10, 22))
_NUMERIC = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}")


def read_date(text: str, now: datetime, *, option: str) -> str:
    """Parse an ISO date, a relative date (`in 3 months`, `next friday`) or a period, as an end.

    Returns an ISO date such as `2027-03-31`, with a time if the text has one (`in 2 hours`). A
    period (`Q1 2027`, `March 2027`) gives its last day. Raises UsageError that names `option`.
    """
    if found := _read(text, now):
        return _iso(found)
    if _NUMERIC.fullmatch(text.strip()):
        raise UsageError(
            f"{option}: {text.strip()!r} is ambiguous: day or month first",
            "write the year first: 2027-02-01",
        )
    raise UsageError(
        f"{option}: not a date: {text!r}",
        "write it like 2027-02-01, Q1 2027, March 2027, in 3 months, 90 days, next friday "
        "or end of year",
    )


def read_start(text: str, now: datetime) -> datetime | None:
    """Parse the start of a period, usually past: `last week`, `3 days ago`, `monday`, `March`.

    None if the text is not a date.
    """
    found = _read(text, now, first=True)
    return (
        found if found is None or isinstance(found, datetime) else datetime.combine(found, time())
    )


def written_date(text: str, *, first: bool) -> date | None:
    """Parse a date in a file: a day, a moment, or the first or last day of a period.

    None for a date that depends on the clock, such as `tomorrow` or `March`. A link
    (`[[2027-02-01]]`) means its day.
    """
    said = (
        text.strip().strip("[]").partition("|")[0].rpartition("/")[2]
        if text.strip().startswith("[[")
        else text
    )
    early, late = (_read(said, now, first=first) for now in _TWO_CLOCKS)
    return early if early == late else None


def leading_date(text: str, now: datetime) -> str | None:
    """Parse the longest date at the start of a text, as `read_date` does.

    `next friday, then …` gives a Friday.
    """
    words = re.findall(r"[^\s,;:!?()\"*_`]+[,;:!?()\"*_`]*", text[:80])[:8]
    for count in range(len(words), 0, -1):
        if found := _read(" ".join(words[:count]).rstrip(',;:!?()."*_`'), now):
            return _iso(found)
    return None


def _iso(found: date) -> str:
    return found.isoformat(timespec="seconds") if isinstance(found, datetime) else found.isoformat()


def _read(text: str, now: datetime, *, first: bool = False) -> date | None:
    """Return a day, or a moment if the text has a time."""
    text, today = text.strip(), now.date()
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(text.upper())
        if len(text) <= len("2027-W05-1"):  # also `20270201`
            return moment.date()
        return moment if moment.tzinfo else moment.astimezone()
    words = " ".join(re.sub(r"(?<=[a-z\d])[,.](?=\s|$)", " ", text.lower()).split())
    words = _SHORT.sub(lambda match: f"{match[1]} {_SHORT_UNITS[match[2]]}", words)
    if past := _PAST.fullmatch(words):
        words = f"{past[1]} ago" if past[1] else f"last {past[2]}"
    try:
        if at := _TIME.fullmatch(words):
            day = _read(at[1], now, first=first)
            if day is None or isinstance(day, datetime):
                return None
            hour = int(at[2]) if at[5] is None else int(at[2]) % 12 + 12 * (at[5] == "p")
            return datetime.combine(day, time(hour, int(at[3]), int(at[4] or 0))).astimezone()
        return (
            _period(words, today, first=first)
            or _weekday(words, today, first=first)
            or _relative(words, now, back=first)
            or _written(words, today, first=first)
        )
    except (ValueError, OverflowError):
        return None


def _period(words: str, today: date, *, first: bool) -> date | None:
    """Return the last (or first) day of a month, quarter or year.

    Without a year, it is the next period to end, or the last one that began.
    """
    first = first and "end of" not in words
    if match := _YEAR_OR_ISO_MONTH.fullmatch(words):
        month = int(match[2] or 0)
        return _edge(int(match[1]), month or 1, 1 if match[2] else 12, first=first)
    if match := _QUARTER.fullmatch(words):
        return _in_year(
            int(match[1] or match[4]) * 3 - 2, 3, match[2] or match[3], today, first=first
        )
    if match := _MONTH_ONLY.fullmatch(words):
        return _in_year(_MONTHS.index(match[1][:3]) + 1, 1, match[2], today, first=first)
    if first and (match := _THIS.fullmatch(words)):
        return _this(match[1], today, following=False, first=True)
    if match := _END_OF.fullmatch(words):
        return _this(
            match[2] or "quarter", today, following="next " in match.group(1, 3), first=first
        )
    return None


def _in_year(month: int, months: int, year: str | None, today: date, *, first: bool) -> date:
    if year is None:
        passed = today.month > month + months - 1
        return _edge(
            today.year - (month > today.month) if first else today.year + passed,
            month,
            months,
            first=first,
        )
    return _edge(int(year), month, months, first=first)


def _this(unit: str, today: date, *, following: bool, first: bool) -> date:
    """Return the last (or first) day of this or the following week, month, quarter or year."""
    if unit == "week":
        return today + timedelta(days=6 * (not first) - today.weekday() + 7 * following)
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    begins = (today.month - 1) // months * months + months * following
    return _edge(today.year + begins // 12, begins % 12 + 1, months, first=first)


def _edge(year: int, month: int, months: int, *, first: bool) -> date:
    """Return the first or last day of a period of `months` months that begins with this one."""
    last = month + months - 1
    return date(year, month, 1) if first else date(year, last, monthrange(year, last)[1])


def _weekday(words: str, today: date, *, first: bool) -> date | None:
    """Return the next such weekday after today; with `last`, the one before today.

    As a start, return the last such weekday, or today.
    """
    if not (match := _WEEKDAY.fullmatch(words)):
        return None
    ahead = (_DAYS.index(match[2][:3]) - today.weekday() - 1) % 7 + 1
    before = match[1] == "last " or (first and match[1] is None)
    return today + timedelta(
        days=ahead - 7 - 7 * (ahead == 7 and match[1] == "last ") if before else ahead
    )


def _relative(words: str, now: datetime, *, back: bool) -> date | None:
    """Return a date relative to now, or a moment if it counts hours or minutes."""
    if words == "now" and now.tzinfo:
        return now.replace(microsecond=0)
    if words in _NEAR:
        return now.date() + timedelta(days=_NEAR[words])
    if not _RELATIVE.fullmatch(words):
        return None
    ahead = words.startswith(("in ", "next ")) or words.endswith((" now", " today"))
    sign = -1 if words.startswith("last ") or words.endswith(" ago") or (back and not ahead) else 1
    months, rest, exact = 0, timedelta(), False
    for number, name in _COUNT.findall(words):
        unit, count = name.removesuffix("s"), sign * (_NUMBERS.get(number) or int(number))
        months += count * _IN_MONTHS.get(unit, 0)
        rest += count * _LENGTHS.get(unit, timedelta())
        exact = exact or unit in ("hour", "minute")
    year, month = divmod(now.year * 12 + now.month - 1 + months, 12)
    day = min(now.day, monthrange(year, month + 1)[1])
    moment = now.replace(year=year, month=month + 1, day=day, microsecond=0) + rest
    if exact:  # hours from a day without a time are undefined
        return moment.astimezone() if now.tzinfo else None
    return moment.date()


def _written(words: str, today: date, *, first: bool) -> date | None:
    """Return the next such day after today; as a start, the last one or today.

    29 February moves to the nearest leap year.
    """
    if match := re.fullmatch(r"(\d{4})/(\d{1,2})/(\d{1,2})", words):
        return date(*map(int, match.groups()))
    if not (match := _WRITTEN.fullmatch(words)):
        return None
    month, day = _MONTHS.index((match[2] or match[3])[:3]) + 1, int(match[1] or match[4])
    if match[5]:
        return date(int(match[5]), month, day)
    years = range(today.year, today.year + (-9 if first else 9), -1 if first else 1)
    found = (date(year, month, day) for year in years if 1 <= day <= monthrange(year, month)[1])
    return next((one for one in found if (one <= today if first else one > today)), None)
