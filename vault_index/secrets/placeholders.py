"""Read patterns.toml; tell placeholders (`<your key>`, `${TOKEN}`) and words from credentials."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

Found = tuple[str, int, int]
"""Kind, start and end of a credential."""


@dataclass(frozen=True, eq=False, slots=True)
class Row:
    """A row of the tables `names` and `places` of patterns.toml, compared by identity (faster)."""

    kind: str
    literals: tuple[str, ...]
    """The strings to search for: those of the row, and the words that `words` names."""
    expression: str
    before: tuple[str, ...]
    within: str = ""
    option: str = ""
    end: str = ""
    near: str = ""
    chosen: bool = False
    """Whether a person may choose the value, so that a single word counts."""
    words: str = ""


# Maximum length of a placeholder, in characters. Bounds the cost of a long value.
_LONGEST = 100
_FREQUENT = ("secret", "key", "pass", "token")


def stands_for_another(value: str) -> bool:
    """Return whether a value is a template, shortened, a row of signs, or a placeholder."""
    head = value[:_LONGEST]
    return bool(
        pattern("<TEMPLATE>").match(head)
        or pattern("<SIGNS>").fullmatch(head)
        or pattern("<SHORTENED>").search(head)
        or pattern("<SAYS_SO>").search(head)
        or pattern("<TYPE>").fullmatch(head)
    )


def is_words(value: str) -> bool:
    """Return whether a value consists of words, as names do: `my-app-secret-2`."""
    # Split first: words may be empty, so one expression could match a row of dashes in many ways.
    first, *others = pattern("<BETWEEN>").split(value[:_LONGEST])
    return bool(pattern("<WORD>").fullmatch(first)) and all(
        map(pattern("<WORD_OR_NUMBER>").fullmatch, others)
    )


def is_random(value: str) -> bool:
    """Return whether a program probably drew a value: it is long and mixes letters with digits."""
    mixed = pattern("[a-z]").search(value) and pattern("[A-Z]").search(value)
    long = len(value) >= (8 if mixed else 12)
    return bool(
        long and pattern("[0-9]").search(value) and pattern(r"[^\W\d_]").search(value)
    ) and not is_words(value)


def is_chosen(value: str) -> bool:
    """Return whether a value is words with a number, as people choose: `maple-Lobster-16`."""
    return (
        len(value) >= 6
        and bool(pattern("<CHOSEN>").fullmatch(value))
        and not pattern("<PLAIN>").search(value)
    )


def is_passphrase(value: str, least: int, between: str) -> bool:
    """Return whether a value has `least` words and is no sentence: `anvil-acorn-spindle`."""
    word = r"(?:[^\W\d_]{1,14}\d{0,4}|\d{1,4})"
    phrase = pattern(rf"{word}(?:[{between}]{word}){{1,11}}[!*+?#]?").fullmatch(value)
    camel = pattern("[a-z][A-Z]").search(value)
    return (
        bool(phrase)
        and len(pattern(r"[^\W\d_]{3,}").findall(value)) >= least
        and not camel
        and not pattern("<PLAIN>").search(value)
        and not stands_for_another(value)
    )


def occurrences(text: str) -> Iterator[tuple[str, int]]:
    """Yield each literal of the tables with its position, in order for each literal.

    Literals may overlap. One RE2 search for all costs as much as three of `str.find`, but each
    match costs more, so `str.find` finds the most frequent literals.
    """
    for literal in _FREQUENT:
        for position in positions(literal, text):
            yield literal, position
    data, done, position = text.encode("utf-8", "replace"), 0, 0
    search = _alternation().search
    while match := search(data, done):
        start, end = match.span()
        position += (
            start - done
            if len(data) == len(text)
            else len(data[done:start].decode("utf-8", "replace"))
        )
        for literal in _beginnings(data[start:end].decode()):
            yield literal, position
        # Another literal may begin within this one.
        done, position = start + len(text[position].encode()), position + 1


@cache
def _literals() -> tuple[str, ...]:
    return tuple(sorted({*rows("names"), *rows("places")} - {*_FREQUENT}, key=len, reverse=True))


@cache
def _alternation() -> Any:
    import re2  # 6 ms, and commands that read no text need none

    options = re2.Options()
    # In bytes. RE2 drops its automaton at the limit (default: 8 MB), which takes ten times as long.
    options.max_mem = 32_000_000
    return re2.compile("|".join(map(re2.escape, _literals())), options)


@cache
def _beginnings(found: str) -> list[str]:
    """Return the literals that `found`, the longest of them, begins with."""
    return [literal for literal in _literals() if found.startswith(literal)]


def positions(literal: str, text: str) -> Iterator[int]:
    """Yield the positions of a literal, without overlaps."""
    position = text.find(literal)
    while position >= 0:
        yield position
        position = text.find(literal, position + len(literal))


@cache
def table(name: str) -> Any:
    """Return a table of patterns.toml; all tables if the name is empty."""
    return (
        table("")[name]
        if name
        else tomllib.loads(Path(__file__).with_name("patterns.toml").read_text("utf-8"))
    )


@cache
def pattern(expression: str) -> re.Pattern[str]:
    """Compile an expression, in which `<NAME>` stands for a pattern of patterns.toml."""
    return re.compile(_filled(expression))


def _filled(expression: str) -> str:
    def said(name: re.Match[str]) -> str:
        return "".join(table("patterns").get(name[1], ())) or "|".join(words(name[1].lower()))

    return re.sub(r"<([A-Z_]{3,})>", lambda name: _filled(said(name)), expression)


@cache
def words(sort: str) -> tuple[str, ...]:
    """Return the words of a sort (`labels`) in all languages, unique, the longest first."""
    found = {word for language in table("languages").values() for word in language.get(sort, ())}
    return tuple(sorted(found, key=lambda word: (-len(word), word)))


@cache
def rows(name: str) -> dict[str, list[Row]]:
    """Return the rows of a table by their literals."""
    found: dict[str, list[Row]] = {}
    suffix = "<SUFFIX>" if name == "names" else ""
    for row in table(name):
        literals = (*row.get("literals", ()), *words(row.get("words", "")))
        any_of = f"(?:{'|'.join(sorted(literals, reverse=True))})"
        filled = {
            "kind": row.get("kind", "a password"),
            "literals": literals,
            "expression": row["expression"].replace("<LITERALS>", any_of) + suffix,
            "before": tuple(row.get("before", ())),
        }
        one = Row(**{**row, **filled})
        for literal in one.literals:
            found.setdefault(literal, []).append(one)
    return found
