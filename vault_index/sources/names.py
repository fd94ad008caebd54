"""What a name alone says about a file or folder: a document, hidden, or a leftover nobody wants to search."""

import re
from collections.abc import Iterable
from itertools import islice, product
from unicodedata import normalize

DOCUMENT_ENDINGS = (".md", ".markdown", ".canvas")
"""In any case of letters. Obsidian knows `.md` and `.canvas`; folders of documentation hold `.markdown` as well."""

_HALF = re.compile("[\ud800-\udfff]")
_ICLOUD = ".icloud"
_SPELLINGS = 64
"""Of one path, with those of the file itself first: a path of many folders with accents has no end of them."""
_IGNORED_FOLDERS = frozenset(
    {"node_modules", "site-packages", "@eadir", "@recycle", "#recycle", "$recycle.bin", "__macosx"}
)
_CONFLICTS = (
    "conflicted copy", "conflict copy", "sfconflict", "case conflict",  # Dropbox, Nextcloud, pCloud, Seafile
    "in konflikt stehende kopie", "konfliktkopie", "copie en conflit", "copia en conflicto", "copia in conflitto",
    "cópia em conflito", "conflicterende kopie", "kopia powodująca konflikt", "kopia w konflikcie",
    "конфликтующая копия", "競合コピー", "競合したコピー", "冲突副本", "冲突的副本", "衝突複本", "충돌된 복사본",
    "충돌 사본", "çakışan kopya",
)  # fmt: skip
"""What programs that synchronise folders call the copy that lost, in brackets, in their languages; in lower case."""
_CONFLICT = re.compile(
    rf"[(\[][^()\[\]]{{0,99}}(?:{'|'.join(_CONFLICTS)})[^()\[\]]{{0,99}}[)\]]"
    # pCloud, Syncthing, ownCloud, Synology Drive
    r"|\[conflicted\]|\.sync-conflict-|_conflict-\d{8}-\d{6}|_[a-z]{3}-\d\d-\d{6}-\d{4}_(?:case)?conflict\."
)


def is_document_name(name: str) -> bool:
    """Whether a file of that name is a document. iCloud placeholders (`.note.md.icloud`) are hidden, and so are not."""
    # The plain test first: it decides nearly every name and runs for every file of a vault.
    if not name.endswith(".md") and not name.lower().endswith(DOCUMENT_ENDINGS):
        return False
    may_be_conflict = "onfli" in name.lower() or not name.isascii()
    return not (name.startswith((".", "~$")) or (may_be_conflict and _CONFLICT.search(normalize("NFC", name.lower()))))


def is_folder_name(name: str) -> bool:
    """Whether a folder of that name may hold documents."""
    return name[0] != "." and name.lower() not in _IGNORED_FOLDERS


def is_readable_name(name: str) -> bool:
    """Whether the name is valid UTF-8; others cannot be stored, shown or asked for."""
    # Only lone halves of characters, as Python reads bytes of a name that are not UTF-8, cannot be encoded.
    return name.isascii() or not _HALF.search(name)


def placeholder_of(name: str) -> str:
    """The document for which iCloud keeps this file while it is not on the machine (`.note.md.icloud`); or nothing."""
    document = name[1 : -len(_ICLOUD)] if name.startswith(".") and name.endswith(_ICLOUD) else ""
    return document if document and is_document_name(document) else ""


def placeholder_name(name: str) -> str:
    """The other way round."""
    return f".{name}{_ICLOUD}"


def same_name(name: str, found: Iterable[str]) -> str:
    """The name as it is spelled among those found: itself, else the first that differs in its Unicode normal form
    alone, else itself again."""
    names = list(found)
    if name in names:
        return name
    plain = normalize("NFC", name)
    return min((other for other in names if normalize("NFC", other) == plain), default=name)


def spellings(path: str) -> list[str]:
    """The path as it stands, and with its names in the Unicode normal forms they may have had before."""
    forms = [dict.fromkeys((part, normalize("NFC", part), normalize("NFD", part))) for part in path.split("/")]
    return ["/".join(parts) for parts in islice(product(*forms), _SPELLINGS)]


def shown_name(path: str) -> str:
    """A path that may not be valid UTF-8, or a text that names one, as text that is."""
    if is_readable_name(path):
        return path
    try:
        return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # halves of characters, which no name on a disk has
        return path.encode("utf-8", "backslashreplace").decode()


def readable_part(path: str) -> str:
    """The path as far as its names are valid UTF-8, and the first that is not: nothing in that is ever looked at."""
    parts = path.split("/")
    bad = next((number for number, part in enumerate(parts) if not is_readable_name(part)), len(parts))
    return "/".join(parts[: bad + 1])


def parts_of(path: str) -> list[str] | None:
    """The names in a relative path with `/`; None if it is not one (absolute, `..`, empty names)."""
    parts = path.split("/")
    return None if "\0" in path or any(part in ("", ".", "..") for part in parts) else parts
