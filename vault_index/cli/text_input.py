"""Texts a command is given: as words, in a file, or on stdin."""

import os
import stat
import sys
from typing import Any

from vault_index.errors import NotFoundError, UsageError

STDIN = "-"
MOST_BYTES = 3 * 1024 * 1024
"""What a request to the daemon can carry."""


def given_text(args: dict[str, Any], name: str = "text") -> str | None:
    """Takes the text out of the arguments: the words under `name`, else `--file`, else what is piped in; None where
    nothing is given."""
    words, file = args.pop(name, None), args.pop("file", None)
    text = " ".join(words) if isinstance(words, list) else words
    if text and file is not None:
        raise UsageError("the text is given twice, as words and as a file", "give one of them")
    if text == STDIN or file == STDIN:
        return stdin_text() or ""
    if file is not None:
        return read_text(file)
    return text or stdin_text()


def stdin_text() -> str | None:
    """What is piped in; None on a terminal, and where nothing can come (`/dev/null`)."""
    try:
        if stat.S_ISCHR(os.fstat(sys.stdin.fileno()).st_mode):
            return None
    except (AttributeError, OSError, ValueError):  # closed, or no file at all
        return None
    return _decoded(sys.stdin.buffer.read(MOST_BYTES + 1), "what is piped in")


def read_text(path: str) -> str:
    """The text of a file. Raises NotFoundError, and UsageError for one that is no text or too large."""
    try:
        with open(os.path.expanduser(path), "rb") as file:
            return _decoded(file.read(MOST_BYTES + 1), path)
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {path}", "check the path") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "name a file, or pipe the text in") from error


def _decoded(data: bytes, what: str) -> str:
    if len(data) > MOST_BYTES:
        raise UsageError(f"{what} has more than {MOST_BYTES // 2**20} MiB", "give less of it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{what} is not valid UTF-8", "give it in UTF-8") from error
