"""Credentials that are known by their name: `password = …`, `API_KEY=…`, `token: …`, `the password is …`.

A name says that something is a credential, but most of what stands behind such a name in prose and code is none: a
type, a call, a variable, a word. So the value must look like a secret too: a key or token is long and mixes letters
with digits; a password may be short, but after a colon it is no plain word. A value that a name calls a credential, and
that does not look like one, is a weak one.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from vault_index.secrets.placeholders import (
    Found,
    Row,
    is_chosen,
    is_passphrase,
    is_random,
    is_words,
    pattern,
    rows,
    stands_for_another,
)

_PASSWORD = "a password"
WEAK = "a weak "
# How far back is looked for what belongs to a name, and for the `login x` before a password; when a value is long.
_NEAR, _FAR, _LONG = 20, 130, 100

_JOINTS = ("-", "_", " ", ".")
"""What may stand between a name and the word before it."""
_SEPARATORS = (*"│┃|\t;,", "  ")
_LONGEST_HEADER = 300
_LONGEST_ROW = 2_000
_AROUND = " \t*`\"'"


class Column(NamedTuple):
    """A column of a table or of CSV whose header names a credential."""

    rows: int
    """Position of the first row below the header."""
    end: int
    """Position behind the last row."""
    cells: list[tuple[int, int]]
    """Start and end of each cell, without the blanks and quotes around it."""


def assignments(text: str, folded: str, hits: Iterable[tuple[str, int]]) -> Iterator[Found]:
    """Each value that is assigned to the name of a credential; not in order. Kinds of weak ones begin with `WEAK`.

    `folded` is the text in lower case, as long as the text itself; `hits` are the literals in it.
    """
    done: dict[Row, int] = {}
    cells = Column(0, 0, [])
    for literal, position in hits:
        for name in rows("names").get(literal, ()):
            label = _label(name, position, text, folded) if position >= done.get(name, 0) else None
            if (
                label
                and not cells.rows <= position < cells.end
                and (below := _column(text, *label.span()))
            ):
                cells = below
                for start, end in cells.cells:
                    if _is_said(name, text[start:end]):
                        yield name.kind, start, end
            match = _value(text, folded, label) if label else None
            kind = (
                _kind(name, match, text[position : match.start(match.lastgroup or 0)])
                if match
                else ""
            )
            if match and kind:
                start = match.start(match.lastgroup or 0)
                end = start + len(_trimmed(match))
                # What stands in a long value is not read again for every name in it.
                if end - start > _LONG and (rest := pattern("<REST>").match(text, end)):
                    end = done[name] = rest.end()
                yield kind, start, end
            if label and (not kind or text[label.end() : label.end() + 1] == " "):
                yield from _said(name, label, text)


def _label(name: Row, position: int, text: str, folded: str) -> re.Match[str] | None:
    # As a variable a key has the name of its service: `MAILGUN_KEY`.
    near = max(position - _NEAR, 0)
    service = name.kind == "a key" and text[position - 1 : position + 3] == "_KEY"
    variable = service and not pattern("<OPEN_KEY>").search(folded, near, position)
    joint = folded[max(position - 1, 0) : position] in _JOINTS
    if name.before and not variable and not folded.endswith(name.before, 0, position - joint):
        return None
    label = pattern(name.expression + "<SUFFIX>").match(folded, position)
    if (
        label
        and name.within
        and not pattern(name.within).search(folded, max(position - _FAR, 0), position)
    ):
        return None
    return label


def _value(text: str, folded: str, label: re.Match[str]) -> re.Match[str] | None:
    match = pattern("<SIGN><VALUE>").match(text, label.end())
    if match:
        return match
    if text[label.end() : label.end() + 1] not in (" ", "\t", "+"):
        return pattern("<NAMED_VALUE>").match(text, label.end())
    before = folded[max(label.start() - _FAR, 0) : label.start()]
    return pattern("<BESIDE>" if pattern("<SPACED>").search(before) else "<BARELY>").match(
        text, label.end()
    )


def _kind(name: Row, match: re.Match[str], sign: str) -> str:
    """What a value is, or nothing."""
    kind, value, bare = name.kind, _trimmed(match), match.lastgroup == "bare"
    if _is_phrase(name, value, sign):
        return kind
    if _is_code(value, bare=bare):
        return ""
    if kind.startswith(WEAK):
        return kind if pattern("<PIN>").fullmatch(value) else ""
    listed = pattern("<LISTED>").search(sign) is not None
    if listed and pattern("<IDENTIFIER>").fullmatch(value):
        return ""
    chosen = (
        _is_password(value, sign) if kind == _PASSWORD else kind == "a secret" and is_chosen(value)
    )
    strong = chosen or (kind != _PASSWORD and is_random(value))
    if strong and not (kind == _PASSWORD and pattern("<WEAK_PASSWORD>").fullmatch(value)):
        return kind
    weak = strong or (
        not listed
        and (not name.before or name.literals == ("key",))
        and _is_weak(kind, match, value, sign)
    )
    return WEAK + kind.removeprefix("a ") if weak else ""


def _trimmed(match: re.Match[str]) -> str:
    """The value, without what closes the sentence or the brackets around it."""
    value = str(match[match.lastgroup or 0])
    return value.rstrip(")]}*_").removesuffix(".") if match.lastgroup == "bare" else value


def _said(name: Row, label: re.Match[str], text: str) -> Iterator[Found]:
    """What the sentence that names a credential says it is: `the password of the camera is now …`."""
    sentence = pattern("<SENTENCE>").match(text, label.end())
    said = sentence[0] if sentence else ""
    answer = pattern("<ANSWER>").match(text, label.end())
    if answer and _is_said(name, answer["value"]):
        yield name.kind, *answer.span("value")
    word = pattern("<TOLD_WORD>").search(said) if name.kind == _PASSWORD else None
    if (
        word
        and not pattern("<SAID>").fullmatch(word["value"])
        and not pattern("<PLAIN>").search(word["value"])
    ):
        yield f"{WEAK}password", label.end() + word.start("value"), label.end() + word.end("value")
    if not pattern("<TELLING>").search(said):
        return
    for match in pattern("<LINKED>").finditer(said):
        value, start = (
            match["value"].rstrip(")]}*_,`\"'").removesuffix("."),
            label.end() + match.start("value"),
        )
        if _is_said(name, value) or _is_said(name, value.rstrip("!?")):
            yield name.kind, start, start + len(value)


def _is_phrase(name: Row, value: str, sign: str) -> bool:
    """Whether a value is of plain words, as passphrases are: those of a variable may be joined by anything."""
    password = name.kind == _PASSWORD
    if name.kind.startswith(WEAK) or name.kind == "a cookie" or not (password or "=" in sign):
        return False
    joints = "-_. " if pattern("<SET>").search(sign) else "-."
    least = 2 if password and not pattern("<APART>").search(sign) else 3
    return is_passphrase(value, least, joints) or (password and is_passphrase(value, least, " "))


def _is_said(name: Row, value: str) -> bool:
    """Whether what a sentence says or a cell holds is a credential of this name."""
    if name.kind.startswith(WEAK):
        return pattern("<PIN>").fullmatch(value) is not None
    password = name.kind == _PASSWORD
    chosen = password and (
        _is_password(value, "=") or pattern("<SIGNED>").fullmatch(value) is not None
    )
    looks_so = chosen or is_random(value) or (name.kind == "a secret" and is_chosen(value))
    return _is_phrase(name, value, "") or (
        looks_so and not pattern("<NO_SECRET>").search(value) and not _is_code(value, bare=True)
    )


def _is_password(value: str, sign: str) -> bool:
    words = is_words(value)
    if pattern("[0-9]").search(value):
        named = not value.isalnum() and words and "=" not in sign
        return len(value) >= 6 and (not named or is_chosen(value))
    # Letters of both cases that follow each other as in no name: `kTrUvgiX`.
    jumbled = len(pattern(r"[a-z][A-Z](?![a-z]{2})").findall(value)) > 1
    return len(value) >= 8 and not words and ("=" in sign or jumbled)


def _is_weak(kind: str, match: re.Match[str], value: str, sign: str) -> bool:
    """Whether a value is meant as a credential, though it is none that anybody should have."""
    text, start = match.string, match.start(match.lastgroup or 0)
    code = match.lastgroup == "bare" and pattern(r"\s(?:=|:=|=>|==)\s{0,9}\Z|==|\|").search(sign)
    # What is written down is used once; a variable is given what stands elsewhere, too.
    alone = pattern("<ALONE_NAME>").search(text, max(start - _NEAR * 2, 0), start)
    if alone and pattern("<WEAK_WORD>").fullmatch(value):
        code = (
            code
            if code and text.count(value, max(start - _LONGEST_ROW, 0), start + _LONGEST_ROW) > 1
            else None
        )
        kind = _PASSWORD
    return bool(
        4 <= len(value) <= _LONG
        and not code
        and pattern(
            ("<WEAK_SET>" if "=" in sign or ":" in sign else "<WEAK_PASSWORD>")
            if kind == _PASSWORD
            else "<WEAK_KEY>"
        ).fullmatch(value)
        and not pattern("<SAID>").fullmatch(value)
        and pattern("<WEAK_END>").match(text, start + len(value))
    )


def _is_code(value: str, *, bare: bool) -> bool:
    """Whether a value is public, a reference, a type, a call, or something to be filled in."""
    return bool(
        (bare and pattern("<CALL>").match(value))
        or pattern("<REFERENCE>").match(value)
        or pattern("<PUBLIC>").match(value)
        or pattern("<BLANK_OR_URL>").search(value)
        or (pattern("<MEMBER>").fullmatch(value) and is_words(value))
        or stands_for_another(value)
    )


def _column(text: str, start: int, end: int) -> Column | None:
    """The column whose header holds the name between `start` and `end`."""
    if not pattern("<REST_OF_CELL>").match(text, end):
        return None
    header = text.rfind("\n", max(start - _LONGEST_HEADER, 0), start) + 1
    above = text[
        text.rfind("\n", max(header - _LONGEST_HEADER, 0), max(header - 1, 0)) + 1 : max(
            header - 1, 0
        )
    ]
    rows = text.find("\n", end, end + _LONGEST_HEADER) + 1
    names = text[header:rows].rstrip()
    separator = next((sign for sign in _SEPARATORS if sign in names), "")
    if not separator or not rows or start - header > _LONGEST_HEADER:
        return None
    cell = pattern(
        rf'(?:\A|[{separator}])([ \t]*"[^"\n]*"[ \t]*(?=[{separator}]|\Z)|(?:\\.|[^{separator}\\])*)'
        if separator.strip(" ")
        else r"(?:\A[ ]*|[ ]{2,})(\S+(?:[ ]\S+)*)"
    )
    titles = [match.span(1) for match in cell.finditer(names)]
    name = pattern("<HEADER_CELL>" if separator in "│┃|" else "<NAME_CELL>")
    inside = len(cell.findall(above)) == len(titles) and not pattern("<RULE>").fullmatch(above)
    if len(titles) < 2 or inside or not all(name.fullmatch(names, *span) for span in titles):
        return None
    cells, at, number = [], rows, sum(title <= start - header for title, _ in titles) - 1
    while at < len(text):
        until = text.find("\n", at) if "\n" in text[at : at + _LONGEST_ROW] else len(text)
        row = text[at : min(until, at + _LONGEST_ROW)].rstrip()
        spans = [match.span(1) for match in cell.finditer(row)]
        if not pattern("<RULE>").fullmatch(row):
            if len(spans) != len(titles):
                break
            begin, stop = spans[number]
            value = row[begin:stop].lstrip(_AROUND)
            cells.append(
                (at + stop - len(value), at + stop - len(value) + len(value.rstrip(_AROUND)))
            )
        elif not row:
            break
        at = until + 1
    return Column(rows, at, cells)
