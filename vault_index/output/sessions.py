"""Sessions, and what was worked on in them, as all formats tell it."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from vault_index.output.short import counted, moment, one_line, when, with_short_ids

Record = Mapping[str, Any]

_SHOWN = 8  # sessions, files, programs or commands in a line of a summary
_LONGEST = 80  # characters of a command


def session_rows(result: Record) -> list[dict[str, Any]]:
    """Sessions with short ids, how long they took, and what became of the file that was asked for."""
    return [
        {**record, "spent": spent(record["duration"]), "touched": _touched(record)}
        for record in with_short_ids(result["results"])
    ]


def count_of(result: Record) -> str:
    """How many are shown, of how many; those that touched a file are not all counted."""
    shown, total = len(result["results"]), result["total"]
    return f"{shown:,} of more" if total is None else f"{shown:,} of {counted(total, 'session')}"


def spent(seconds: int) -> str:
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes else "<1 min"


def summary_head(result: Record) -> str:
    """`Since 2026-11-21: 6 sessions · 3 h 12 min · 412,000 tokens`; or with the last day that counts, or on one day."""
    since, until = when(result["since"]), when(result["until"] or "")
    if until and ":" not in until:
        until = str(date.fromisoformat(until) - timedelta(1))
    time = f"On {since}" if since == until else f"Since {since}{f' until {until}' if until else ''}"
    if not result["results"]:
        return f"{time}: no sessions"
    return f"{time}: {_joined(counted(result['sessions'], 'session'), result)}"


def work_head(work: Record) -> str:
    subagents = f" and {counted(work['subagents'], 'subagent')}" if work["subagents"] else ""
    return _joined(f"{counted(len(work['sessions']), 'session')}{subagents}", work)


def held(work: Record) -> list[tuple[str, str, str]]:
    """The sessions of a project: when, their titles, and the rest; of many the last."""
    shown = with_short_ids(work["sessions"])[-_SHOWN:]
    rows = [
        (_from_to(one), one_line(one["title"]), _joined(one["client"], one, mark=one["id"]))
        for one in shown
    ]
    more = len(work["sessions"]) - len(shown)
    return [("", f"{more} before", ""), *rows] if more else rows


def done(work: Record) -> list[tuple[str, str]]:
    """What was done for a project, under names: `wrote`, `ran`, `failing`."""
    programs = [f"{one['program']} {one['runs']}{_failed(one)}" for one in work["programs"]]
    failing = [_told(one) for one in work["failing"] if one["outcome"] != "ok"]
    mended = [_told(one) for one in work["failing"] if one["outcome"] == "ok"]
    written = [f"{one['path']}{_times(one['edits'])}" for one in work["written"]]
    rows = (
        ("wrote", _listed(written, work["files"])),
        ("ran", _listed(programs)),
        ("failing", _listed(failing)),
        ("failed, then ok", _listed(mended)),
    )
    return [(name, text) for name, text in rows if text]


def _joined(first: str, record: Record, mark: str = "") -> str:
    tokens = counted(record["tokens"], "token") if record.get("tokens") else ""
    return " · ".join(filter(None, (first, spent(record["duration"]), tokens, mark)))


def _touched(record: Record) -> str:
    edits, reads = record.get("edits"), record.get("reads")
    return f"wrote{_times(edits)}" if edits else f"read{_times(reads)}" if reads else ""


def _times(count: int) -> str:
    return f" ×{count}" if count > 1 else ""


def _failed(one: Record) -> str:
    return f" ({one['failed']} failed)" if one["failed"] else ""


def _told(one: Record) -> str:
    command = one_line(one["command"])
    command = command if len(command) <= _LONGEST else f"{command[: _LONGEST - 1]}…"
    again = f"{one['failed']} of {one['runs']}" if one["runs"] > 1 else ""
    ended = ", ".join(filter(None, ("" if one["outcome"] == "ok" else one["outcome"], again)))
    return f"{command} ({ended})" if ended else command


def _listed(texts: list[str], total: int = 0) -> str:
    more = max(total, len(texts)) - len(texts[:_SHOWN])
    return ", ".join([*texts[:_SHOWN], *([f"and {more} more"] if more > 0 else [])])


def _from_to(one: Record) -> str:
    """Without the year, which stands above."""
    began, ended = moment(one["began"])[5:], moment(one["ended"])[5:]
    return began if began == ended else f"{began}–{ended[6:] if began[:5] == ended[:5] else ended}"
