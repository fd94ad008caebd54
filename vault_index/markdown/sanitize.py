"""Sanitize the text of notes before an agent reads it.

Removes terminal sequences, control characters, and characters that Unicode calls ignorable
(zero-width characters, bidirectional controls, tags, variation selectors), because they can hide
text from people. Joiners that emoji and scripts need stay. `<` and its look-alikes become `&lt;`,
so that no note can write a tag or one of our markers.
"""

import re
from functools import cache

_TERMINAL = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])"  # OSC
    r"[^\x07\x1b\x90\x98\x9c-\x9f\n]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)
_LINE_END = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
# Emoji, and letters of scripts where a joiner changes a word: Arabic (Persian) to Tibetan and
# Burmese, Khmer, Mongolian.
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297"
    "\u3299\U0001f000-\U0001faff"
)
_JOINED = "\u0620-\u109f\u1780-\u17b3\u17b6-\u17ff\u1820-\u18af\ufb50-\ufdff\ufe70-\ufefc"
# Unicode's Default_Ignorable_Code_Point, and interlinear annotation characters.
_BLANK = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{_BLANK}\u200c\u200d\ufe0e\ufe0f]")
# All except a joiner between such letters or emoji, and a variation selector of an emoji or keycap.
_IGNORABLE = (
    rf"[{_BLANK}]|[\ufe0e\ufe0f](?<![{_EMOJI}].)(?!(?<=[0-9#*].)\u20e3)|[\u200c\u200d](?!(?<=[{_JOINED}].)[{_JOINED}]"
    rf"|(?<=[{_EMOJI}]\u200d)[{_EMOJI}]|(?<=[{_EMOJI}]\ufe0f\u200d)[{_EMOJI}])"
)
_OPENING = re.compile(
    "[<\u02c2\u1438\u16b2\u2039\u2329\u226e\u227a\u22d6\u2770\u276c\u276e\u27e8\u2991\u29fc\u3008\ufe3f\ufe64\uff1c\U0001f780]"
)
_HALF = re.compile("[\ud800-\udfff]")


def harmless(text: str) -> str:
    """Sanitize a text; keep its lines, with LF line ends."""
    text = _LINE_END.sub("\n", _TERMINAL.sub("", text)).replace("\t", " ")
    text = _HALF.sub("\ufffd", without_invisible(_CONTROL.sub("", text)))
    return _OPENING.sub("&lt;", text)


def without_invisible(text: str) -> str:
    """Remove invisible characters, which could hide instructions from people."""
    return _ignorable().sub("", text) if _INVISIBLE.search(text) else text


@cache
def _ignorable() -> re.Pattern[str]:
    return re.compile(_IGNORABLE)  # takes 3 ms, and few texts need it


def harmless_line(text: str, longest: int) -> str:
    """Sanitize a text to one line of at most `longest` characters, truncated with `…`."""
    line = " ".join(harmless(text[: 4 * longest]).split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"
