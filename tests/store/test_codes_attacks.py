"""Whatever happens to the file of codes, or to who writes it: what is found is what vec0 finds alone."""

import errno
import os
import random
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.kills import killed, moments
from tests.store.test_codes import FILTERS, SPACE, files, follow, put, same
from vault_index.store import codes, spaces
from vault_index.store.lock import WriteLock
from vault_index.store.reader import IndexReader
from vault_index.store.records import SpaceRow
from vault_index.store.spaces import add_space, codes_due
from vault_index.store.writer import IndexWriter

_DOCUMENTS = 60
_QUERIES = [1 + 0.5 * np.random.default_rng(seed).standard_normal(128) for seed in range(3)]
"""Near the direction in which vectors differ most: signs tell well enough what is near, so that all of it is found."""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes from five hundred vectors on, six hundred at once; filters are asked about the nearest: all is in use."""
    monkeypatch.setattr(spaces, "LEAST_CODED", 500)
    monkeypatch.setattr(codes, "_MOST_AT_ONCE", 600)
    monkeypatch.setattr(codes, "_FEW", 1)


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A folder with an index that has vectors, and no codes yet."""
    home = tmp_path / "filled"
    home.mkdir()
    writer = IndexWriter(home / "index.db")
    add_space(writer, SpaceRow(0, SPACE, True, False))
    for number in range(_DOCUMENTS):
        _put(writer, number)
    writer.close()
    return home


def _put(writer: IndexWriter, number: int, version: str = "") -> None:
    put(writer, f"{number}.md", [f"text {number} {place}{version}" for place in range(30)], created=float(number))


def _differing(reader: IndexReader, limit: int = 10) -> list[tuple[int, str]]:
    """The queries and filters for which something else is found than vec0 finds alone."""
    differing = []
    with reader.snapshot():
        for (number, query), (name, filters) in product(enumerate(_QUERIES), FILTERS.items()):
            vector = (query / np.linalg.norm(query)).astype("<f4").tobytes()
            where, values = reader._chunk_condition(filters, "rowid", "", "")
            wanted = spaces.nearest(reader, 1, vector, limit, where, values)
            if not same(reader.vector_candidates(1, vector, limit, filters), wanted):
                differing.append((number, name))
    return differing


def _looked_at(home: Path) -> None:
    """Right as it is, and after the next writer."""
    reader = IndexReader(home / "index.db")
    writer = IndexWriter(home / "index.db")
    try:
        reader.vectors_work()
        assert _differing(reader) == []
        follow(writer)
        assert _differing(reader) == []
        name, coded, dimensions = spaces.coded(writer, 1) or ("", 0, 0)
        assert files(writer) == [name]
        known = codes.read_codes(writer, name, coded, dimensions)
        assert known is not None
        assert len(known[1]) == 0
        assert known[0].ids.tolist() == [id_ for (id_,) in writer.execute("SELECT rowid FROM vector_1 ORDER BY rowid")]
    finally:
        reader.close()
        writer.close()


# --- kills -----------------------------------------------------------------------------------------------------


def _follow(home: Path) -> Callable[[IndexWriter], None]:
    def locked(writer: IndexWriter) -> None:
        due = True
        while due:
            with WriteLock(home / "write.lock").held("embed", 5):
                due = writer.code_vectors(least=1)

    return locked


def _built(writer: IndexWriter) -> None:
    pass


def _appended(writer: IndexWriter) -> None:
    for number in range(_DOCUMENTS, _DOCUMENTS + 2):
        _put(writer, number)


def _changed(writer: IndexWriter) -> None:
    for number in range(0, _DOCUMENTS, 20):
        _put(writer, number, " changed")


def _compacted(writer: IndexWriter) -> None:
    for number, known in enumerate(sorted(writer.known("vault").values())):
        if number % 3:
            writer.remove_document(known.id)


@pytest.mark.parametrize("change", [_built, _appended, _changed, _compacted], ids=lambda change: change.__name__[1:])
def test_a_writer_that_is_killed_loses_nothing(
    filled: Path, tmp_path: Path, change: Callable[[IndexWriter], None]
) -> None:
    def copied(name: str) -> Path:
        return Path(shutil.copytree(filled, tmp_path / name))

    def work(home: Path) -> None:
        with WriteLock(home / "write.lock").held("sync", 5):
            pass  # from here on it can be killed
        writer = IndexWriter(home / "index.db")
        change(writer)
        _follow(home)(writer)

    if change is not _built:
        writer = IndexWriter(filled / "index.db")
        follow(writer)
        writer.close()
    for moment in moments(lambda: work(copied("whole")), 8, seed=1):
        home = copied(f"killed {moment}")
        killed(lambda home=home: work(home), moment)  # type: ignore[misc]
        _looked_at(home)
        shutil.rmtree(home)


