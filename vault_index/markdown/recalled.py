"""The marks around text that our own recall handed to an agent, by which it is known again and left out.

A block begins with the line `<vault-index-recall token="HEX">` and ends with `</vault-index-recall token="HEX">`. The
token is random and the same in both, so that no note that is quoted inside can end the block.
"""

import re
from bisect import bisect

_BEGIN = re.compile(r'^[ \t]*<vault-index-recall token="([0-9a-f]{4,64})">[ \t]*\r?$', re.MULTILINE)
_END = re.compile(r'^[ \t]*</vault-index-recall token="([0-9a-f]{4,64})">[ \t]*\r?(?:\n|\Z)', re.MULTILINE)


def drop_recalled(text: str) -> str:
    """The text without such blocks. One that does not end is left as it is: it may be a forgery."""
    if "<vault-index-recall" not in text:
        return text
    ends: dict[str, list[tuple[int, int]]] = {}
    for match in _END.finditer(text):
        ends.setdefault(match[1], []).append(match.span())
    parts = []
    position = 0
    for match in _BEGIN.finditer(text):
        if match.start() < position:
            continue
        closing = ends.get(match[1], [])
        following = bisect(closing, (match.end(), 0))
        if following < len(closing):
            parts.append(text[position : match.start()])
            position = closing[following][1]
    parts.append(text[position:])
    return "".join(parts)
