import errno
import multiprocessing
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tables import tables
from tests.waiting import PATIENCE
from vault_index.config import SourceConfig
from vault_index.errors import ConflictError, NotFoundError, UsageError, VaultIndexError
from vault_index.memories.file.document import with_paragraph
from vault_index.memories.file.files import MemoryFiles, slug
from vault_index.sources.vault import VaultSource

CASES = tables(__file__)

NOTE = "80-memory/note/a.md"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "vault" / "80-memory" / "note").mkdir(parents=True)
    return tmp_path / "vault"


@pytest.fixture
def files(vault: Path) -> MemoryFiles:
    return MemoryFiles(vault, "80-memory")


def names(vault: Path) -> list[str]:
    return sorted(str(path.relative_to(vault)) for path in vault.rglob("*") if path.is_file())


@pytest.mark.parametrize(("given", "path"), CASES["resolve_maps_a_name_to_a_file_in_the_memory_folder"])
def test_resolve_maps_a_name_to_a_file_in_the_memory_folder(vault: Path, given: str, path: str) -> None:
    assert MemoryFiles(vault, "80-memory").resolve(given) == path
    assert MemoryFiles(vault, "./80-memory/").resolve(given) == path


REFUSED = [*CASES["refused"], ("x" * 253, "too long"), ("日" * 85, "too long"), ("\ud800", "not valid UTF-8")]


def test_resolve_refuses_names_outside_of_memories(files: MemoryFiles, vault: Path) -> None:
    for given, reason in REFUSED:
        with pytest.raises(UsageError, match=reason):
            files.resolve(given)
    assert names(vault) == []


def test_resolve_refuses_links_that_lead_out(files: MemoryFiles, vault: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (vault / "notes").mkdir()
    (vault / "notes" / "mine.md").write_text("mine")
    (vault / "80-memory" / "out").symlink_to(tmp_path / "outside")
    (vault / "80-memory" / "notes").symlink_to(vault / "notes")
    (vault / "80-memory" / "mine.md").symlink_to(vault / "notes" / "mine.md")
    (vault / "80-memory" / "dangling.md").symlink_to(tmp_path / "new.md")
    (vault / "80-memory" / "within").symlink_to(vault / "80-memory" / "note")
    for name in ("out/x", "notes/x", "mine", "dangling"):
        with pytest.raises(UsageError, match="through a symbolic link"):
            files.resolve(name)
        with pytest.raises(UsageError, match="through a symbolic link"):
            files.create(f"80-memory/{name}.md", "text")
    assert files.resolve("within/x") == "80-memory/within/x.md"


def test_resolve_refuses_a_memory_folder_that_links_out_of_the_vault(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "vault" / "80-memory").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="through a symbolic link"):
        MemoryFiles(tmp_path / "vault", "80-memory").resolve("x")


def test_resolve_refuses_folders_and_pipes(files: MemoryFiles, vault: Path) -> None:
    (vault / "80-memory" / "folder.md").mkdir()
    os.mkfifo(vault / "80-memory" / "pipe.md")
    (vault / "80-memory" / "file").write_text("x")
    for name in ("folder", "pipe"):
        with pytest.raises(UsageError, match="is not a file"):
            files.resolve(name)
    with pytest.raises(UsageError, match="Not a directory"):
        files.create("80-memory/file/x.md", "text")


def test_memory_files_refuse_notes_outside_the_memory_folder(files: MemoryFiles, vault: Path) -> None:
    (vault / "mine.md").write_text("mine")
    seen = files.read(_created(files, "text"))
    acts: tuple[Callable[[], object], ...] = (
        lambda: files.create("new.md", "x"),
        lambda: files.read("mine.md"),
        lambda: files.replace("mine.md", "x", seen),
        lambda: files.trash("mine.md"),
        lambda: files.remove("mine.md"),
    )
    for act in acts:
        with pytest.raises(UsageError, match="in the memory folder"):
            act()
    assert names(vault) == [NOTE, "mine.md"]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Use WAL mode: always!", "use-wal-mode-always"),
        ("Ärger mit Straßen", "ärger-mit-straßen"),
        ("cafe\u0301 हिन्दी 读书", "café-हिन्दी-读书"),
        ("../../etc/passwd", "etc-passwd"),
        ("word " * 20, "-".join(["word"] * 12)),
        ("x" * 100, "x" * 60),
        ("a" * 60 + " b", "a" * 60),
        ("🎉 !!", ""),
    ],
)
def test_slug_is_the_words_of_a_title(title: str, expected: str) -> None:
    assert slug(title) == expected
    assert len(slug("\U00020000" * 60).encode()) <= 200  # it fits a file name


