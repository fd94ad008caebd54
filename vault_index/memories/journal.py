"""Record what a command does to memory files before it does it, so that `undo` can revert it."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from vault_index.errors import NotFoundError, StateDamagedError, VaultIndexError
from vault_index.memories.file.document import MemoryFile
from vault_index.memories.file.files import MemoryFiles, encoded
from vault_index.store.versions import Seen, Step, Versions, packed


@dataclass(slots=True, kw_only=True)
class Journal:
    """The record of the changes of one command.

    It begins with the first file that is changed. While the state database is damaged, files are
    written, but nothing is recorded.
    """

    versions: Versions | None
    """None in a dry run: nothing is recorded."""
    work: str
    who: str = ""
    """The caller, if known."""
    undone: bool = False
    """Whether `undo` skips this change."""
    begun: int = 0
    """The number of the change; 0 before the first file is changed."""

    def change(self) -> int:
        """Begin the change if needed and return its number; 0 while the state is damaged."""
        with suppress(StateDamagedError):
            if not self.begun and self.versions is not None:
                self.begun = self.versions.begin(self.work, self.who, undone=self.undone)
        return self.begun

    def create(self, files: MemoryFiles, path: str, text: str | bytes) -> None:
        """Record and create a new file."""
        with self._step(
            files, Step(0, files.source, path, None, _digest(encoded(text)), None, None)
        ):
            files.create(path, text)

    def replace(self, files: MemoryFiles, seen: MemoryFile, text: str | bytes) -> None:
        """Record and replace the text of a file."""
        kept = self._record_before(files, seen)
        with self._step(
            files, Step(0, files.source, seen.path, seen.digest, _digest(encoded(text)), None, kept)
        ):
            files.replace(seen.path, text, seen)

    def trash(self, files: MemoryFiles, path: str) -> str:
        """Record the deletion of a file and move it to the trash; return its path there."""
        digest = kept = None
        with suppress(VaultIndexError):  # one that is too large is moved all the same
            file = files.read(path, any_bytes=True)
            digest, kept = file.digest, self._record_before(files, file)
        with self._step(files, Step(0, files.source, path, digest, None, None, kept)) as placed:
            placed.append(trashed := files.trash(path))
        return trashed

    def restore(self, files: MemoryFiles, path: str, data: bytes, trashed: str | None) -> None:
        """Record and restore a removed file.

        The file in the trash is moved back if it still has these bytes; otherwise a new one is
        written.
        """
        digest = _digest(data)
        with self._step(files, Step(0, files.source, path, None, digest, None, None)):
            if not (trashed and files.restore(trashed, path, digest)):
                files.create(path, data)
                files.settle([path])

    def move(self, files: MemoryFiles, path: str, target: str) -> None:
        """Record and rename a file."""
        digest = files.read(path, any_bytes=True).digest
        with self._step(files, Step(0, files.source, path, digest, digest, target, None)):
            files.move(path, target)

    def _record_before(self, files: MemoryFiles, file: MemoryFile) -> bytes | None:
        """Return the packed bytes of a file before it is written.

        They are also recorded as a version, in case the file was never indexed.
        """
        text, by = packed(file.data), str(file.front.get("entered_by") or "")
        if self.versions is not None:
            self.versions.record(
                [Seen(file.uid, files.source, file.path, file.digest, text, len(file.data), by)]
            )
        return None if self.undone else text

    @contextmanager
    def _step(self, files: MemoryFiles, step: Step) -> Iterator[list[str]]:
        """Record a step, and delete the record if the step failed.

        The caller appends the new path of the file to the list.
        """
        placed: list[str] = []
        noted = 0
        with suppress(StateDamagedError):
            if self.versions is not None and (change := self.change()):
                noted = self.versions.note(change, step)
        try:
            yield placed
        except BaseException as error:
            with suppress(VaultIndexError):
                taken = isinstance(error, FileExistsError)
                if self.versions and (
                    taken or digest_at(files, step.place or step.path) != step.after
                ):
                    self.begun = 0 if self.versions.take_back(noted) else self.begun
            raise
        with suppress(StateDamagedError):
            if self.versions is not None and placed:
                self.versions.put_place(noted, placed[0])


def digest_at(files: MemoryFiles, path: str) -> bytes | None:
    """Return the SHA-256 of a file, or None if it does not exist."""
    with suppress(NotFoundError):
        return _digest(files.read_bytes(path))
    return None


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
