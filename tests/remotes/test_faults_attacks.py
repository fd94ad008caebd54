"""A remote that lies, repeats, reorders and fails: once it answers correctly, its copy and the index equal it."""

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.api.vaults import rows
from tests.remotes.places import Machine, Place
from tests.seeds import seeds
from vault_index import VaultIndex
from vault_index.errors import ConflictError, NotFoundError, RemoteError
from vault_index.mirroring.exchange import Entry, digest_of
from vault_index.remotes import mirror


@dataclass
class Faulty:
    """Files whose listing and content are wrong while `chance` is above zero."""

    random: random.Random
    files: dict[str, bytes] = field(default_factory=dict)
    chance: float = 0.0
    _old: dict[str, bytes] = field(default_factory=dict)

    def change(self) -> None:
        self._old = dict(self.files)
        for number in range(12):
            path = self.random.choice([f"{number}.md", f"folder/{number}.md", f"80-memory/{number}.md"])
            self.files[path] = f"# Note {number}\n\nversion {self.random.random()}".encode()
        for path in self.random.sample(sorted(self.files), 3):
            del self.files[path]

    def _fails(self) -> bool:
        return self.random.random() < self.chance

    def list(self) -> Iterator[Entry]:
        shown = list(self.files.items()) * (2 if self._fails() else 1)
        self.random.shuffle(shown)
        for path, data in shown:
            if self._fails():
                if self._fails():
                    raise RemoteError("the connection broke", "")
                continue
            wrong = self._fails()
            yield Entry("../x.md" if self._fails() else path, "old" if wrong else digest_of(data), len(data))

    def read(self, path: str) -> tuple[bytes, str]:
        if self._fails():
            raise (RemoteError if self._fails() else NotFoundError)("no answer", "")
        data = (self._old if self._fails() else self.files).get(path)
        if data is None:
            raise NotFoundError("it is gone", "")
        return data, digest_of(data)

    def write(self, path: str, data: bytes, if_match: str) -> str:
        if (digest_of(self.files[path]) if path in self.files else "") != if_match:
            raise ConflictError("it changed", "")
        if self._fails():
            raise RemoteError("the connection broke before the write", "")
        self.files[path] = data
        if self._fails():
            raise RemoteError("the connection broke after the write", "")
        return digest_of(data)

    def delete(self, path: str, if_match: str) -> None:
        if self._fails() or digest_of(self.files.get(path, b"")) != if_match:
            raise ConflictError("it changed", "")
        del self.files[path]

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize("seed", seeds(6))
def test_copy_equals_a_remote_that_answers_again(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, rng = Place(), random.Random(seed)
    place.url = "s3://notes/a"
    machine, remote = Machine(tmp_path, place), Faulty(rng)
    monkeypatch.setattr(mirror, "open_remote", lambda source: remote)
    written = []
    for turn in range(6):
        remote.change()
        remote.chance = 0.15
        machine.exchange()
        machine.far.mkdir(parents=True, exist_ok=True)
        with machine.index() as index:
            written.append(f"Fact number {turn} of seed {seed}")
            index.add(written[-1], source="far")
        machine.exchange()
    remote.chance = 0.0
    for _ in range(3):
        problems = machine.exchange().problems
    assert problems == ()
    copied = {path: text.encode() for path, text in machine.files().items() if "/inbox/" not in path}
    assert copied == remote.files
    everything = b"".join(path.read_bytes() for path in machine.far.rglob("*.md"))
    assert [text for text in written if text.encode() not in everything] == []
    incremental = rows(machine.home.index_db)
    for file in machine.home.data_dir.glob("*.db*"):
        file.unlink() if file.is_file() else shutil.rmtree(file)
    with VaultIndex.open(machine.home) as index:
        index.sync()
    assert rows(machine.home.index_db) == incremental