def test_readers_of_another_process_see_one_state(filled: Path) -> None:
    """Names are given and files go while they look."""
    reader = IndexReader(filled / "index.db")
    reader.vectors_work()
    assert _differing(reader) == []
    child = os.fork()
    if not child:
        code = 1
        try:
            writer, chance = IndexWriter(filled / "index.db"), random.Random(1)
            for version in range(25):
                _put(writer, chance.randrange(_DOCUMENTS + 20), f" {version}")
                if known := writer.known("vault").get(f"{chance.randrange(_DOCUMENTS)}.md"):
                    writer.remove_document(known.id)
                _follow(filled)(writer)
            code = 0
        finally:
            os._exit(code)
    looks = 0
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        assert _differing(reader) == []
        looks += 1
    assert ended[1] == 0
    assert looks
    reader.close()
    _looked_at(filled)


def test_a_reader_of_an_older_state_does_without_the_file_that_went(filled: Path) -> None:
    writer = IndexWriter(filled / "index.db")
    follow(writer)
    reader = IndexReader(filled / "index.db")
    reader.vectors_work()
    with reader.snapshot():
        name, *_ = spaces.coded(reader, 1) or ("",)
        _put(writer, 0, " changed")
        follow(writer)
        assert not codes_due(writer, least=1)
        assert name not in files(writer)
        codes._opened.cache_clear()
        where, values = reader._chunk_condition(FILTERS["half"], "rowid", "", "")
        vector = (_QUERIES[0] / np.linalg.norm(_QUERIES[0])).astype("<f4").tobytes()
        wanted = spaces.nearest(reader, 1, vector, 10, where, values)
        assert same(reader.vector_candidates(1, vector, 10, FILTERS["half"]), wanted)
    reader.close()
    writer.close()


# --- files -----------------------------------------------------------------------------------------------------


def _ids(data: bytes) -> int:
    """The bytes of the ids, before the two words of each code."""
    return len(data) // 8 // 3 * 8


def _of_another(data: bytes) -> bytes:
    """Of as many vectors, all of them others."""
    words = np.random.default_rng(9).integers(0, 2**63, len(data) // 8, dtype="<u8")
    return data[: _ids(data)] + words.tobytes()[_ids(data) :]


def _one_bit(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 128])


def _ids_of_another(data: bytes) -> bytes:
    ids = np.frombuffer(data[: _ids(data)], "<u8") + np.uint64(10_000)
    return ids.tobytes() + data[_ids(data) :]


