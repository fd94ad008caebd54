"""Explanations as short lines: how a query was read, and why a hit is where it is."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Record = Mapping[str, Any]


def reading_lines(reading: Record | None) -> list[str]:
    """How the query was read, a line for each part of it that says something."""
    if reading is None:
        return []
    words = ", ".join(map(_word, reading["words"]))
    parts = {
        "words": words,
        "must hold": reading["required"],
        "must not hold": reading["excluded"],
        "filters": ", ".join(reading["filters"]),
    }
    return [f"{name}: {value}" for name, value in parts.items() if value]


def explanation_lines(explain: Record | None) -> list[str]:
    """What the channels said, which words the passage says, and the sum that is its score."""
    return [] if explain is None else [line for line in (_channels(explain), _said(explain), _sum(explain)) if line]


def _word(word: Record) -> str:
    meant = f", perhaps {' or '.join(word['meant'])}" if word["meant"] else ""
    return f"{word['text']} ({word['rarity']:.1f}, in {word['texts']:,}{meant})"


def _channels(explain: Record) -> str:
    return " · ".join(f"{name} #{one['rank']} ({one['score']:.2f})" for name, one in explain["channels"].items())


def _said(explain: Record) -> str:
    named = (("says", "matched"), ("as corrected", "corrected"), ("not", "missing"))
    said = [f"{label}: {_list(explain[key])}" for label, key in named if explain[key]]
    return " · ".join([*said, f"{explain['coverage']:.0%} of the question in and around it"] if said else [])


def _sum(explain: Record) -> str:
    parts = {name: part for name, part in explain["parts"].items() if round(part, 2)}
    factors = explain["factors"]
    total = sum(explain["parts"].values())
    for factor in factors.values():
        total *= factor
    terms = " + ".join(f"{name} {part:.2f}" for name, part in parts.items())
    if factors and len(parts) > 1:
        terms = f"({terms})"
    return f"score {min(total, 1.0):.2f} = {' × '.join([terms or '0', *_factors(factors)])}"


def _factors(factors: Mapping[str, float]) -> Iterator[str]:
    return (f"{name} {factor:.2f}" for name, factor in factors.items())


def _list(words: Iterable[str]) -> str:
    return ", ".join(words)
