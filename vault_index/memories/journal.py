"""What a command does to the files of memories, noted before it is done, so that `undo` can take it back."""

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
    """The change of one command. It begins with the first file that is touched; while the state is damaged, files are
    written and nothing is noted."""

    versions: Versions | None
    """None for a dry run: nothing is noted."""
    work: str
    who: str = ""
    """On whose behalf, where that was said."""
    undone: bool = False
    """Whether `undo` passes over it."""
    begun: int = 0
    """The number of the change; 0 as long as nothing was touched."""

    def change(self) -> int:
        """The number of the change, which is begun if need be; 0 while the state is damaged."""
        with suppress(StateDamagedError):
            if not self.begun and self.versions is not None:
                self.begun = self.versions.begin(self.work, self.who, undone=self.undone)
        return self.begun

    def create(self, files: MemoryFiles, path: str, text: str | bytes) -> None:
        with self._step(
            files, Step(0, files.source, path, None, _digest(encoded(text)), None, None)
        ):
            files.create(path, text)

    def replace(self, files: MemoryFiles, seen: MemoryFile, text: str | bytes) -> None:
        kept = self._kept(files, seen)
        with self._step(
            files, Step(0, files.source, seen.path, seen.digest, _digest(encoded(text)), None, kept)
        ):
            files.replace(seen.path, text, seen)

    def trash(self, files: MemoryFiles, path: str) -> str:
        digest = kept = None
        with suppress(VaultIndexError):  # one that is too large is moved all the same
            file = files.read(path, any_bytes=True)
            digest, kept = file.digest, self._kept(files, file)
        with self._step(files, Step(0, files.source, path, digest, None, None, kept)) as placed:
            placed.append(trashed := files.trash(path))
        return trashed

    def restore(self, files: MemoryFiles, path: str, data: bytes, trashed: str | None) -> None:
        """Put a file that was removed back: the one in the trash, if that is still the same, else another one."""
        digest = _digest(data)
        with self._step(files, Step(0, files.source, path, None, digest, None, None)):
            if not (trashed and files.restore(trashed, path, digest)):
                files.create(path, data)
                files.settle([path])

    def move(self, files: MemoryFiles, path: str, target: str) -> None:
        digest = files.read(path, any_bytes=True).digest
        with self._step(files, Step(0, files.source, path, digest, digest, target, None)):
            files.move(path, target)

    def _kept(self, files: MemoryFiles, file: MemoryFile) -> bytes | None:
        """What a file says before it is written, packed. It is remembered as a version, if it was never indexed."""
        text, by = packed(file.data), str(file.front.get("entered_by") or "")
        if self.versions is not None:
            self.versions.record(
                [Seen(file.uid, files.source, file.path, file.digest, text, len(file.data), by)]
            )
        return None if self.undone else text

    @contextmanager
    def _step(self, files: MemoryFiles, step: Step) -> Iterator[list[str]]:
        """Note a step, and take it back where it failed before it was done. What is appended to the list is where the
        file went."""
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
    """SHA-256 of what a file says; None where there is none."""
    with suppress(NotFoundError):
        return _digest(files.read_bytes(path))
    return None


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
