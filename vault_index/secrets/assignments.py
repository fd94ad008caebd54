"""Detect credentials by their name or place.

Names: `password = …`, `API_KEY=…`, `the password is …`. Places: HTTP headers, options
(`mysql -p…`), lines of a login.

A name alone proves little: in code and prose, a type, a call, a variable or a word follows it.
Therefore the value decides:

- A value that a program drew or that mixes words with digits is a credential.
- A single value is a weak credential if a strong name (`chosen` in patterns.toml) and the shape of
  an assignment precede it: `k=v`, `k: v`, `"k": "v"`, `k "v"`, `<k>v</k>`, `--k v`, a table cell.
- A placeholder, a reference, a call or a type is no credential.
"""

import re
from bisect import bisect
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
# In characters: how far before a name to look for its other part; how far before it for its user
# (`login x password y`) and behind it for a value in its sentence; from which length the rest of a
# value is skipped, and no value is a weak one.
_NEAR, _FAR, _LONG = 20, 130, 100

_JOINTS = ("-", "_", " ", ".")
"""Characters between a name and the word before it."""
_SEPARATORS = "│┃|\t;,"
_BLANKS = "  "
_LONGEST_HEADER = 500
_LONGEST_ROW = 2_000
_AROUND = " \t*`\"'"
_LONGEST = 8000
_FARTHEST = 200
_LONGEST_VALUE = 80


class Column(NamedTuple):
    """A column of a table or of CSV whose header names a credential."""

    rows: int
    """Position of the first row below the header."""
    end: int
    """Position behind the last row."""
    cells: list[tuple[int, int]]
    """Start and end of each cell, without surrounding blanks and quotes."""


def assignments(text: str, folded: str, hits: Iterable[tuple[str, int]]) -> Iterator[Found]:
    """Yield each value of a named credential, in no order. Weak kinds begin with `WEAK`.

    Args:
        text: the text.
        folded: the text in lower case, with the same length.
        hits: the literals of patterns.toml in the text, each with its position.
    """
    done: dict[Row, int] = {}
    column = Column(0, 0, [])
    for literal, position in hits:
        for name in rows("names").get(literal, ()):
            label = _label(name, position, text, folded) if position >= done.get(name, 0) else None
            if not label:
                continue
            inside = column.rows <= position < column.end
            if not inside and (below := _column(text, *label.span())):
                column = below
                yield from _in_cells(name, text, column.cells)
            if assigned := _assigned(name, label, text, folded):
                yield assigned
                _, start, end = assigned
                if end - start > _LONG:  # do not read the names in a long value again
                    done[name] = end
            if not assigned or text[label.end() : label.end() + 1] == " ":
                yield from _said(name, label, text)


def _label(name: Row, position: int, text: str, folded: str) -> re.Match[str] | None:
    joint = folded[max(position - 1, 0) : position] in _JOINTS
    if name.before and not folded.endswith(name.before, 0, position - joint):
        # The variable of a key is named after its service: `MAILGUN_KEY`.
        variable = name.kind == "a key" and text[position - 1 : position + 3] == "_KEY"
        near = max(position - _NEAR, 0)
        if not variable or pattern("<OPEN_KEY>").search(folded, near, position):
            return None
    label = pattern(name.expression).match(folded, position)
    if (
        label
        and name.within
        and not pattern(name.within).search(folded, max(position - _FAR, 0), position)
    ):
        return None
    return label


def _assigned(name: Row, label: re.Match[str], text: str, folded: str) -> Found | None:
    match = _value(name, label, text, folded)
    start = match.start(match.lastgroup or 0) if match else 0
    kind = _kind(name, match, text[label.start() : start]) if match else ""
    if not match or not kind:
        return None
    end = start + len(_trimmed(match))
    rest = pattern("<REST>").match(text, end) if end - start > _LONG else None
    return kind, start, rest.end() if rest else end


