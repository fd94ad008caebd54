"""Classify files and folders by name: documents, hidden files, conflict copies, placeholders."""

import re
from collections.abc import Iterable
from itertools import islice, product
from unicodedata import normalize

DOCUMENT_ENDINGS = (".md", ".markdown", ".canvas")
"""Case-insensitive. Obsidian reads `.md` and `.canvas`; documentation folders use `.markdown`."""

_HALF = re.compile("[\ud800-\udfff]")
_ICLOUD = ".icloud"
_SPELLINGS = 64
"""Maximum number of spellings per path, because they multiply with each accented folder."""
_IGNORED_FOLDERS = frozenset(
    {"node_modules", "site-packages", "@eadir", "@recycle", "#recycle", "$recycle.bin", "__macosx"}
)
_CONFLICTS = (
    # Dropbox, Nextcloud, pCloud, Seafile
    "conflicted copy", "conflict copy", "sfconflict", "case conflict",
    "in konflikt stehende kopie", "konfliktkopie", "copie en conflit", "copia en conflicto",
    "copia in conflitto",
    "cópia em conflito", "conflicterende kopie", "kopia powodująca konflikt", "kopia w konflikcie",
    "конфликтующая копия", "競合コピー", "競合したコピー", "冲突副本", "冲突的副本", "衝突複本",
    "충돌된 복사본", "충돌 사본", "çakışan kopya",
)  # fmt: skip
"""Names of sync programs for a conflict copy, in brackets and in lower case."""
_CONFLICT = re.compile(
    rf"[(\[][^()\[\]]{{0,99}}(?:{'|'.join(_CONFLICTS)})[^()\[\]]{{0,99}}[)\]]"
    # pCloud, Syncthing, ownCloud, Synology Drive
    r"|\[conflicted\]|\.sync-conflict-|_conflict-\d{8}-\d{6}|_[a-z]{3}-\d\d-\d{6}-\d{4}_(?:case)?conflict\."
)


def is_document_name(name: str) -> bool:
    """Return whether a file name is a document's; a placeholder (`.note.md.icloud`) is not."""
    # The fast test first: it decides for nearly every file.
    if not name.endswith(".md") and not name.lower().endswith(DOCUMENT_ENDINGS):
        return False
    may_be_conflict = "onfli" in name.lower() or not name.isascii()
    return not (
        name.startswith((".", "~$"))
        or (may_be_conflict and _CONFLICT.search(normalize("NFC", name.lower())))
    )


def is_folder_name(name: str) -> bool:
    """Return whether a folder name allows documents inside."""
    return name[0] != "." and name.lower() not in _IGNORED_FOLDERS


def is_readable_name(name: str) -> bool:
    """Return whether a name is valid UTF-8; others cannot be stored or shown."""
    # Python decodes other bytes to lone surrogates.
    return name.isascii() or not _HALF.search(name)


def placeholder_of(name: str) -> str:
    """Return the document name in an iCloud placeholder (`.note.md.icloud`), or ""."""
    document = name[1 : -len(_ICLOUD)] if name.startswith(".") and name.endswith(_ICLOUD) else ""
    return document if document and is_document_name(document) else ""


def placeholder_name(name: str) -> str:
    """Return the iCloud placeholder of a document name."""
    return f".{name}{_ICLOUD}"


def same_name(name: str, found: Iterable[str]) -> str:
    """Return a name as it is spelled in `found`; names with the same NFC form match."""
    names = list(found)
    if name in names:
        return name
    plain = normalize("NFC", name)
    return min((other for other in names if normalize("NFC", other) == plain), default=name)


def spellings(path: str) -> list[str]:
    """Return the path, and its variants with names in Unicode NFC or NFD."""
    forms = [
        dict.fromkeys((part, normalize("NFC", part), normalize("NFD", part)))
        for part in path.split("/")
    ]
    return ["/".join(parts) for parts in islice(product(*forms), _SPELLINGS)]


def shown_name(path: str) -> str:
    """Return a text as valid UTF-8; other bytes become backslash escapes."""
    if is_readable_name(path):
        return path
    try:
        return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # surrogates that no file name has
        return path.encode("utf-8", "backslashreplace").decode()


def readable_part(path: str) -> str:
    """Return the path up to and including its first name that is not valid UTF-8."""
    parts = path.split("/")
    bad = next(
        (number for number, part in enumerate(parts) if not is_readable_name(part)), len(parts)
    )
    return "/".join(parts[: bad + 1])


def parts_of(path: str) -> list[str] | None:
    """Split a relative path at `/`; None if invalid (absolute, `..`, empty names)."""
    parts = path.split("/")
    return None if "\0" in path or any(part in ("", ".", "..") for part in parts) else parts
