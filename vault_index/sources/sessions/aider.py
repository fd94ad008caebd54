"""Read Aider's sessions: `.aider.chat.history.md` in the project, which each run continues.

`# aider chat started at …` begins a session. A line of a prompt begins with `####`, and one of the
client itself with `>`; both end with two spaces, unlike headings and quotations in an answer.
(Aider-AI/aider at 5dc9490b: aider/io.py)
"""

import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from pathlib import Path
from zlib import crc32

from vault_index.disk import os_errors_as
from vault_index.errors import NotFoundError, VaultIndexError
from vault_index.models import FileStamp
from vault_index.results.base import Problem
from vault_index.sources.files import stamp_at
from vault_index.sources.sessions.client import Client, Conversation, Listing
from vault_index.sources.sessions.entries import Entry, Reading, conversation
from vault_index.sources.sessions.json_access import tool_call
from vault_index.sources.sessions.model import Listed, Part, Session, Text

_FILE = ".aider.chat.history.md"
_START = re.compile(rb"^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$", re.MULTILINE)
_PROMPT, _REMARK = "#### ", "> "
_VERSION = re.compile(rb"^> Aider v(\S{1,40})", re.MULTILINE)
_MODEL = re.compile(r"(?:Main m|M)odel: (\S+) with ")
_COUNT = re.compile(r"(\d{1,9}(?:\.\d)?)(k?) (?:sent|received)")
_TOOLS = {"Applied edit to ": ("edit", "path"), "Running ": ("shell", "command")}
_RUN = re.compile(r"(?:/run |/test |!)(.+)")
_COMMAND = re.compile(r"/(?:ask|architect|code|context)\s+|/[a-z-]+(?:\s.*)?\Z", re.DOTALL)
"""A command to the client; some are followed by a prompt."""


class Aider(Client):
    """The client for Aider. A data folder may be a project."""

    name = "aider"
    deep = False

    def __init__(self, *folders: Path, cache: Path | None = None) -> None:
        super().__init__(*folders, cache=cache)
        self._read: dict[Path, tuple[FileStamp | None, list[Listed]]] = {}
        """The sessions of each file, when it was read last."""

    def present(self) -> bool:
        """Return whether a file exists; if none is known, look in other clients' projects."""
        return bool(self._files() or self._files(look=True))

    def listing(self) -> Listing:
        """List the sessions of all files; unchanged files are not read again."""
        found, faults, problems = dict[str, Listed](), list[Problem](), list[str]()
        for file in self._files(look=True):
            try:
                sessions = self._listed(file)
                found |= {one.session.id: one for one in sessions}
                problems += [] if sessions else [f"{file}: skipped, no session begins in it"]
            except VaultIndexError as error:
                faults.append(Problem("sessions_unreadable", error.message, error.hint))
        return Listing(found, tuple(faults), tuple(problems))

    def session(self, id_: str) -> Listed | None:
        """Return the current state of a session. Raises VaultIndexError."""
        sessions = (one for file in self._files() for one in self._listed(file))
        return next((one for one in sessions if one.session.id == id_), None)

    def read(
        self, listed: Listed, include: Collection[str], earlier: Conversation | None = None
    ) -> Conversation:
        """Read a session. Raises NotFoundError if it is no longer in its file."""
        texts = {one.id: text for one, text in _sections(listed.place)}
        if listed.session.id not in texts:
            raise NotFoundError(f"{listed.place} has lost a session", "run: vault-index sync")
        entries = _entries(texts[listed.session.id].decode("utf-8", "replace"))
        return conversation(self.name, listed.session, entries, include, Reading(self.title))

    def version(self) -> object:
        """Return the stamps of all files."""
        return {file: stamp_at(file) for file in self._files()}

    def watched(self) -> Sequence[Path]:
        """Return the projects."""
        return [*dict.fromkeys((*self.folders, *(file.parent for file in self._files(look=True))))]

    def concerns(self, path: str) -> bool:
        """Return whether a path is a history."""
        return os.path.basename(path) == _FILE

    def _files(self, *, look: bool = False) -> list[Path]:
        own = filter(Path.is_file, (folder / _FILE for folder in self.folders))
        return [*dict.fromkeys((*own, *self.in_projects(look=look)))]

    def _listed(self, file: Path) -> list[Listed]:
        stamp = stamp_at(file)
        if file not in self._read or self._read[file][0] != stamp:
            found = [
                Listed(
                    session=session,
                    stamp=FileStamp(len(text), session.created * 1_000_000, crc32(text)),
                    messages=text.count(b"\n#### "),
                    first=session.created,
                    place=file,
                )
                for session, text in _sections(file)
            ]
            self._read[file] = stamp, found
        return self._read[file][1]


def _sections(file: Path) -> Iterator[tuple[Session, bytes]]:
    """Yield the sessions of a file with their text. Raises VaultIndexError."""
    with os_errors_as(f"{file} cannot be read", "check its permissions"):
        data, folder = file.read_bytes(), str(file.parent)
    starts = list(_START.finditer(data))
    ends = [*(one.start() for one in starts[1:]), len(data)]
    for start, end in zip(starts, ends, strict=False):
        text = b"\n%b\n" % data[start.end() : end].strip(b"\r\n")
        with suppress(ValueError, OverflowError, OSError):
            began = datetime.fromisoformat(start[1].decode())  # local time
            created = int(began.timestamp() * 1000)
            id_ = f"{began:%Y%m%d-%H%M%S}-{crc32(os.fsencode(folder)):08x}"
            version = _VERSION.search(text)
            named = version[1].decode("utf-8", "replace") if version else ""
            yield Session(id_, "", folder, "", "", named, created, created), text


def _entries(text: str) -> list[Entry]:
    """Return prompts, answers and edits. What precedes the first prompt is by the client."""
    model, entries = "", list[Entry]()
    for kind, group in groupby(text.splitlines(), _kind):
        lines = [line[len(kind) :].rstrip() if kind else line for line in group]
        said = "\n".join(lines).strip()
        if kind == _PROMPT:
            entries.append(Entry("", speaker="user", parts=_prompt(said)))
        elif kind == _REMARK:
            model = next((one[1] for one in map(_MODEL.match, lines) if one), model)
            calls = [
                tool_call(tool, {key: line.removeprefix(begin)}, (), status="completed")
                for line in lines
                for begin, (tool, key) in _TOOLS.items()
                if line.startswith(begin)
            ]
            entries += [Entry("", parts=calls, model=model)] if calls else []
            if entries:
                entries[-1].tokens = sum(map(_tokens, lines))
        elif said and entries:
            entries.append(Entry("", parts=[Text(said)], model=model))
    return entries


def _kind(line: str) -> str:
    ours = line.endswith("  ")
    return next((mark for mark in (_PROMPT, _REMARK) if ours and line.startswith(mark)), "")


def _prompt(said: str) -> list[Part]:
    """Return the parts of a prompt; none of a command to the client."""
    if run := _RUN.fullmatch(said):
        return [tool_call("bash", {"command": run[1]}, (), status="completed")]
    words = _COMMAND.sub("", said, count=1) if said.startswith("/") else said
    return [Text(words)] if words else []


def _tokens(remark: str) -> int:
    counts = _COUNT.findall(remark) if remark.startswith("Tokens: ") else ()
    return sum(int(float(count) * (1000 if unit else 1)) for count, unit in counts)
