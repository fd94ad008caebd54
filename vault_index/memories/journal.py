"""Record what a command does to memory files before it does it, so that `undo` can revert it."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from vault_index.errors import ConflictError, NotFoundError, StateDamagedError, VaultIndexError
from vault_index.memories.file.document import MemoryFile
from vault_index.memories.file.files import MemoryFiles
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

    @contextmanager
    def step(
        self,
        files: MemoryFiles,
        path: str,
        before: MemoryFile | None,
        after: bytes | None,
        place: str | None = None,
    ) -> Iterator[list[str]]:
        """Record a step around the code that does it; delete the record if that failed.

        `before` is the file until then, None if it is created; `after` are its bytes then, None if
        it is removed. `place` is the new path of a moved file. The caller appends to the list the
        path in the trash, once it is known. Raises ConflictError if the new path is taken.
        """
        placed: list[str] = []
        noted = 0
        step = Step(
            id=0,
            source=files.source,
            path=path,
            before=before.digest if before else None,
            after=_digest(after) if after is not None else None,
            place=place,
            text=self._record_before(before),
        )
        with suppress(StateDamagedError):
            if self.versions is not None and (change := self.change()):
                noted = self.versions.note(change, step)
        try:
            yield placed
        except BaseException as error:
            taken = isinstance(error, FileExistsError)
            with suppress(VaultIndexError):
                if self.versions and (taken or digest_at(files, place or path) != step.after):
                    self.begun = 0 if self.versions.take_back(noted) else self.begun
            if taken:
                raise ConflictError(
                    f"{place or path} was created in the meantime", "run the same command again"
                ) from error
            raise
        with suppress(StateDamagedError):
            if self.versions is not None and placed:
                self.versions.put_place(noted, placed[0])

    def _record_before(self, file: MemoryFile | None) -> bytes | None:
        """Return the packed bytes of a file before it is changed.

        They are also recorded as a version, in case the file was never indexed.
        """
        if file is None:
            return None
        text, by = packed(file.data), str(file.front.get("entered_by") or "")
        if self.versions is not None:
            self.versions.record(
                [Seen(file.uid, file.source, file.path, file.digest, text, len(file.data), by)]
            )
        return None if self.undone else text


def digest_at(files: MemoryFiles, path: str) -> bytes | None:
    """Return the SHA-256 of a file, or None if it does not exist."""
    with suppress(NotFoundError):
        return files.read(path, any_bytes=True).digest
    return None


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