def test_free_path_numbers_a_taken_name(files: MemoryFiles, vault: Path) -> None:
    day = "2026-11-21"
    for expected in ("use-wal.md", "use-wal-2.md", "use-wal-3.md"):
        path = files.free_path("decision", day, "Use WAL")
        assert path == f"80-memory/decision/{day}-{expected}"
        files.create(path, "text")
    assert files.free_path("decision", day, "🎉") == f"80-memory/decision/{day}-decision.md"
    assert files.free_path("", day, "") == f"80-memory/note/{day}-memory.md"
    assert names(vault) == [f"80-memory/decision/{day}-use-wal{n}.md" for n in ("-2", "-3", "")]


def _created(files: MemoryFiles, text: str) -> str:
    files.create(NOTE, text)
    return NOTE


def test_create_writes_the_text_as_given(files: MemoryFiles, vault: Path) -> None:
    path = "80-memory/new/folder/a.md"
    files.create(path, "\ufeffone\r\ntwo\rthree \u2028\n")
    assert (vault / path).read_bytes() == "\ufeffone\r\ntwo\rthree \u2028\n".encode()
    assert files.read(path).text == "\ufeffone\r\ntwo\rthree \u2028\n"
    assert names(vault) == [path]


@pytest.mark.parametrize(
    ("folder", "umask", "file"),
    [(0o700, 0o022, 0o600), (0o750, 0o022, 0o640), (0o755, 0o022, 0o644), (0o755, 0o027, 0o640), (0o777, 0o077, 0o600)],
)
def test_create_makes_a_memory_no_more_readable_than_its_vault(
    vault: Path, files: MemoryFiles, folder: int, umask: int, file: int
) -> None:
    vault.chmod(folder)
    previous = os.umask(umask)
    try:
        files.create(NOTE, "one")
        files.replace(NOTE, "two", files.read(NOTE))
    finally:
        os.umask(previous)
    assert stat.S_IMODE((vault / NOTE).stat().st_mode) == file


def test_replace_makes_a_memory_of_a_private_vault_private(vault: Path, files: MemoryFiles) -> None:
    files.create(NOTE, "one")
    (vault / NOTE).chmod(0o644)
    vault.chmod(0o700)
    files.replace(NOTE, "two", files.read(NOTE))
    assert stat.S_IMODE((vault / NOTE).stat().st_mode) == 0o600


