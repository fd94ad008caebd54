"""Draw the review of memories for people, one item per screen."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from rich.text import Text

from vault_index.output.terminal import Page
from vault_index.output.text import clean, clean_line
from vault_index.output.view import Record
from vault_index.output.views import about

KEYS = {
    "a": ("accept", "move it out of the inbox"),
    "e": ("edit", "edit its file in $EDITOR; of two, the first"),
    "m": ("merge", "add what the first lacks from the second, and supersede the second"),
    "s": ("supersede", "mark the second as superseded by the first"),
    "x": ("swap", "exchange the first and the second"),
    "r": ("archive", "hide it from search and recall; of two, the second"),
    "d": ("delete", "move it to .trash/ of its vault; of two, the second"),
    "k": ("keep", "hide it here until it changes"),
    "n": ("next", "decide later"),
    "p": ("back", "go to the previous item"),
    "u": ("undo", "undo the last decision"),
    "?": ("help", "show this page"),
    "q": ("quit", "quit; decisions are already saved"),
}
"""Name and description of each key."""
_TWO_COLUMNS = 100
"""Width in characters from which two memories are shown side by side."""
_BETWEEN = " │ "
_REMOVED = "2 remove  "
_COMPACT = 8
"""Number of lines for a memory up to which no line stays blank."""
_MARKS = {(False, True): "«", (True, False): "»"}
"""Marks before a word, by whether the word before it differs, and whether it does."""
_WORDS = re.compile(r"(\s+)")


def item_screen(
    item: Record,
    keys: Sequence[str],
    place: str,
    message: str,
    *,
    width: int,
    height: int,
    color: bool,
) -> str:
    """Return an item with its valid keys, in at most `height` lines.

    `place` is its position in the list, `message` the result of the last action.
    """
    page = Page(width, color=color, links=False)
    foot = _keys(page, keys)
    head = [
        *_wrapped(
            page,
            Text.assemble(
                (place, "dim"), (f" · {item['reason']}", "bold green"), f" · {item['about']}"
            ),
        ),
        *(_wrapped(page, Text(clean_line(message), "yellow")) if message else ()),
        Text(),
    ]
    room = max(height - len(head) - len(foot) - 2, 4)
    return _page_text(
        page, [*head, *_memories(page, item["memories"], room, color=color), Text(), *foot]
    )


def help_screen(keys: Sequence[str], *, width: int, color: bool) -> str:
    """Return the description of the valid keys."""
    page = Page(width, color=color, links=False)
    rows = [
        Text.assemble((f"{key} {KEYS[key][0]:<10}", "bold"), f" {KEYS[key][1]}") for key in keys
    ]
    return _page_text(
        page,
        [
            *(part for row in rows for part in _wrapped(page, row)),
            Text(),
            Text("press any key to go back", "dim"),
        ],
    )


def end_screen(keys: Sequence[str], place: str, message: str, *, width: int, color: bool) -> str:
    """Return the screen after the last item."""
    page = Page(width, color=color, links=False)
    head = [
        Text(place, "bold"),
        *(_wrapped(page, Text(clean_line(message), "yellow")) if message else ()),
        Text(),
    ]
    return _page_text(page, [*head, *_keys(page, keys)])


def _page_text(page: Page, lines: Sequence[Text]) -> str:
    for one in lines:
        page.print(one)
    return page.text(())


def _keys(page: Page, keys: Sequence[str]) -> list[Text]:
    """Return lines such as `a accept  e edit`, without a break between key and name."""
    lines = [Text()]
    for key in keys:
        one = Text.assemble((key, "bold"), f" {KEYS[key][0]}")
        if len(lines[-1]) and lines[-1].cell_len + 2 + one.cell_len > page.width:
            lines.append(Text())
        lines[-1] += Text("  " if len(lines[-1]) else "") + one
    return lines


def _memories(page: Page, memories: Sequence[Record], room: int, *, color: bool) -> list[Text]:
    """Return one memory, or two side by side or below each other, with their differences marked."""
    if len(memories) == 1:
        return _panel(page, memories[0], Text(clean(memories[0]["text"])), "", page.width, room)
    texts = _marked(*(clean(one["text"]) for one in memories[:2]), color=color)
    marks = ("1 keep  ", _REMOVED)
    if page.width < _TWO_COLUMNS:
        upper, lower = (
            _panel(page, *one, page.width, (room - 1) // 2)
            for one in zip(memories, texts, marks, strict=False)
        )
        return [*upper, Text(), *lower]
    width = (page.width - len(_BETWEEN)) // 2
    sides = [_panel(page, *one, width, room) for one in zip(memories, texts, marks, strict=False)]
    return [
        Text.assemble(left, " " * (width - left.cell_len), (_BETWEEN, "dim"), right)
        for left, right in zip_longest(*sides, fillvalue=Text())
    ]


def _panel(page: Page, memory: Record, text: Text, mark: str, width: int, room: int) -> list[Text]:
    """Return a memory in at most `room` lines."""
    heads = (
        Text.assemble((mark, "green"), (clean_line(memory["title"]), "bold")),
        Text(clean_line(memory["path"]), "cyan"),
        Text(clean_line(about(memory)), "dim"),
    )
    lines = [part for one in heads for part in one.wrap(page.console, width)][: max(room // 3, 1)]
    body = [*([Text()] if room > _COMPACT else []), *text.wrap(page.console, width)]
    left = room - len(lines)
    if len(body) > left or memory["cut"]:
        body = [
            *body[: max(left - 1, 0)],
            Text("…" if mark == _REMOVED else "… e opens the whole text", "dim"),
        ]
    return [*lines, *body]


def _wrapped(page: Page, text: Text) -> list[Text]:
    return list(text.wrap(page.console, page.width))


def _marked(one: str, other: str, *, color: bool) -> tuple[Text, Text]:
    """Return both texts with the differing words in colour, or without colour between « and »."""
    words = _WORDS.split(one), _WORDS.split(other)
    same: tuple[set[int], set[int]] = (set(), set())
    for first, second, size in SequenceMatcher(
        None, words[0][::2], words[1][::2], autojunk=False
    ).get_matching_blocks():
        for number, start in enumerate((first, second)):
            same[number].update(range(2 * start, 2 * (start + size), 2))
    return _text(words[0], same[0], color=color), _text(words[1], same[1], color=color)


def _text(words: Sequence[str], same: set[int], *, color: bool) -> Text:
    """Join words (even positions) and separators (odd positions); mark words not in `same`."""
    text = Text()
    differs = False
    for number, word in enumerate(words):
        between = number % 2 == 1
        new = differs and number + 1 not in same if between else number not in same and bool(word)
        if color:
            text.append(word, "bold yellow" if new else "")
        else:
            text.append(_MARKS.get((differs, new), "") + word)
        differs = new
    return text.append("»") if differs and not color else text
