"""Long things in few characters: ids, places, passages, byte counts, times."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from unicodedata import combining, normalize

_ID_LENGTH = 8  # prefixes are looked up in the whole index, not only in this answer
_NAMED = 20  # memories of an import
_AS_WANTED = frozenset({"created", "known", "would be created"})
_WORD = re.compile(r"\w+")
# No pattern: so wide a set of characters takes 10 ms to compile.
_WIDE = (("\u1100", "\u11ff"), ("\u2e80", "\u9fff"), ("\uac00", "\ud7ff"), ("\uf900", "\ufaff"))
_FILLERS = frozenset((
    "the", "and", "for", "are", "was", "were", "how", "what", "why", "when", "who", "with", "from", "does", "did",
    "that", "this", "can", "you",
))  # fmt: skip
_FILTER = re.compile(r"(?:^|\s)-?(?:\[[^\]]*\]|\w+:(?:\"[^\"]*\"|\S+))")


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """Each id with its shortest prefix, of 8 or more, that no other of them shares."""
    unique = sorted(set(ids))
    short: dict[str, str] = {}
    for position, whole in enumerate(unique):
        neighbours = unique[max(position - 1, 0) : position] + unique[position + 1 : position + 2]
        length = max((_shared(whole, other) + 1 for other in neighbours), default=0)
        short[whole] = whole[: max(length, _ID_LENGTH)]
    return short


def _shared(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


def lines(record: Mapping[str, Any]) -> str:
    """`10-42`, or `10` for a single line, or nothing."""
    span = record.get("lines")
    if not span:
        return ""
    first, last = span
    return str(first) if first == last else f"{first}-{last}"


def place(record: Mapping[str, Any]) -> str:
    """`path:10-42`, as `get` takes it."""
    span = lines(record)
    return f"{record.get('path', '')}:{span}" if span else str(record.get("path", ""))


def query_words(query: str, corrections: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The words of a query that a passage may show, case-folded; filters, operators and negated words are none."""
    plain = re.sub(r"(?:^|(?<=\s))-(?:\"[^\"]*\"|\w+)", " ", _FILTER.sub(" ", query))
    words = [word for word in _WORD.findall(plain) if word not in ("AND", "OR", "NOT")]
    words += _WORD.findall(" ".join((corrections or {}).values()))
    kept = (_folded(word) for word in words if len(word) > 2 or _is_wide(word))
    return tuple(dict.fromkeys(word for word in kept if word not in _FILLERS))


def matches(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Where `text` shows one of `words`, inflections included (`run` finds running): start and end offsets."""
    stems = tuple({_stem(word) for word in words if not _is_wide(word)})
    wide = [word for word in words if _is_wide(word)]
    spans = [found.span() for word in wide for found in re.finditer(re.escape(word), text.casefold())]
    if stems:
        for found in _WORD.finditer(text):
            for part in re.finditer(r"[^\W_]+", found[0]):
                folded = _folded(part[0])
                if any(folded.startswith(stem) and len(folded) <= len(stem) + 4 for stem in stems):
                    spans.append((found.start() + part.start(), found.start() + part.end()))
    return sorted(span for span in spans if span[1] <= len(text))


def _is_wide(word: str) -> bool:
    """Whether it holds a character of Chinese, Japanese or Korean, which are written without spaces."""
    return not word.isascii() and any(first <= character <= last for character in word for first, last in _WIDE)


def _folded(word: str) -> str:
    """Without case and accents, as the index compares; CJK characters stay as they are."""
    word = word.casefold()
    if word.isascii() or _is_wide(word):
        return word
    return "".join(character for character in normalize("NFD", word) if not combining(character))


def _stem(word: str) -> str:
    for ending in ("ations", "ation", "ings", "ing", "ies", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def passage(text: str, words: Sequence[str], budget: float) -> str:
    """About `budget` tokens of `text` around the first of `words` that it shows, cut at spaces, `…` where cut."""
    if cost(text) <= budget:
        return text
    spans = matches(text, words)
    focus = spans[0][0] if spans else 0
    start = _back(text, focus, budget / 3)
    end = _forth(text, start, budget)
    if end == len(text):  # the room behind is not needed: take it in front
        start = _back(text, end, budget)
    return f"{'…' if start else ''}{text[start:end].strip()}{'…' if end < len(text) else ''}"


def cost(text: str) -> float:
    """A guess at tokens without a tokenizer: four ASCII characters make one, of others each."""
    return sum(0.25 if character < "\x80" else 0.5 if character < "\u2000" else 1.0 for character in text)


def _back(text: str, position: int, budget: float) -> int:
    start = position
    while start > 0 and budget > 0:
        start -= 1
        budget -= cost(text[start])
    if start == 0:
        return 0
    space = text.find(" ", start, position)
    return space + 1 if space >= 0 else start


def _forth(text: str, position: int, budget: float) -> int:
    end = position
    while end < len(text) and budget > 0:
        budget -= cost(text[end])
        end += 1
    if end == len(text):
        return end
    space = text.rfind(" ", position, end)
    return space if space > position + (end - position) // 2 else end


def metadata(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What `get --full` adds, as names and texts; empty values are left out."""
    rows = [(key, _flat(value)) for key, value in values.items()]
    return [(key, text) for key, text in rows if text]


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        if "target" in value and "heading" in value:  # a link
            return f"{value['target']}#{value['heading']}" if value["heading"] else str(value["target"])
        flat = {key: _flat(item) for key, item in value.items()}
        return "; ".join(f"{key}: {text}" for key, text in flat.items() if text)
    if isinstance(value, list | tuple):
        return ", ".join(dict.fromkeys(map(_flat, value)))
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else " ".join(str(value).split())


def size(count: int) -> str:
    """Bytes for people: `812 B`, `3.4 MB`."""
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{count} B"


def duration(seconds: float) -> str:
    """`8 ms`, `1.4 s`, `3 min 5 s`."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"


def moment(stamp: str | None) -> str:
    """An ISO time to the minute, `2026-11-21 10:00`."""
    return (stamp or "")[:16].replace("T", " ")


def when(stamp: str) -> str:
    """An ISO time to the minute, or its day alone where it is midnight: then only a day was written."""
    return moment(stamp).removesuffix(" 00:00")


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 note`, `1,204 notes`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def import_in_short(answer: Mapping[str, Any]) -> dict[str, Any]:
    """An import with `counts` of what became of its memories. A few are all named; of many, those that did not come in
    as they were, and in any case no more of them or of the failed than 20."""
    results, failed = answer["results"], answer["failed"]
    counts: dict[str, int] = {}
    for result in results:
        counts[result["outcome"]] = counts.get(result["outcome"], 0) + 1
    if failed:
        counts["failed"] = len(failed)
    named = results if len(results) <= _NAMED else [one for one in results if one["outcome"] not in _AS_WANTED]
    return {"counts": counts, "results": named[:_NAMED], "failed": failed[:_NAMED]}