def _value(name: Row, label: re.Match[str], text: str, folded: str) -> re.Match[str] | None:
    near = max(label.start() - _NEAR * 3, 0)
    begins = name.kind == _PASSWORD and pattern("<LINE_BEGINS>").search(text, near, label.start())
    if begins and (sentence := pattern("<SIGN><SENTENCE_VALUE>").match(text, label.end())):
        return sentence
    if match := pattern("<SIGN><VALUE>").match(text, label.end()):
        return match
    if text[label.end() : label.end() + 1] not in (" ", "\t", "+"):
        return pattern("<NAMED_VALUE>").match(text, label.end())
    before = folded[max(label.start() - _FAR, 0) : label.start()]
    return pattern("<BESIDE>" if pattern("<SPACED>").search(before) else "<BARELY>").match(
        text, label.end()
    )


def _kind(name: Row, match: re.Match[str], sign: str) -> str:
    """Return the kind of a value, or nothing. `sign` is the name and what joins it to the value."""
    kind, value = name.kind, _trimmed(match)
    if kind.startswith(WEAK):
        return kind if pattern("<PIN>").fullmatch(value) else ""
    direct = pattern("<DIRECT>").search(sign) is not None
    delimited = direct and kind in (_PASSWORD, "a secret") and match.lastgroup != "phrase"
    if _is_phrase(name, value, sign) or (delimited and pattern("<PHRASE>").fullmatch(value)):
        return kind
    bare = match.lastgroup == "bare" and not sign.endswith(">")
    if _is_code(value, bare=bare or kind != _PASSWORD):
        return ""
    return _kind_by_shape(name, match, sign, direct=direct)


def _kind_by_shape(name: Row, match: re.Match[str], sign: str, *, direct: bool) -> str:
    """Return the kind of a value that is neither a phrase nor code."""
    kind, value = name.kind, _trimmed(match)
    if not direct and pattern("<IDENTIFIER>").fullmatch(value):
        return ""
    strong = _is_strong(name, value, sign)
    if strong and not (kind == _PASSWORD and pattern("<WEAK_PASSWORD>").fullmatch(value)):
        return kind
    weak = strong or (
        direct and match.lastgroup != "barely" and _is_single(name, match, value, sign)
    )
    return WEAK + kind.removeprefix("a ") if weak else ""


def _trimmed(match: re.Match[str]) -> str:
    """Return the value without the end of its sentence and the brackets around it."""
    value = str(match[match.lastgroup or 0])
    return value.rstrip(")]}*_").removesuffix(".") if match.lastgroup == "bare" else value


