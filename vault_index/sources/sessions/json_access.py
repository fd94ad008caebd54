"""Accessors for untrusted JSON: a value of an unexpected type counts as absent."""

import json
import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vault_index.markdown.recalled import drop_recalled, is_own_tool, own_run
from vault_index.secrets.find import drop_private, redact
from vault_index.sources.sessions.model import LeftOut, ToolCall
from vault_index.unicode import mended

Json = dict[str, Any]

_BEYOND_TIME = 1 << 53
"""Exclusive limit of numbers, because JSON allows `1e999` and hundreds of digits."""
_LATEST = 1 << 43
"""Exclusive limit of times, which fit in 63 bits as nanoseconds."""
_SECONDS = 100_000_000_000
"""Times below are in seconds, others in milliseconds."""
_LONGEST_TITLE = 100
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
# The most informative argument first: `grep` has a pattern and a path.
_TARGETS = (
    "command",
    "cmd",
    "filePath",
    "file_path",
    "pattern",
    "url",
    "query",
    "description",
    "path",
    "name",
)


def read_object(data: bytes, what: str, problems: list[str]) -> Json | None:
    """Parse a JSON object; on failure, add a problem that names `what` and return None."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        reason = (
            error.msg
            if isinstance(error, json.JSONDecodeError)
            else "nested too deeply or not UTF-8"
        )
        problems.append(f"{what} cannot be read ({reason})")
        return None
    if not isinstance(value, dict):
        problems.append(f"{what} is not a JSON object")
        return None
    return value


def object_from(text: str) -> Json:
    """Parse a JSON object; empty if the text is none."""
    return read_object(text.encode(), "", []) or {}


def object_in(file: Path) -> Json:
    """Read a JSON object from a file; empty if it cannot be read."""
    with suppress(OSError):
        return read_object(file.read_bytes(), "", []) or {}
    return {}


def id_in(text: str) -> str:
    """Return a text that may be the id of a session; else empty."""
    return text if _ID.fullmatch(text) else ""


def text_of(value: Json, *path: str) -> str:
    """Return the string below these keys, as valid Unicode; empty if absent."""
    found = _at(value, path)
    return str(mended(found)) if isinstance(found, str) else ""


def millis_of(value: Json, *path: str) -> int | None:
    """Return a number as an integer (usually milliseconds), or None."""
    found = _at(value, path)
    number = isinstance(found, int | float) and not isinstance(found, bool)
    return int(found) if number and abs(found) < _BEYOND_TIME else None


def time_of(value: Json, *path: str) -> int | None:
    """Parse an ISO 8601 time to milliseconds since the epoch; UTC if it has no zone.

    None if invalid.
    """
    try:
        found = datetime.fromisoformat(text_of(value, *path))
        return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def since_epoch(value: Any) -> int:
    """Return a time in seconds or milliseconds as milliseconds; 0 if it is none."""
    number = value if isinstance(value, int | float) and 0 < value < _LATEST else 0
    return int(number if number >= _SECONDS else 1000 * number)


def list_of(value: Json, *path: str) -> list[Any]:
    """Return the list below these keys; empty if absent."""
    found = _at(value, path)
    return found if isinstance(found, list) else []


def object_of(value: Json, *path: str) -> Json:
    """Return the object below these keys; empty if absent."""
    found = _at(value, path)
    return found if isinstance(found, dict) else {}


def tokens_of(usage: Json, fresh: str, cached: str, answer: str) -> int:
    """Return uncached input tokens plus output tokens; `cached` may be empty."""
    count = [millis_of(usage, key) or 0 for key in (fresh, cached, answer)]
    return max(0, count[0] - count[1]) + count[2]


def objects_of(value: Json, *path: str) -> list[Json]:
    """Return the objects in a list."""
    return [one for one in list_of(value, *path) if isinstance(one, dict)]


def title_of(prompt: str) -> str:
    """Return a title for an untitled session: the first line of its prompt, at most 100 characters.

    Secrets are removed before truncation, so that no part of one remains.
    """
    clean, _ = redact(drop_private(drop_recalled(prompt)))
    line = next(filter(str.strip, clean.splitlines()), "").strip()
    return line if len(line) <= _LONGEST_TITLE else f"{line[: _LONGEST_TITLE - 1]}…"


def between(text: str, begin: str, end: str) -> str:
    """Return the text between the first `begin` and the next `end`; empty if either is missing."""
    inside, ended, _ = text.partition(begin)[2].partition(end)
    return inside if ended else ""


def left_out(count: int, kind: str = "rewound") -> list[str]:
    """Return a problem that counts omitted messages; empty if `count` is 0."""
    messages = "message" if count == 1 else "messages"
    return [LeftOut(f"{count} {kind} {messages}")] if count else []


def tool_call(
    tool: str,
    given: Json,
    include: Collection[str],
    *,
    status: str,
    title: str = "",
    exit: int | None = None,
    error: str = "",
    child: str = "",
    output: str = "",
    diff: str = "",
) -> ToolCall:
    """Build a tool call. A call of vault-index itself keeps only its target.

    Its output repeats indexed text, which may have been deleted since.
    """
    command = given.get("command")
    words = " ".join(map(str, command)) if isinstance(command, list) else text_of(given, "command")
    run = own_run(words or text_of(given, "cmd"))
    ours = is_own_tool(tool) or bool(run)
    named = (text_of(given, key) for key in _TARGETS)
    return ToolCall(
        tool=tool,
        status=status,
        target=run if ours else next(filter(None, named), "") or title,
        exit=exit,
        error="" if ours else error,
        child=child,
        output=output if "output" in include and not ours else "",
        diff=diff if "diffs" in include and not ours else "",
    )


def _at(value: Json, path: Iterable[str]) -> Any:
    found: Any = value
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found
