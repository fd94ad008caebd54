"""Make text safe to show: no control characters, bidirectional overrides or lone surrogates."""

from vault_index.markdown.sanitize import without_invisible

_VISIBLE = {code: 0x2400 + code for code in range(0x20)}  # control pictures, from U+2400
_REPLACED = (
    0x7F,
    *range(0x80, 0xA0),  # C1 control characters; U+009B alone is a CSI
    *range(0x202A, 0x202F),  # bidirectional embeddings and overrides reorder a line
    *range(0x2066, 0x206A),  # bidirectional isolates
    *range(0xD800, 0xE000),  # lone surrogates cannot be encoded as UTF-8
)
_TABLE = _VISIBLE | dict.fromkeys(_REPLACED, 0xFFFD) | {0x09: "    ", 0x0A: "\n"}
_LINE_TABLE = _TABLE | dict.fromkeys((0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029), " ")

_WITHOUT_LINES = {code: sign for code, sign in _TABLE.items() if code not in (0x09, 0x0A)}


def visible(text: str) -> str:
    """Return `text` for agents and programs, with its line breaks and tabs."""
    return without_invisible(text.replace("\r\n", "\n")).translate(_WITHOUT_LINES)


def clean(text: str) -> str:
    """Return `text` for a terminal: CR LF and CR become LF, a tab becomes four spaces."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_TABLE)


def clean_line(text: str) -> str:
    """Return `text` on one line; line breaks and tabs become spaces."""
    return text.replace("\r\n", "\n").translate(_LINE_TABLE)
