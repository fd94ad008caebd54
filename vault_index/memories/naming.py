"""What files of memories may be called."""

import re
import unicodedata

from vault_index.sources.names import is_document_name, is_folder_name, is_readable_name

NAME_BYTES = 255
"""What most file systems take."""

_SLUG_CHARACTERS = 60
_SLUG_BYTES = 200
_RESERVED = re.compile(r'[\\:*?"<>|\x00-\x1f\x7f]')


def slug(title: str) -> str:
    """Words joined by `-`, in lower case, at most 60 characters; letters of any script stay. May be empty."""
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", title).lower())
    words = "".join(character if unicodedata.category(character)[0] in "LMN" else " " for character in text).split()
    whole = "-".join(words)
    cut = whole[:_SLUG_CHARACTERS]
    if len(whole) > len(cut) and whole[len(cut)] != "-":
        cut = cut.rpartition("-")[0] or cut
    while len(cut.encode()) > _SLUG_BYTES:
        cut = cut[:-1]
    return cut.strip("-")


def unusable(parts: list[str], *, new: bool) -> str:
    """Why a path can be no memory; empty where it can. Files that are there may have names we would not give."""
    if not all(is_readable_name(part) for part in parts):
        return "it is not valid UTF-8"
    if parts[-1] == ".md":
        return "it is empty"
    if any(part.startswith(".") for part in parts):
        return "what begins with a dot is hidden"
    if not all(is_folder_name(part) for part in parts[:-1]) or not is_document_name(parts[-1]):
        return "the index passes over such names"
    if not new:
        return ""
    if bad := _RESERVED.search("".join(parts)):
        return f"{bad[0]!r} is not allowed in file names everywhere"
    if any(part != part.strip() or part.endswith(".") for part in [*parts[:-1], parts[-1].removesuffix(".md")]):
        return "names must not begin with a space, or end with a space or a dot"
    return "it is too long" if any(len(part.encode()) > NAME_BYTES for part in parts) else ""
