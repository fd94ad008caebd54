"""Rules for every regular expression of the package."""

import ast
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import vault_index
from tools.patterns import Collected, Pattern, ambiguity, collect

PACKAGE = Path(vault_index.__file__).parent
# Its pattern is for tiktoken's own engine.
NOT_OURS = PACKAGE / "tokens.py"
ESCAPE_OR_SET = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
POSSESSIVE_OR_ATOMIC = re.compile(r"[*+?}]\+|\(\?>")

BOUNDED = {"markdown.inline._EMPHASIS": "texts of at most 200 characters"}
"""Quadratic ones, on texts that are never long."""

MADE_WHILE_RUNNING = {
    "config.load": r'\s*"?key"?\s*[=.]',
    "memories.capture.markers": r"(?<!\w)(?:a b|a)(?!\w)",
    "memories.capture.statements": "",  # held by the module, as one of its tuple
    "mirroring.mirror": r"a title( \d+)?",
    "query.ranking.passages": r"(?<![^\W_])(?:a|b)[^\W_]*",
    "query.ranking.spelling": r"(?<![^\W_])a\s+b(?![^\W_]|:\S)",
    "query.recall": r"#+\s+a title\s*",
    "secrets.placeholders": "",
    "sources.gitignore": "",  # test_growth has hostile rules: its groups are atomic
    "sources.sessions.context": r"(?<![^\n>])[ \t]*<(a|b)(?: [^<>]*)?>",
    "sources.ignore_files": "",  # compiled only to check it; RE2 runs it
}
"""An example of each pattern that is built at run time, by its module."""
MATCHED = {"config.load", "query.recall"}
"""Patterns matched at one place, not searched for."""


def possessive(text: str) -> bool:
    """Whether a string is a pattern with such parts: a plain row of signs has no group, set or escape."""
    return bool(re.search(r"[(\[\\]", text)) and POSSESSIVE_OR_ATOMIC.search(ESCAPE_OR_SET.sub("x", text)) is not None


def strings(file: Path) -> list[tuple[int, str]]:
    nodes = ast.walk(ast.parse(file.read_text()))
    return [
        (node.lineno, node.value) for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def test_patterns_have_no_possessive_or_atomic_parts() -> None:
    """Python 3.11.0 to 3.11.4, which Debian 12 has, loses matches of nested ones without an error."""
    assert all(map(possessive, (r"(?:[ab]*+c)", r"\w{2,}+", "(?>a)")))
    assert not possessive(r"[-*+]\++")
    found = [
        f"{file.relative_to(PACKAGE)}:{line}: {text}"
        for file in sorted(PACKAGE.rglob("*.py"))
        for line, text in strings(file)
        if file != NOT_OURS and possessive(text)
    ]
    assert found == []


everything: Callable[[], Collected] = cache(collect)


def test_patterns_are_all_collected() -> None:
    found = everything()
    held = {one.where.partition(":")[0] for one in found.patterns}
    assert {"sources.files._LINE_END", "memories.capture.statements.STATEMENTS"} <= held
    assert {place.partition(":")[0] for place in found.made_while_running} == set(MADE_WHILE_RUNNING)
    assert set(BOUNDED) <= held


def test_patterns_take_linear_time() -> None:
    made = [Pattern(where, example, 0, where in MATCHED) for where, example in MADE_WHILE_RUNNING.items() if example]
    grown = {one.where: attack for one in (*everything().patterns, *made) if (attack := ambiguity(one))}
    assert grown.keys() == BOUNDED.keys()


# By pattern: whether it is anchored, and how its time grows; None if it is linear.
JUDGED = {
    r"(a+)+$": (True, "exponential"), r"(?:\w+\s?)*!": (True, "exponential"), r"(?:[a-z]*x)*y": (True, "exponential"),
    r"\s+$": (False, "square"), r"a*a*b": (True, "square"), r"<!--.*?-->": (False, "square"),
    r"(?<!\s)\s+$": (False, None), r"\b\w+\b": (False, None), r"^[ \t]*#": (True, None),
    r"(?:[^\[\]]|\[[^\[\]]*\])*$": (True, None), r"[A-Z]+(?![a-z])": (False, None),
}  # fmt: skip


def test_patterns_that_grow_are_detected() -> None:
    for text, (anchored, growth) in JUDGED.items():
        assert ambiguity(Pattern("", text, 0, anchored)) == growth, text
