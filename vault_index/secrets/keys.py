"""Private keys: PEM, OpenSSH and PGP blocks, and the private lines of PuTTY's files."""

from collections.abc import Iterator

from vault_index.secrets.placeholders import compiled

_MARK = "-----BEGIN "
_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_LONGEST = 100_000
_BODY = r"[A-Za-z0-9+/=]{12}"
# A key whose end is missing: lines of base64, also quoted, indented, or with their breaks written as `\n`. Nothing
# follows the lines, and `+` before one is a mark of a diff: so a long text is read in one way only.
_BEFORE_LINE = r"[\s>|#*\"'`,+]*(?:\\[nrt][\s>|#*\"'`,+]*)*"
_LINES = rf"(?:{_BEFORE_LINE}[A-Za-z0-9/=][A-Za-z0-9+/=]{{11,}})+"
_PUTTY = r"Private-Lines: \d{1,3}\s((?:\s*[A-Za-z0-9+/=]{12,})+)"


def private_keys(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each private key. A mark without a key behind it, as in prose, is none."""
    start = text.find(_MARK)
    while start >= 0:
        following = text.find(_MARK, start + len(_MARK))
        if begin := compiled(_BEGIN).match(text, start):
            limit = min(len(text) if following < 0 else following, start + _LONGEST)
            if end := compiled(_END).search(text, begin.end(), limit):
                if compiled(_BODY).search(text, begin.end(), end.start()):
                    yield "a private key", start, end.end()
            elif lines := compiled(_LINES).match(text, begin.end()):
                yield "a private key", start, lines.end()
        start = following
    if "Private-Lines: " in text:
        for match in compiled(_PUTTY).finditer(text):
            yield "a private key", *match.span(1)
