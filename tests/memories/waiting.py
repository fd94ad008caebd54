"""Homes that can be copied, texts that reveal a partial write, and the files of a vault."""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.api.vaults import opened
from vault_index.api import dispatch
from vault_index.errors import ConflictError, NotFoundError

Ask = Callable[..., dict[str, Any]]
"""Calls a method with its parameters, of an index or of a daemon."""

_SYLLABLES = (
    "ba be bi bo da de do fa fe ga go ka ke ko la le lo ma me mo na ne no pa po ra re ro sa se so ta te to va vo"
)
_MARK = re.compile(r"\bx(\d{4})\b")


def here(folder: Path) -> Ask:
    """Open the index of `folder/home` for each call, as commands do."""

    def ask(method: str, **params: Any) -> dict[str, Any]:
        with opened(folder) as index:
            return dispatch(index, method, params)

    return ask


def new_home(folder: Path) -> Path:
    """Make an empty vault and a home that can be copied together; return the vault."""
    (folder / "vault").mkdir(parents=True)
    (folder / "home").mkdir(mode=0o700)
    (folder / "home/config.toml").write_text('[sources.vault]\npath = "../vault"\n[embedding]\nprovider = "none"\n')
    return folder / "vault"


class Author:
    """Writes sentences with little in common, the same each time."""

    def __init__(self) -> None:
        self.random = random.Random(1)
        self.number = 0

    def sentence(self) -> str:
        syllables = _SYLLABLES.split()
        return " ".join("".join(self.random.choices(syllables, k=3)) for _ in range(9))

    def marked(self, text: str) -> str:
        """Return the text between two unique words, which reveal a partial write."""
        self.number += 1
        return f"x{self.number:04} {text} end{self.number:04}."


def marks(text: str) -> set[str]:
    """Return the first words of the memories in a text."""
    return set(_MARK.findall(text))


def is_whole(data: bytes) -> bool:
    """Return whether it has a frontmatter, and the last word of each text that begins in it."""
    text = data.decode()
    return text.startswith("---\n") and "\n---\n" in text and all(f"end{one}." in text for one in marks(text))


def files_of(vault: Path) -> dict[str, bytes]:
    """Return every file by its path, without hidden files and the trash."""
    return {path: data for path, data in all_files(vault) if not path.startswith(".")}


def all_files(vault: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(vault.rglob("*")):
        if path.is_file():
            yield path.relative_to(vault).as_posix(), path.read_bytes()


def is_draft(path: str) -> bool:
    """Return whether it is the temporary file of a write."""
    return Path(path).name.startswith(".vault-index-")


def undo_what_can_be(ask: Ask) -> int:
    """Undo changes up to one whose files changed later; return how many."""
    for number in range(400):
        try:
            ask("undo")
        except (NotFoundError, ConflictError):
            return number
    raise AssertionError("there was no end to what could be undone")
