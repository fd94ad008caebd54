"""Truncate answers to a number of tokens, with a cursor for the rest."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from vault_index import tokens
from vault_index.errors import UsageError
from vault_index.output import render, render_json
from vault_index.output.view import shown_hits

_LONGEST_TOKEN = 128
"""Upper bound of the characters of one token: text longer than this times the budget cannot fit."""

BETWEEN = " || "
"""Separates the references in a cursor of `get`; no file name contains it."""

_WHERE = re.compile(r"^(?P<ref>.+):(?P<first>\d+)-(?P<last>\d+)(?:\+(?P<skip>\d+))?$", re.DOTALL)

_WEAK = re.compile(r"^(weak: \d+) \(--all\)$", re.MULTILINE)
"""Matches the header of an answer that names the shell option."""

_DISPLAY_KEYS = frozenset({"spans"})
_OMITTED_KEYS = {
    "search": _DISPLAY_KEYS | {"link", "accesses"},
    "list": _DISPLAY_KEYS | {"link", "lines"},
    "review": _DISPLAY_KEYS | {"link", "accesses", "digest", "lines", "kind"},
}
"""Keys of records that neither text nor JSON contains."""

Answer = dict[str, Any]


class Page(NamedTuple):
    """An answer in both forms, as text and as JSON."""

    text: str
    structured: Answer


def page(method: str, answer: Mapping[str, Any], cursor: str | None = None) -> Page:
    """Return an answer in both forms.

    The JSON omits empty values and weak hits, because agents pay for every key.
    """
    text = render(method, answer, "markdown" if method in ("get", "recall") else "toon")
    if method == "search":
        text = _WEAK.sub(r"\1 (all=true)", text, count=1)
        shown, weak = shown_hits(answer)
        answer = {**answer, "results": shown, **({"weak": weak} if weak else {})}
    structured = _filled(answer, _OMITTED_KEYS.get(method, _DISPLAY_KEYS))
    if cursor is None:
        return Page(text, structured)
    return Page(f"{text}\ncursor: {cursor}", {**structured, "cursor": cursor})


def cost(shown: Page) -> int:
    """Return the tokens of the longer form, because clients differ in which one they show."""
    return max(tokens.count(shown.text), tokens.count(render_json(shown.structured)))


def fits(shown: Page, budget: int) -> bool:
    """Return whether the page has at most `budget` tokens.

    A token has at least one byte, so a short answer needs no tokenizer, which is slower to load
    than a search.
    """
    forms = shown.text, render_json(shown.structured)
    if max(map(len, forms)) > budget * _LONGEST_TOKEN:
        return False
    longest = max(len(form.encode("utf-8", "surrogatepass")) for form in forms)
    return longest <= budget or cost(shown) <= budget


def most(count: int, build: Callable[[int], Page], budget: int, what: str) -> Page:
    """Return the page with the largest number, from 1 to `count`, that fits.

    UsageError if none fits.
    """
    whole = build(count)
    if fits(whole, budget):
        return whole
    least = build(min(count, 1))
    if not fits(least, budget):
        raise UsageError(
            f"max_tokens {budget} is too small for {what}",
            f"give at least {cost(least)}, or request less",
        )
    low, high = 1, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(build(middle), budget) else (low, middle)
    return build(low)


def cut_records(
    method: str, answer: Mapping[str, Any], *, offset: int, limit: int, budget: int
) -> Page:
    """Return the first `limit` records, or as many as fit.

    The cursor is the offset of the next record; none if only weak hits follow.
    """
    records = answer["results"]

    def build(count: int) -> Page:
        more, _ = shown_hits({**answer, "results": records[count:], "offset": offset + count})
        cursor = str(offset + count) if more else None
        return page(method, {**answer, "results": records[:count]}, cursor)

    return most(min(limit, len(records)), build, budget, "one result")


def cut_timeline(answer: Mapping[str, Any], *, shown: tuple[int, int], budget: int) -> Page:
    """Return the nearest neighbours that fit, without those already `shown` before and after.

    The cursor counts both sides.
    """
    before = answer["before"][: max(len(answer["before"]) - shown[0], 0)]
    after = answer["after"][shown[1] :]

    def build(count: int) -> Page:
        first = min(len(before), max(count // 2, count - len(after)))
        second = count - first
        cut = count < len(before) + len(after)
        part = {**answer, "before": before[len(before) - first :], "after": after[:second]}
        return page("timeline", part, f"{shown[0] + first},{shown[1] + second}" if cut else None)

    return most(len(before) + len(after), build, budget, "the document and a neighbour")


class Text(NamedTuple):
    """A text to show, as `get` returns it."""

    found: Answer
    skip: int
    """Number of characters of its first line that were shown before."""
    later: Sequence[str]
    """The references after it."""


def cut_texts(texts: Sequence[Text], failed: Sequence[Answer], budget: int) -> Page:
    """Return the texts that fit; of the first, as many lines or characters as fit."""
    text, skip, later = texts[0]
    lines, (first, last) = text["content"][skip:].split("\n"), text["lines"]
    if left := _WHERE.match(text["next"] or ""):
        last = int(left["last"])

    def build(shown: Sequence[Answer], rest: str | None, later: Sequence[str]) -> Page:
        cursor = BETWEEN.join(filter(None, [rest, *later]))
        return page("get", {"results": shown, "failed": failed}, cursor or None)

    def of_texts(count: int) -> Page:
        shown = [_part(one.found, one.found["content"][one.skip :]) for one in texts[:count]]
        return build(shown, texts[count - 1].found["next"], texts[count - 1].later)

    def of_lines(count: int) -> Page:
        part = _part(text, "\n".join(lines[:count]), (first, first + count - 1))
        rest = f"{text['id']}:{first + count}-{last}" if first + count <= last else None
        return build([part], rest, later)

    def of_characters(count: int) -> Page:
        part = _part(text, lines[0][:count], (first, first))
        return build([part], f"{text['id']}:{first}-{last}+{skip + count}", later)

    if fits(of_texts(1), budget):
        return most(len(texts), of_texts, budget, "a text")
    if fits(of_lines(1), budget):
        return most(len(lines), of_lines, budget, "a line")
    return most(
        min(len(lines[0]), budget * _LONGEST_TOKEN), of_characters, budget, "any of the text"
    )


def _part(text: Answer, content: str, lines: tuple[int, int] | None = None) -> Answer:
    if lines is None:
        return {**text, "content": content, "next": None}
    shown = {"content": content, "lines": lines, "tokens": tokens.count(content), "next": None}
    return {**text, **shown}


def place_of(cursor: str) -> tuple[str, int]:
    """Return the reference in a cursor, and the number of characters to skip in its first line."""
    found = _WHERE.match(cursor)
    if found is None or found["skip"] is None:
        return cursor, 0
    return f"{found['ref']}:{found['first']}-{found['last']}", int(found["skip"])


def _filled(value: Any, omitted: Collection[str]) -> Any:
    if isinstance(value, Mapping):
        kept = {
            key: item
            for key, item in value.items()
            if item not in (None, "", [], (), {}) or key == "results"
        }
        return {key: _filled(item, omitted) for key, item in kept.items() if key not in omitted}
    return [_filled(item, omitted) for item in value] if isinstance(value, list | tuple) else value