def _said(name: Row, label: re.Match[str], text: str) -> Iterator[Found]:
    """Yield the values in the sentence behind a name: `the password of the camera is now …`."""
    sentence = pattern("<SENTENCE>").match(text, label.end())
    said = sentence[0][:_FAR] if sentence else ""
    answer = pattern("<ANSWER>").match(text, label.end())
    if answer and _is_said(name, answer["value"]):
        yield name.kind, *answer.span("value")
    word = pattern("<TOLD_WORD>").search(said) if name.kind == _PASSWORD else None
    if (
        word
        and _is_word(word["value"], prose=True)
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
    """Return whether a value is a passphrase. That of a variable may hold any separator."""
    password = name.kind == _PASSWORD
    if name.kind.startswith(WEAK) or name.kind == "a cookie" or not (password or "=" in sign):
        return False
    joints = "-_. " if pattern("<SET>").search(sign) else "-."
    least = 2 if password and not pattern("<APART>").search(sign) else 3
    return is_passphrase(value, least, joints) or (password and is_passphrase(value, least, " "))


def _is_said(name: Row, value: str) -> bool:
    """Return whether a value in a sentence or a cell is a credential of this name."""
    if name.kind.startswith(WEAK):
        return pattern("<PIN>").fullmatch(value) is not None
    signed = name.kind == _PASSWORD and pattern("<SIGNED>").fullmatch(value)
    return _is_phrase(name, value, "") or (
        (bool(signed) or _is_strong(name, value, "="))
        and not pattern("<NO_SECRET>").search(value)
        and not _is_code(value, bare=True)
    )


def _is_strong(name: Row, value: str, sign: str) -> bool:
    """Return whether the shape of a value shows a credential of this name."""
    if name.kind == _PASSWORD:
        return _is_password(value, sign)
    return is_random(value) or (name.kind == "a secret" and is_chosen(value))


def _is_password(value: str, sign: str) -> bool:
    words = is_words(value)
    if pattern("[0-9]").search(value):
        named = not value.isalnum() and words and "=" not in sign
        return len(value) >= 6 and (not named or is_chosen(value))
    # Upper and lower case alternate as in no name: `kTrUvgiX`.
    jumbled = len(pattern(r"[a-z][A-Z](?![a-z]{2})").findall(value)) > 1
    return len(value) >= 8 and not words and ("=" in sign or jumbled)


def _is_single(name: Row, match: re.Match[str], value: str, sign: str) -> bool:
    """Return whether the value of an assignment is a credential, although it looks like a word."""
    text, start = match.string, match.start(match.lastgroup or 0)
    bare = match.lastgroup == "bare"
    ends = not bare or pattern("<WEAK_END>").match(text, start + len(value))
    if not _is_word(value, prose=bool(pattern("<IN_PROSE>").search(sign))) or not (
        ends or pattern(r"(?<![+:$])[A-Z]=\Z").search(sign)
    ):
        return False
    # Notes and settings begin a line with the name.
    word = pattern("<WEAK_PASSWORD>").fullmatch(value)
    alone = word and pattern("<ALONE_NAME>").search(text, max(start - _NEAR * 2, 0), start)
    if (bare or name.kind != _PASSWORD) and pattern("<IN_CODE>").search(sign):
        # A variable of code occurs again; the value of a setting occurs once.
        near = text[max(start - _LONGEST_ROW, 0) : start + _LONGEST_ROW]
        return bool(alone) and near.count(value) == 1
    return bool(name.chosen or alone or pattern("<WEAK_KEY>").fullmatch(value))


def _is_word(value: str, *, prose: bool) -> bool:
    """Return whether a person could choose a value, which does not describe a credential."""
    described = pattern("<SAID>|<ADJECTIVE>" if prose else "<SAID>").fullmatch(value)
    word = pattern("<WEAK_PASSWORD>").fullmatch(value) or not pattern("<PLAIN>").search(value)
    return 4 <= len(value) <= _LONG and not described and bool(word)


def _is_code(value: str, *, bare: bool) -> bool:
    """Return whether a value is public, a reference, a type, a call or a placeholder."""
    return bool(
        (bare and pattern("<CALL>").match(value))
        or pattern("<REFERENCE>").match(value)
        or pattern("<PUBLIC>").match(value)
        or pattern("<BLANK_OR_URL>").search(value)
        or (bare and pattern("<MEMBER>").fullmatch(value) and is_words(value))
        or stands_for_another(value)
    )


def _column(text: str, start: int, end: int) -> Column | None:
    """Return the column whose header holds the name from `start` to `end`."""
    if not pattern("<REST_OF_CELL>").match(text, end):
        return None
    lines, _, begin = text[max(start - 2 * _LONGEST_HEADER, 0) : start].rpartition("\n")
    rest, newline, _ = text[end : end + _LONGEST_HEADER].partition("\n")
    if not newline or len(begin) > _LONGEST_HEADER:
        return None
    header, names = start - len(begin), (begin + text[start:end] + rest).rstrip()
    if copied := pattern("<COPIED>").match(names):
        header, names = header + copied.start("names"), copied["names"]
    separator = next((sign for sign in _SEPARATORS if sign in names), _BLANKS)
    cell = _cells(separator)
    titles = [match.span(1) for match in cell.finditer(names)]
    title = pattern("<HEADER_CELL>" if separator in "│┃|" else "<NAME_CELL>")
    if len(titles) < 2 or not all(title.fullmatch(names, *span) for span in titles):
        return None
    above = lines.rpartition("\n")[2]
    if len(cell.findall(above)) == len(titles) and not pattern("<RULE>").fullmatch(above):
        return None  # the line is a row of a table
    number = bisect(titles, (start - header, len(names))) - 1
    cell = _cells("\t") if copied else cell
    return _below(text, end + len(rest) + 1, cell, len(titles), number)


def _below(text: str, rows: int, cell: re.Pattern[str], count: int, number: int) -> Column:
    """Return the cells with this number in the rows from `rows` on, which have `count` cells."""
    cells, at = [], rows
    while at < len(text):
        line, newline, _ = text[at : at + _LONGEST_ROW].partition("\n")
        row = line.rstrip()
        rule = pattern("<RULE>").fullmatch(row)
        spans = [match.span(1) for match in cell.finditer(row)]
        if not row or not (rule or len(spans) == count):
            break
        if not rule:
            begin, stop = spans[number]
            value = row[begin:stop].lstrip(_AROUND)
            first = at + stop - len(value)
            cells.append((first, first + len(value.rstrip(_AROUND))))
        at = at + len(line) + 1 if newline else len(text)
    return Column(rows, at, cells)


def _in_cells(name: Row, text: str, cells: list[tuple[int, int]]) -> Iterator[Found]:
    """Yield the credentials in the cells below a name."""
    password = name.kind == _PASSWORD
    for start, end in cells:
        value = text[start:end]
        phrase = password and pattern("<PHRASE>").fullmatch(value)
        if phrase or _is_said(name, value):
            yield name.kind, start, end
        elif password and _is_word(value, prose=True) and not _is_code(value, bare=True):
            yield f"{WEAK}password", start, end


def _cells(separator: str) -> re.Pattern[str]:
    """Return the pattern of a cell; its group is the text between two separators."""
    if separator == _BLANKS:
        return pattern(r"(?:\A[ ]*|[ ]{2,})(\S+(?:[ ]\S+)*)")
    return pattern(
        rf'(?:\A|[{separator}])([ \t]*"(?:[^"\n]|"")*"[ \t]*(?=[{separator}]|\Z)'
        rf"|(?:\\.|[^{separator}\\])*)"
    )


def placed(text: str, hits: Iterable[tuple[str, int]]) -> Iterator[Found]:
    """Yield each credential in a known place, in no order."""
    done: dict[Row, int] = {}
    for literal, position in hits:
        begin = position + len(literal)
        for place in rows("places").get(literal, ()):
            wanted = (
                begin >= done.get(place, 0)
                and text.find(place.option, begin - 1, begin + _LONGEST) >= 0
            )
            if wanted:
                for match in _matches(place, position, begin, text, done):
                    if _is_secret(place, match[match.lastindex or 0]):
                        yield place.kind, *match.span(match.lastindex or 0)


def _matches(
    place: Row, start: int, begin: int, text: str, done: dict[Row, int]
) -> Iterable[re.Match[str]]:
    """Return the matches around the literal from `start` to `begin`."""
    line = max(text.rfind("\n", max(start - _FARTHEST, 0), start), start - _FARTHEST, 0)
    if place.end in ("before", "around"):
        until = start if place.end == "before" else begin + _LONGEST_VALUE
        found = pattern(place.expression).search(text, line, until)
    elif place.end:
        end = pattern(place.end).search(text, begin, begin + _LONGEST)
        done[place] = end.start() if end else min(begin + _LONGEST, len(text))
        return pattern(place.expression).finditer(text, begin, done[place])
    else:
        found = pattern(place.expression).match(text, begin)
    return (
        [found] if found and pattern(place.near).search(text, line, found.end() + _FARTHEST) else []
    )


def _is_secret(place: Row, value: str) -> bool:
    return (place.kind == "a weak PIN" or not stands_for_another(value)) and (
        place.chosen
        or (
            bool(pattern("[A-Za-z]").search(value))
            and not pattern("<NO_SECRET>").search(value)
            and not pattern("<IDENTIFIER>").fullmatch(value)
            and (
                (place.kind == "a password" and (is_chosen(value) or is_passphrase(value, 2, "-.")))
                or not is_words(value)
            )
        )
    )
