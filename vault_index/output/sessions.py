"""Rows and summaries of sessions, shared by all formats."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from vault_index.output.text import counted, moment, one_line, when, with_short_ids

Record = Mapping[str, Any]

_SHOWN = 8
"""Maximum number of sessions, files, programs or commands in a summary."""
_COMMAND_LENGTH = 80
"""Characters after which a command is cut."""


def session_rows(result: Record) -> list[dict[str, Any]]:
    """Return sessions with short ids, durations, and their use of the requested file."""
    return [
        {**record, "spent": spent(record["duration"]), "touched": _touched(record)}
        for record in with_short_ids(result["results"])
    ]


def count_of(result: Record) -> str:
    """Return the number of shown sessions and the total.

    The total is unknown for sessions that touched a file.
    """
    shown, total = len(result["results"]), result["total"]
    return f"{shown:,} of more" if total is None else f"{shown:,} of {counted(total, 'session')}"


def spent(seconds: int) -> str:
    """Format a duration in seconds, rounded to minutes: `3 h 12 min`, `<1 min`."""
    hours, minutes = divmod(round(seconds / 60), 60)
    short = f"{minutes} min" if minutes else "<1 min"
    return f"{hours} h {minutes} min" if hours else short


def summary_head(result: Record) -> str:
    """Return the time span and totals of a summary.

    Examples: `Since 2026-11-21: 6 sessions · 3 h 12 min · 412,000 tokens`, `Since … until …`, or
    `On 2026-11-21: …`.
    """
    since, until = when(result["since"]), when(result["until"] or "")
    if until and ":" not in until:
        until = str(date.fromisoformat(until) - timedelta(1))
    ending = f" until {until}" if until else ""
    time = f"On {since}" if since == until else f"Since {since}{ending}"
    if not result["results"]:
        return f"{time}: no sessions"
    return f"{time}: {_joined(counted(result['sessions'], 'session'), result)}"


def work_head(work: Record) -> str:
    """Return the totals of the work on a project."""
    subagents = f" and {counted(work['subagents'], 'subagent')}" if work["subagents"] else ""
    return _joined(f"{counted(len(work['sessions']), 'session')}{subagents}", work)


def held(work: Record) -> list[tuple[str, str, str]]:
    """Return time span, title and details of the sessions of a project; of many, the last 8."""
    shown = with_short_ids(work["sessions"])[-_SHOWN:]
    rows = [
        (_from_to(one), one_line(one["title"]), _joined(one["client"], one, mark=one["id"]))
        for one in shown
    ]
    more = len(work["sessions"]) - len(shown)
    return [("", f"{more} before", ""), *rows] if more else rows


def done(work: Record) -> list[tuple[str, str]]:
    """Return the work on a project as rows named `wrote`, `ran`, `failing`, `failed, then ok`."""
    programs = [f"{one['program']} {one['runs']}{_failed(one)}" for one in work["programs"]]
    failing = [_command(one) for one in work["failing"] if one["outcome"] != "ok"]
    fixed = [_command(one) for one in work["failing"] if one["outcome"] == "ok"]
    written = [f"{one['path']}{_times(one['edits'])}" for one in work["written"]]
    rows = (
        ("wrote", _limited(written, work["files"])),
        ("ran", _limited(programs)),
        ("failing", _limited(failing)),
        ("failed, then ok", _limited(fixed)),
    )
    return [(name, text) for name, text in rows if text]


def _joined(first: str, record: Record, mark: str = "") -> str:
    tokens = counted(record["tokens"], "token") if record.get("tokens") else ""
    return " · ".join(filter(None, (first, spent(record["duration"]), tokens, mark)))


def _touched(record: Record) -> str:
    edits, reads = record.get("edits"), record.get("reads")
    read = f"read{_times(reads)}" if reads else ""
    return f"wrote{_times(edits)}" if edits else read


def _times(count: int) -> str:
    return f" ×{count}" if count > 1 else ""


def _failed(one: Record) -> str:
    return f" ({one['failed']} failed)" if one["failed"] else ""


def _command(one: Record) -> str:
    """Return a command, with its result if it failed or ran several times."""
    command = one_line(one["command"])
    command = command if len(command) <= _COMMAND_LENGTH else f"{command[: _COMMAND_LENGTH - 1]}…"
    again = f"{one['failed']} of {one['runs']}" if one["runs"] > 1 else ""
    ended = ", ".join(filter(None, ("" if one["outcome"] == "ok" else one["outcome"], again)))
    return f"{command} ({ended})" if ended else command


def _limited(texts: list[str], total: int = 0) -> str:
    """Join the first texts; say how many more there are."""
    more = max(total, len(texts)) - len(texts[:_SHOWN])
    return ", ".join([*texts[:_SHOWN], *([f"and {more} more"] if more > 0 else [])])


def _from_to(one: Record) -> str:
    """Return the time span without the year, which the head of the summary shows."""
    began, ended = moment(one["began"])[5:], moment(one["ended"])[5:]
    end = ended[6:] if began[:5] == ended[:5] else ended
    return began if began == ended else f"{began}–{end}"
