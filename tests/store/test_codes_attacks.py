"""Whatever happens to the file of codes or its writer: queries find the same as vec0 alone."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.kills import killed, moments
from tests.seeds import TIMES
from tests.store.test_codes import (
    DOCUMENTS,
    coded as coded,
    differing,
    files,
    filled as filled,
    follow,
    put,
    reader as reader,
    small as small,
    template as template,
)  # fmt: skip
from tests.waiting import PATIENCE
from vault_index.disk import WriteLock
from vault_index.store import codes, spaces
from vault_index.store.reader import IndexReader
from vault_index.store.writer import IndexWriter


def check(home: Path) -> None:
    """The index answers correctly now, and after the next writer."""
    reader = IndexReader(home / "index.db")
    writer = IndexWriter(home / "index.db")
    try:
        assert reader.vectors_work
        assert differing(reader) == []
        follow(writer)
        assert differing(reader) == []
        name, count, dimensions = spaces.coded(writer, 1) or ("", 0, 0)
        assert [one for one in files(writer) if (home / one).is_file()] == [name]
        known = codes.read_codes(writer, name, count, dimensions)
        assert known is not None
        assert len(known[1]) == 0
        assert known[0].ids.tolist() == [id_ for (id_,) in writer.execute("SELECT rowid FROM vector_1 ORDER BY rowid")]
    finally:
        reader.close()
        writer.close()


def code_under_lock(home: Path, writer: IndexWriter) -> None:
    due = True
    while due:
        with WriteLock(home / "write.lock").held("embed", PATIENCE):
            due = writer.code_vectors(least=1)


@pytest.mark.parametrize("change", ["build", "append", "replace", "compact"])
def test_codes_survive_a_killed_writer(filled: Path, tmp_path: Path, change: str) -> None:
    def copied(name: str) -> Path:
        return Path(shutil.copytree(filled, tmp_path / name))

    def work(home: Path) -> None:
        with WriteLock(home / "write.lock").held("sync", PATIENCE):
            pass  # from here on it can be killed
        writer = IndexWriter(home / "index.db")
        if change == "append":
            put(writer, DOCUMENTS)
        elif change == "replace":
            put(writer, 0, " changed")
        elif change == "compact":
            for number, known in enumerate(sorted(writer.known("vault").values())):
                if number % 3:
                    writer.remove_document(known.id)
        code_under_lock(home, writer)

    if change != "build":
        writer = IndexWriter(filled / "index.db")
        follow(writer)
        writer.close()
    for moment in moments(lambda: work(copied("whole")), 3 * TIMES, seed=1):
        home = copied(f"killed {moment}")
        killed(lambda home=home: work(home), moment)  # type: ignore[misc]
        check(home)
        shutil.rmtree(home)


def change_bytes(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(change(path.read_bytes()))


def shift_ids(data: bytes) -> bytes:
    """Other ids, before the same two words of each code."""
    words = np.frombuffer(data, "<u8").copy()
    words[: len(words) // 3] += np.uint64(10_000)
    return words.tobytes()


def become(make: Callable[[Path], object]) -> Callable[[Path], object]:
    def replace(path: Path) -> None:
        path.unlink()
        make(path)

    return replace


DAMAGES: dict[str, Callable[[Path], object]] = {
    "truncated": change_bytes(lambda data: data[:-8]),
    "longer": change_bytes(lambda data: data + bytes(24)),
    "one bit": change_bytes(lambda data: data[:-1] + bytes([data[-1] ^ 128])),
    "other ids": change_bytes(shift_ids),
    "folder": become(Path.mkdir),
    "pipe": become(lambda path: os.mkfifo(path)),
    "link to itself": become(lambda path: path.symlink_to(path)),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_codes_that_are_damaged_are_not_used(
    filled: Path, coded: IndexWriter, reader: IndexReader, damage: Callable[[Path], object]
) -> None:
    damage(filled / files(coded)[0])
    codes._opened.cache_clear()
    assert differing(reader) == []
    put(coded, 0, " changed")
    check(filled)  # and nothing of it is reused
