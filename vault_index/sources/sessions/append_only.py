"""Parse a session file that its client only appends to, without parsing any line twice."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from vault_index.disk import os_errors_as
from vault_index.sources.sessions.client import Conversation
from vault_index.sources.sessions.json_access import Json
from vault_index.sources.sessions.jsonl import objects_in
from vault_index.sources.sessions.model import Message, Session

_COMPARED = 4096
"""Last parsed bytes that are compared with the file, to detect a replaced file."""


class AppendOnlyConversation(Conversation, ABC):
    """A conversation that keeps the parser's state, so that `extend` parses only new lines."""

    skipped = b"\n"
    """Beginning of lines to skip unparsed."""

    def __init__(self, session: Session, file: Path, include: Collection[str]) -> None:
        super().__init__(session, [], [])
        self.file, self.include = file, include
        self._end = 0
        """Bytes that are parsed."""
        self._last = b""
        self._faults: list[str] = []
        """Problems of the lines parsed so far."""
        self._unknown: set[str] = set()

    def continues(self, file: Path) -> bool:
        """Return whether a file still begins with the parsed lines."""
        return file == self.file and self._end > 0 and self._parsed_last() == self._last

    def extend(self, session: Session) -> None:
        """Parse the new lines, and update the conversation. Raises VaultIndexError."""
        with os_errors_as(f"{self.file} cannot be read", "check its permissions"):
            for begin, end, value in self.lines(self._end):
                self.parse(begin, end, value)
                self._end = max(self._end, end)
            self._last = self._parsed_last()
            faults = list[str]()
            self.session, self.messages = self.finish(session, faults)
        self.problems = list(dict.fromkeys((*self._faults, *faults)))

    def lines(self, offset: int) -> Iterator[tuple[int, int, Json]]:
        """Yield the (begin, end, object) from an offset on, in bytes."""
        return objects_in(self.file, self._faults, offset, passed_over=self.skipped)

    def report(self, what: str, begin: int) -> None:
        """Report unknown content, each kind once."""
        if what not in self._unknown:
            self._unknown.add(what)
            self._faults.append(f"{self.file}: skipped unknown {what}, first at byte {begin}")

    @abstractmethod
    def parse(self, begin: int, end: int, value: Json) -> None:
        """Add one line to the state."""

    @abstractmethod
    def finish(self, session: Session, problems: list[str]) -> tuple[Session, list[Message]]:
        """Return the session with its final title and time, and the messages so far."""

    def _parsed_last(self) -> bytes:
        with suppress(OSError), self.file.open("rb") as file:
            begin = max(0, self._end - _COMPARED)
            file.seek(begin)
            return file.read(self._end - begin)
        return b""
