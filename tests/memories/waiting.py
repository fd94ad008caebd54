"""Memories that wait for a review: captured, alike, contradictory, expired, outdated, forgotten."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.api.vaults import opened, write
from vault_index import VaultIndex
from vault_index.api import dispatch
from vault_index.errors import ConflictError, NotFoundError

Ask = Callable[..., dict[str, Any]]
"""Calls a method with its parameters: of an open index, or of a daemon."""

_SYLLABLES = (
    "ba be bi bo da de do fa fe ga go ka ke ko la le lo ma me mo na ne no pa po ra re ro sa se so ta te to va vo"
)
_MARK = re.compile(r"\bx(\d{4})\b")


def asked(index: VaultIndex) -> Ask:
    return lambda method, **params: dispatch(index, method, params)


def here(folder: Path) -> Ask:
    """Open the index of `folder/home` for each call, as commands do."""

    def ask(method: str, **params: Any) -> dict[str, Any]:
        with opened(folder) as index:
            return dispatch(index, method, params)

    return ask


def new_home(folder: Path) -> Path:
    """Make an empty vault and a home that can be copied elsewhere together; return the vault."""
    (folder / "vault").mkdir(parents=True)
    (folder / "home").mkdir(mode=0o700)
    (folder / "home/config.toml").write_text('[sources.vault]\npath = "../vault"\n[embedding]\nprovider = "none"\n')
    return folder / "vault"


class Author:
    """Writes sentences that have little in common, the same for the same seed."""

    def __init__(self, seed: int = 1) -> None:
        self.random = random.Random(seed)
        self.number = 0

    def sentence(self, words: int = 9) -> str:
        syllables = _SYLLABLES.split()
        return " ".join("".join(self.random.choices(syllables, k=3)) for _ in range(words))

    def marked(self, text: str) -> str:
        """Return the text between two words of its own, so that half a text is noticed."""
        self.number += 1
        return f"x{self.number:04} {text} end{self.number:04}."


def make_waiting(vault: Path, ask: Ask, author: Author, numbers: Mapping[str, int]) -> None:
    """Write, capture and index so many memories of each kind; of those that are alike or contrary, so many pairs."""
    counts = Counter(numbers)
    earlier, recently = ((datetime.now(UTC) - timedelta(days)).isoformat(timespec="seconds") for days in (90, 10))
    long_ago = "2020-02-01T10:00:00+00:00"
    bodies: list[tuple[str, str, str]] = []
    for _ in range(counts["alike"]):
        said = author.sentence(14)
        bodies += [("alike", recently, author.marked(said)), ("alike", recently, author.marked(f"{said} again"))]
    for number in range(counts["contrary"]):
        thing = author.sentence(2)
        for day, port in ((earlier, 8000 + number), (recently, 9000 + number)):
            bodies.append(("contrary", day, author.marked(f"The port of the {thing} service is {port}")))
    for kind, line in (("expired", "expires: 2021-01-01"), ("outdated", "valid_until: 2021-01-01")):
        bodies += [(kind, f"{recently}\n{line}", author.marked(author.sentence())) for _ in range(counts[kind])]
    bodies += [
        ("unopened", f"{long_ago}\nupdated: {long_ago}", author.marked(author.sentence()))
        for _ in range(counts["unopened"])
    ]
    files = {}
    for number, (kind, dates, body) in enumerate(bodies):
        uid = f"00000000-0000-4000-8000-{number:012}"
        front = f"id: {uid}\ntype: note\ntitle: {body[:5]} {kind}\ntags: [{kind}]\ncreated: {dates}\nown: kept"
        files[f"80-memory/note/{kind}-{number}.md"] = f"---\n{front}\n---\n{body}\n"
    write(vault, files)
    ask("sync")
    remembered = [f"*Remember*: {author.marked(author.sentence())}" for _ in range(counts["remembered"])]
    stated = [f"We decided to use {author.marked(author.sentence())}" for _ in range(counts["stated"])]
    for start in range(0, len(remembered), 50):
        ask("capture", text="\n\n".join(remembered[start : start + 50]), inbox=True)
    for start in range(0, len(stated), 20):
        ask("capture", text="\n\n".join(stated[start : start + 20]), statements=True, inbox=True)


def marks(text: str) -> set[str]:
    """Return the first words of the memories that a text or a screen shows."""
    return set(_MARK.findall(text))


def is_whole(data: bytes) -> bool:
    """Whether it has a frontmatter, and the last word of each text that begins in it."""
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
    """Whether it is a temporary file of a write."""
    return Path(path).name.startswith(".vault-index-")


def undo_all(ask: Ask, vault: Path, until: Mapping[str, bytes]) -> int:
    """Undo changes until the files are these; return how many."""
    for number in range(400):
        if files_of(vault) == until:
            return number
        ask("undo")
    raise AssertionError("400 changes were undone, and the files are not as they were")


def undo_what_can_be(ask: Ask) -> int:
    """Undo changes up to one whose files were changed since; return how many."""
    for number in range(400):
        try:
            ask("undo")
        except (NotFoundError, ConflictError):
            return number
    raise AssertionError("there was no end to what could be undone")
