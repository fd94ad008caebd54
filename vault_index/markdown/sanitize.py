"""Text of notes made harmless where an agent reads it: nothing in it acts, hides, or looks like a mark of ours.

What is taken out says nothing to a reader: terminal sequences, control characters, and the characters that Unicode
lets programs pass over (zero-width ones, bidirectional controls, tags, variation selectors), in which text for an
agent can be hidden from people. A `<`, or what looks like one, becomes `&lt;`: so no note can write a mark or a tag.
"""

import re

_TERMINAL = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\n]{0,4096}(?:\x07|\x1b\\|\x9c)"  # OSC
    r"|\x1b[ -/]*[0-~]"
)
_LINE_END = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
# Default_Ignorable_Code_Point of Unicode, and the marks of interlinear annotations.
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_OPENING = re.compile(
    "[<\u02c2\u1438\u16b2\u2039\u2329\u226e\u227a\u22d6\u2770\u276c\u276e\u27e8\u2991\u29fc\u3008\ufe3f\ufe64\uff1c\U0001f780]"
)
_HALF = re.compile("[\ud800-\udfff]")


def harmless(text: str) -> str:
    """`text` with its lines kept, each ended by LF."""
    text = _LINE_END.sub("\n", _TERMINAL.sub("", text)).replace("\t", " ")
    text = _HALF.sub("\ufffd", _IGNORABLE.sub("", _CONTROL.sub("", text)))
    return _OPENING.sub("&lt;", text)


def harmless_line(text: str, longest: int) -> str:
    """`text` as one line of at most `longest` characters, cut with `…`."""
    line = " ".join(harmless(text[: 4 * longest]).split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"
