"""Times as they are answered: local, with their offset, to the second."""

from datetime import datetime


def iso_time(seconds: float) -> str:
    """The ISO 8601 text of a time in seconds since the epoch."""
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")


def iso_time_or_none(seconds: float | None) -> str | None:
    return None if seconds is None else iso_time(seconds)


def local_day(seconds: float) -> str:
    """The day of a time in the local zone, as `2026-11-21`."""
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d")
