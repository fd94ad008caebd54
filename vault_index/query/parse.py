"""Reading a query: words, "exact phrases", -excluded words, and `key:value` filters."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from vault_index import terms
from vault_index.errors import UsageError
from vault_index.models import Filters
from vault_index.query.stopwords import STOPWORDS

_TOKEN = re.compile(
    r"""
    (?P<minus>-(?=[\w"]))?
    (?:
        (?P<key>[A-Za-z]+):(?:"(?P<quoted>[^"]*)"|(?P<value>[^\s"]+))
      | "(?P<phrase>[^"]*)"
      | (?P<word>\S+)
    )""",
    re.VERBOSE,
)
_SAYS_SOMETHING = re.compile(r"\w")
_KINDS = ("note", "memory", "session")


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """What was asked. `words` are as typed; stopwords are left out where anything else was said."""

    text: str
    """The query without its filters: what is embedded."""
    words: tuple[str, ...]
    phrases: tuple[str, ...]
    excluded: tuple[str, ...]
    filters: Filters


def parse_query(text: str, filters: Filters | None = None) -> ParsedQuery:
    """Read `text`; its filters are added to `filters`. Raises UsageError for a filter that cannot be read."""
    text = text.replace("\0", " ").encode("utf-8", "replace").decode()  # SQLite takes neither NUL nor surrogates
    words: list[str] = []
    phrases: list[str] = []
    excluded: list[str] = []
    plain: list[str] = []
    filters = filters or Filters()
    for token in _TOKEN.finditer(text):
        key = (token["key"] or "").lower()
        if key in _FILTER_KEYS and not token["minus"]:
            value = token["quoted"] if token["quoted"] is not None else token["value"]
            filters = add_filter(filters, key, value)
            continue
        said = token["phrase"] if token["phrase"] is not None else token["word"]
        said = said if said is not None else token.group().removeprefix("-")
        if not _SAYS_SOMETHING.search(said):
            continue
        if token["minus"]:
            excluded.append(said)
            continue
        plain.append(said)
        (phrases if token["phrase"] is not None else words).append(said)
    telling = tuple(word for word in words if word.strip("?!.,;:'’").casefold() not in STOPWORDS)
    return ParsedQuery(
        " ".join(plain), telling if telling or phrases else tuple(words), tuple(phrases), tuple(excluded), filters
    )


def match_expression(query: ParsedQuery, *, every: bool) -> str:
    """The query as an FTS5 expression; empty when it holds no words. Every user token is quoted: none is syntax."""
    said = [_word(word) for word in query.words] + [_quoted(terms.query_phrase(phrase)) for phrase in query.phrases]
    if not said:
        return ""
    wanted = (" AND " if every else " OR ").join(said)
    without = " OR ".join(_quoted(terms.query_phrase(part)) for part in query.excluded)
    return f"({wanted}) NOT ({without})" if without else wanted


def add_filter(filters: Filters, key: str, value: str) -> Filters:
    """`filters` with one `key:value` more."""
    name, convert = _FILTER_KEYS[key]
    old, new = getattr(filters, name), convert(value)
    changes: dict[str, Any] = {name: (*old, new) if isinstance(old, tuple) else new}
    return replace(filters, **changes)


def parse_time(text: str, *, now: datetime | None = None) -> float:
    """Seconds since the epoch of an ISO date or time, `2026`, `2026-11`, `today` or `yesterday`; local time unless it
    names a zone. Raises UsageError."""
    word = text.strip().lower()
    midnight = (now or datetime.now()).replace(hour=0, minute=0, second=0, microsecond=0)
    if word in ("today", "yesterday"):
        return (midnight - timedelta(days=word == "yesterday")).timestamp()
    padded = (
        f"{word}-01-01" if re.fullmatch(r"\d{4}", word) else f"{word}-01" if re.fullmatch(r"\d{4}-\d\d", word) else word
    )
    try:
        return datetime.fromisoformat(padded.upper()).timestamp()
    except (ValueError, OverflowError) as error:
        raise UsageError(f"not a date: {text!r}", "write it like 2026-11-21, 2026-11 or 2026-11-21T14:30") from error


def _kind(value: str) -> str:
    kind = value.lower()
    kind = {"memories": "memory"}.get(kind, kind.removesuffix("s"))
    if kind not in _KINDS:
        raise UsageError(f"there is no kind {value!r}", f"kinds are {', '.join(_KINDS)}")
    return kind


def _tag(value: str) -> str:
    from vault_index.markdown.tags import normalize_tag

    return normalize_tag(value)


_FILTER_KEYS: dict[str, tuple[str, Callable[[str], str | float]]] = {
    "tag": ("tags", _tag),
    "anytag": ("any_tags", _tag),
    "type": ("types", str.lower),
    "kind": ("kinds", _kind),
    "source": ("sources", str),
    "project": ("projects", str),
    "by": ("authors", str),
    "path": ("paths", str),
    "after": ("after", parse_time),
    "before": ("before", parse_time),
}


def _word(word: str) -> str:
    """One word of a question: any of its parts."""
    parts = [_quoted(part) + ("*" if terms.is_prefix(part) else "") for part in dict.fromkeys(terms.query_parts(word))]
    return parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