def test_create_overwrites_nothing_without_hard_links(
    files: MemoryFiles, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    _created(files, "first")
    with pytest.raises(FileExistsError):
        files.create(NOTE, "second")
    assert (vault / NOTE).read_text() == "first"
    assert files.trash(NOTE) == f".trash/{NOTE}"
    assert names(vault) == [f".trash/{NOTE}"]

    def broken(*_: Any, **__: Any) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(VaultIndexError, match="Input/output error"):
        files.create(NOTE, "third")
    assert names(vault) == [f".trash/{NOTE}"]


def test_replace_keeps_permissions_and_leaves_no_other_file(files: MemoryFiles, vault: Path) -> None:
    seen = files.read(_created(files, "old"))
    (vault / NOTE).chmod(0o600)
    files.replace(NOTE, "new\r\n", files.read(NOTE))
    assert (vault / NOTE).read_bytes() == b"new\r\n"
    assert stat.S_IMODE((vault / NOTE).stat().st_mode) == 0o600
    assert names(vault) == [NOTE]
    assert seen.text == "old"


def test_replace_keeps_a_changed_file_and_saves_the_new_text_as_a_copy(files: MemoryFiles, vault: Path) -> None:
    seen = files.read(_created(files, "old"))
    (vault / NOTE).write_text("theirs")
    assert seen.status is not None
    os.utime(vault / NOTE, ns=(seen.status.st_atime_ns, seen.status.st_mtime_ns))
    with pytest.raises(ConflictError) as raised:
        files.replace(NOTE, "ours", seen)
    assert raised.value.exit_code == 5
    assert (vault / NOTE).read_text() == "theirs"
    [kept] = set(names(vault)) - {NOTE}
    assert (vault / kept).read_text() == "ours"
    assert kept in raised.value.hint
    assert kept.startswith("80-memory/note/a (conflicted copy 20")
    assert kept.endswith(").md")
    source = VaultSource(SourceConfig(name="vault", path=vault))
    assert [ref.path for ref in source.scan().refs] == [NOTE]  # not a second memory with the same id


def test_replace_keeps_both_texts_of_two_conflicts(files: MemoryFiles, vault: Path) -> None:
    long = f"80-memory/{'日' * 80}.md"
    files.create(long, "old")
    seen = files.read(long)
    (vault / long).write_text("theirs")
    for text in ("one", "two"):
        with pytest.raises(ConflictError):
            files.replace(long, text, seen)
    assert sorted((vault / name).read_text() for name in names(vault)) == ["one", "theirs", "two"]


def test_replace_reports_a_deleted_file_as_a_conflict(files: MemoryFiles, vault: Path) -> None:
    seen = files.read(_created(files, "old"))
    (vault / NOTE).unlink()
    with pytest.raises(ConflictError):
        files.replace(NOTE, "new", seen)
    [kept] = names(vault)
    assert (vault / kept).read_text() == "new"


@pytest.mark.parametrize("data", [b"caf\xe9", "text".encode("utf-16"), b"\xef\xbb\xbfcaf\xe9"])
def test_read_refuses_other_encodings(files: MemoryFiles, vault: Path, data: bytes) -> None:
    (vault / NOTE).write_bytes(data)
    with pytest.raises(UsageError, match="not valid UTF-8"):
        files.read(NOTE)


def test_memory_files_report_a_removed_file_as_not_found(files: MemoryFiles) -> None:
    for act in (files.read, files.trash, files.remove):
        with pytest.raises(NotFoundError):
            act(NOTE)
    files.remove(_created(files, "text"))
    with pytest.raises(NotFoundError):
        files.read(NOTE)


@pytest.mark.parametrize(
    ("number", "hint"), [(errno.ENOSPC, "free some space"), (errno.EROFS, "read-only"), (errno.EACCES, "permissions")]
)
def test_memory_files_keep_the_old_file_on_a_full_or_read_only_disk(
    files: MemoryFiles, vault: Path, monkeypatch: pytest.MonkeyPatch, number: int, hint: str
) -> None:
    seen = files.read(_created(files, "old"))

    def full(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", full)
    acts: tuple[Callable[[], object], ...] = (
        lambda: files.replace(NOTE, "new", seen),
        lambda: files.create("80-memory/b.md", "new"),
    )
    for act in acts:
        with pytest.raises(VaultIndexError) as raised:
            act()
        assert hint in raised.value.hint
        assert os.strerror(number) in raised.value.message
    assert names(vault) == [NOTE]
    assert (vault / NOTE).read_text() == "old"


def test_trash_keeps_the_folder_and_overwrites_nothing(files: MemoryFiles, vault: Path) -> None:
    for text, target in (("one", "a.md"), ("two", "a 2.md"), ("three", "a 3.md")):
        assert files.trash(_created(files, text)) == f".trash/80-memory/note/{target}"
        assert (vault / ".trash/80-memory/note" / target).read_text() == text
    assert len(names(vault)) == 3


@pytest.mark.parametrize("taken", [".trash", ".trash/80-memory/note"])
def test_trash_refuses_to_replace_a_file_by_its_folder(files: MemoryFiles, vault: Path, taken: str) -> None:
    (vault / taken).parent.mkdir(parents=True, exist_ok=True)
    (vault / taken).write_text("mine")
    with pytest.raises(UsageError, match="is not a folder") as raised:
        files.trash(_created(files, "text"))
    assert "--permanent" in raised.value.hint
    assert (vault / NOTE).read_text() == "text"


def test_trash_refuses_a_link_out_of_the_vault(files: MemoryFiles, vault: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (vault / ".trash").symlink_to(tmp_path / "outside")
    with pytest.raises(UsageError, match="leads out"):
        files.trash(_created(files, "text"))
    assert (vault / NOTE).exists()


def _append_marks(vault: Path, name: str, times: int, ready: Any, results: Any) -> None:
    files = MemoryFiles(vault, "80-memory")
    ready.wait()
    for number in range(times):
        seen = files.read(NOTE)
        try:
            files.replace(NOTE, with_paragraph(seen.text, f"{name}{number}"), seen)
        except ConflictError:
            results.put((f"{name}{number}", False))
        else:
            results.put((f"{name}{number}", True))


def test_replace_loses_no_text_of_two_processes(files: MemoryFiles, vault: Path) -> None:
    _created(files, "start\n")
    context = multiprocessing.get_context("spawn")
    ready, results = context.Barrier(2), context.Queue()
    workers = [context.Process(target=_append_marks, args=(vault, name, 25, ready, results)) for name in "ab"]
    for worker in workers:
        worker.start()
    outcomes = dict(results.get(timeout=PATIENCE) for _ in range(50))
    for worker in workers:
        worker.join()
    final = (vault / NOTE).read_text().split()
    assert sorted(final) == sorted(["start", *(mark for mark, won in outcomes.items() if won)])
    kept = [(vault / name).read_text().split()[-1] for name in names(vault) if name != NOTE]
    assert sorted(kept) == sorted(mark for mark, won in outcomes.items() if not won)