def _mirrored(data: bytes) -> bytes:
    return np.frombuffer(data, "<u8")[::-1].tobytes()


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "truncated": lambda data: data[:-8],
    "half": lambda data: data[: len(data) // 2],
    "longer": lambda data: data + bytes(24),
    "zeros": lambda data: bytes(len(data)),
    "a page of zeros": lambda data: data[: len(data) // 2] + bytes(4096) + data[len(data) // 2 + 4096 :],
    "one bit": _one_bit,
    "columns of another": _of_another,
    "ids of another": _ids_of_another,
    "mirrored": _mirrored,
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_file_is_not_asked(filled: Path, name: str) -> None:
    writer = IndexWriter(filled / "index.db")
    follow(writer)
    path = filled / files(writer)[0]
    path.write_bytes(DAMAGES[name](path.read_bytes()))
    codes._opened.cache_clear()
    reader = IndexReader(filled / "index.db")
    reader.vectors_work()
    assert _differing(reader) == []
    reader.close()
    _put(writer, 0, " changed")
    writer.close()
    _looked_at(filled)  # and nothing of it is carried on


def test_a_file_of_an_earlier_state_is_not_asked(filled: Path) -> None:
    writer = IndexWriter(filled / "index.db")
    follow(writer)
    earlier = (filled / files(writer)[0]).read_bytes()
    for number in range(_DOCUMENTS):
        _put(writer, number, " changed")
    follow(writer)
    path = filled / files(writer)[0]
    assert path.stat().st_size == len(earlier)
    path.write_bytes(earlier)
    codes._opened.cache_clear()
    writer.close()
    _looked_at(filled)


def test_an_index_of_an_earlier_state_has_its_own_files_or_none(filled: Path, tmp_path: Path) -> None:
    """It was restored, while the files beside it stayed."""
    writer = IndexWriter(filled / "index.db")
    follow(writer)
    writer.checkpoint()
    earlier = (filled / "index.db").read_bytes()
    for number in range(_DOCUMENTS // 2):
        _put(writer, number, " changed")
    follow(writer)
    writer.close()
    (filled / "index.db").write_bytes(earlier)
    _looked_at(filled)


@pytest.mark.parametrize("what", ["folder", "pipe", "link to nothing", "link to itself"])
def test_what_is_no_file_is_not_asked(filled: Path, what: str) -> None:
    writer = IndexWriter(filled / "index.db")
    follow(writer)
    path = filled / files(writer)[0]
    path.unlink()
    if what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(path if what == "link to itself" else "nothing")
    codes._opened.cache_clear()
    reader = IndexReader(filled / "index.db")
    reader.vectors_work()
    assert _differing(reader) == []
    _put(writer, 0, " changed")
    follow(writer)
    assert _differing(reader) == []
    assert len([name for name in files(writer) if (filled / name).is_file()]) == 1
    reader.close()
    writer.close()


def test_a_folder_that_may_not_be_written_costs_speed_only(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where index.db may be: its log is there already."""
    writer = IndexWriter(filled / "index.db")
    follow(writer)
    (filled / "index.db.codes-left").write_bytes(b"")
    _put(writer, 0, " changed")
    reader = IndexReader(filled / "index.db")
    reader.vectors_work()
    real = os.open

    def refused(path: object, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    def opened(path: str, flags: int, *mode: int) -> int:
        if flags & os.O_CREAT:
            refused(path)
        return real(path, flags, *mode)

    with monkeypatch.context() as patched:
        for name in ("unlink", "remove", "rename", "replace"):
            patched.setattr(os, name, refused)
        patched.setattr(os, "open", opened)
        assert not writer.code_vectors(least=1)
        assert _differing(reader) == []
    reader.close()
    writer.close()
    _looked_at(filled)


def test_codes_that_are_out_of_date_do_not_hide_others(writer: IndexWriter, reader: IndexReader) -> None:
    """A space that shrank: most of what it had is gone, and was nearer than what is left."""
    add_space(writer, SpaceRow(0, SPACE, True, False))
    for number in range(_DOCUMENTS):
        texts = [f"text {number} {place}" for place in range(30)]
        put(writer, f"{number}.md", texts, created=float(number), nearer=9.0 if number < _DOCUMENTS - 4 else 0.0)
    follow(writer)
    for known in [known for path, known in writer.known("vault").items() if int(path[:-3]) < _DOCUMENTS - 4]:
        writer.remove_document(known.id)
    reader.vectors_work()
    query = np.ones(128, "<f4")
    for place in range(20):
        query[place] *= -1
        vector = (query / np.linalg.norm(query)).astype("<f4").tobytes()
        with reader.snapshot():
            wanted = spaces.nearest(reader, 1, vector, 10, "", ())
            assert same(reader.vector_candidates(1, vector, 10, FILTERS["none"]), wanted)


def test_the_same_text_everywhere(filled: Path) -> None:
    """More are equally near than are asked for; their order is that of their places."""
    writer = IndexWriter(filled / "index.db")
    for number in range(100, 110):
        put(writer, f"{number}.md", [f"said again {place}" for place in range(30)], created=float(number))
    (vector,) = writer.execute("SELECT embedding FROM vector_1 LIMIT 1")[0]
    for (id_,) in writer.execute(
        "SELECT chunk.id FROM chunk JOIN document ON document.id = document_id WHERE created >= 100"
    ):
        writer.execute("DELETE FROM vector_1 WHERE rowid = ?", (id_,))
        writer.execute("INSERT INTO vector_1 (rowid, embedding) VALUES (?, ?)", (id_, vector))
    follow(writer)
    reader = IndexReader(filled / "index.db")
    reader.vectors_work()
    for name, filters in FILTERS.items():
        with reader.snapshot():
            where, values = reader._chunk_condition(filters, "rowid", "", "")
            wanted = spaces.nearest(reader, 1, vector, 40, where, values)
            assert same(reader.vector_candidates(1, vector, 40, filters), wanted), name
    reader.close()
    writer.close()
