"""Format times for answers: local, with offset, to the second."""

from datetime import UTC, datetime

_FIRST, _LAST = (datetime(*day, tzinfo=UTC) for day in ((1, 1, 3), (9999, 12, 30)))


def seconds_of(moment: datetime) -> float:
    """Return seconds since the epoch.

    Clamp the ends of the calendar, which some zones lack, by up to two days.
    """
    try:
        return clamped(moment.timestamp())
    except (ValueError, OverflowError):
        return (_FIRST if moment.year < 5000 else _LAST).timestamp()


def clamped(seconds: float) -> float:
    """Return the nearest time that every zone can show."""
    return min(max(seconds, _FIRST.timestamp()), _LAST.timestamp())


def iso_time(seconds: float) -> str:
    """Return the ISO 8601 text of a time in seconds since the epoch."""
    return datetime.fromtimestamp(clamped(seconds)).astimezone().isoformat(timespec="seconds")


def iso_time_or_none(seconds: float | None) -> str | None:
    """Return `iso_time`, or None for None."""
    return None if seconds is None else iso_time(seconds)


def local_day(seconds: float) -> str:
    """Return the local day of a time, such as `2026-11-21`."""
    return datetime.fromtimestamp(clamped(seconds)).date().isoformat()
