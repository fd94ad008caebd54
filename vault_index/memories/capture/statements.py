"""Takes plain statements of decision and preference out of what a user wrote to an agent.

Plain heuristics, sentence by sentence, that would rather miss one than keep a complaint: a statement begins its
sentence or clause (`we decided to`, `never`, `I prefer`), after fillers at most; questions, quotations and code say
nothing. tests/memories/statement_examples.py has what they are measured by.
"""

import re
from collections.abc import Iterator

from vault_index.markdown.normalize import split_lines
from vault_index.memories.capture.markers import Captured, without_code
from vault_index.memories.capture.statement_patterns import (
    CIRCUMSTANCE,
    FAULT,
    FILLER,
    NO_VERB,
    NORM,
    QUESTION,
    REMINDER,
    REPORTED,
    RULE,
    STATE,
    STATEMENTS,
    UNNAMED,
)

PASTED = 8000
"""A message of more characters is a document that somebody pasted, not what they say."""

_WRAPPED = 60
"""A line of as many characters may go on in the next one."""

_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|(?<!\w)'(?=[^' \n]* )[^'\n]*'(?!\w)")
_APART = re.compile(r"\s*(?:>|\||#{1,6} |\$ |\+{3} |-{3} |@@ )|(?: {4}|\t)(?!\s*(?:[-*+]|\d+[.)]) )")
"""Lines that are not the user's sentences: quotes, tables, headings, commands, diffs, indented code."""
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_STOP = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)[.!?…](?=[\s)]|$)")
_CLAUSE = re.compile(
    r";\s+|\s[-–—]+\s|,\s+(?:so|and|but|also|then|because)\s+|\s+so\s+(?=never\b|always\b|from now on\b)"
)


def statements(text: str) -> tuple[Captured, ...]:
    """The sentences of a user's message that state a decision, a rule, a preference or a thing to remember, each once,
    in order; `inferred` adds their tags and expiry."""
    if len(text) > PASTED:
        return ()
    found: dict[str, Captured] = {}
    for line, sentence, shown in _sentences(text):
        stated = _stated(shown)
        if stated and sentence[stated[1] :].strip():
            kind, start = stated
            found.setdefault(shown, Captured(sentence[start:].strip(), line, type=kind))
    return tuple(found.values())


def _sentences(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, sentence, and the same in lower case with code and quotations blanked out, at equal offsets."""
    lines = split_lines(text)
    shown, _ = without_code(lines)
    for number, (raw, visible) in _joined(lines, shown):
        plain = _lower(_QUOTED.sub(lambda match: "`" * len(match[0]), visible).replace("’", "'"))
        start = 0
        for end in [*(match.end() for match in _STOP.finditer(plain)), len(plain)]:
            if plain[start:end].strip():
                lead = len(plain[start:end]) - len(plain[start:end].lstrip())
                yield number, raw[start + lead : end], plain[start + lead : end]
            start = end


def _lower(text: str) -> str:
    """In lower case, at equal offsets: a few letters have two in lower case."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(one.lower() if len(one.lower()) == 1 else one for one in text)


def _joined(lines: list[str], shown: list[str]) -> Iterator[tuple[int, tuple[str, str]]]:
    """The user's lines without list marks and emphasis; one that was wrapped has its next ones with it."""
    raw, visible, first = "", "", 0
    for number, (line, seen) in enumerate(zip(lines, shown, strict=False)):
        apart = not seen.strip() or _APART.match(line)
        if raw and (apart or len(lines[number - 1]) < _WRAPPED or not seen.lstrip()[:1].islower()):
            yield first + 1, (raw, visible)
            raw = visible = ""
        if apart:
            continue
        item = _ITEM.match(seen)
        cut = item.end() if item else len(seen) - len(seen.lstrip())
        keep = [index for index in range(cut, len(line.rstrip())) if seen[index] != "*"]
        space = " " if raw else ""
        first = first if raw else number
        raw += space + "".join(line[index] for index in keep)
        visible += space + "".join(seen[index] for index in keep)
    if raw:
        yield first + 1, (raw, visible)


def _stated(sentence: str) -> tuple[str | None, int] | None:
    """The type of memory a sentence states, and where what is to be kept of it begins; None if it states nothing."""
    begin = _after_fillers(sentence, 0)
    if sentence.rstrip(" )`").endswith("?") or QUESTION.match(sentence, begin) or len(sentence.split()) < 3:
        return None
    for start in _starts(sentence, begin):
        reminder = REMINDER.match(sentence, start)
        if reminder:
            return "note", reminder.end()
        for kind, pattern in STATEMENTS:
            if pattern.match(sentence, start):
                return kind, begin
        if _is_rule(sentence, start):
            return "pattern", begin
    return None


def _starts(sentence: str, begin: int) -> Iterator[int]:
    """Where a statement may begin: with the sentence, after its circumstances (`when …,`), with a clause."""
    yield begin
    circumstance = CIRCUMSTANCE.match(sentence, begin)
    if circumstance:
        yield _after_fillers(sentence, circumstance.end())
    for clause in _CLAUSE.finditer(sentence):
        yield _after_fillers(sentence, clause.end())


def _after_fillers(sentence: str, start: int) -> int:
    while match := FILLER.match(sentence, start):
        start = match.end()
    return start


def _is_rule(sentence: str, start: int) -> bool:
    """Whether `always …` or `never …` tells what to do, not what happens."""
    rule = RULE.match(sentence, start)
    if rule:
        return not NO_VERB.fullmatch(rule["verb"]) and not (rule["subject"] and STATE.fullmatch(rule["verb"]))
    norm = NORM.match(sentence, start)
    if not norm or UNNAMED.fullmatch(norm["subject"]) or REPORTED.search(norm["subject"]):
        return False
    return not any(pattern.fullmatch(norm["verb"]) for pattern in (NO_VERB, FAULT)) and not FAULT.fullmatch(
        norm["next"] or ""
    )
