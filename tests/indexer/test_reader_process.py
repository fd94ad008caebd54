"""Large syncs read in a second process: what it gives, and what becomes of it."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from tests.api.vaults import opened, rows, write
from tests.sources.trees import build, vault_at
from tests.waiting import until
from vault_index.indexer.reader_process import read_ahead, reading
from vault_index.indexer.reading import Read, RowSettings, read_document
from vault_index.models import DocumentRef, as_indexed
from vault_index.sources.vault import VaultSource

SETTINGS = RowSettings(200, 0, "memories")
MANY = 440
READ_AND_WAIT = """
import sys
from pathlib import Path
from tests.indexer.test_reader_process import SETTINGS, work_of
from tests.sources.trees import vault_at
from vault_index.indexer.reader_process import reading
source = vault_at(Path(sys.argv[1]))
with reading(source, work_of(source), SETTINGS) as found:
    next(found)
    print("begun", flush=True)
    sys.stdin.read()
"""


def notes(number: int) -> dict[str, str]:
    return {f"{n:03}.md": f"---\ntags: [t{n % 7}]\n---\n# Note {n}\n\nSee [[{n // 2:03}]]. {n}" for n in range(number)}


def vault_of(root: Path, number: int, length: int = 1) -> VaultSource:
    build(root)
    write(root, {path: text * length for path, text in notes(number).items()})
    return vault_at(root)


def work_of(source: VaultSource) -> list[tuple[DocumentRef, None]]:
    return [(ref, None) for ref in source.scan().refs]


def with_stamp_of(ref: DocumentRef, read: Read) -> Read:
    return read._replace(row=replace(read.row, **ref.stamp._asdict()))


def children(pid: int) -> list[int]:
    """Of a process, on Linux, those that have not ended."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == pid and state != "Z":
            found.append(int(folder.name))
    return found


def test_it_reads_what_would_be_read_here(tmp_path: Path) -> None:
    source = vault_of(tmp_path / "vault", MANY)
    work = work_of(source)
    with closing(read_ahead(source, work, SETTINGS)) as found:
        ahead = list(zip(found, work, strict=True))
    assert len(ahead) == MANY
    assert [read is None for read, _ in ahead] == [number < 60 for number in range(MANY)]
    for read, (ref, _) in ahead:
        if isinstance(read, Read):
            # Whether a stamp is too fresh to be believed depends on the moment of reading.
            assert as_indexed(read.row.stamp, ref.stamp)
            here = read_document(source, ref, SETTINGS)
            assert isinstance(here, Read)
            assert with_stamp_of(ref, read) == with_stamp_of(ref, here)


def test_the_first_documents_are_read_here(tmp_path: Path) -> None:
    source = vault_of(tmp_path / "vault", 3)
    assert list(read_ahead(source, work_of(source), SETTINGS)) == [None] * 3


def test_what_it_cannot_read_is_left_to_us_and_the_rest_is_read(tmp_path: Path) -> None:
    source = vault_of(tmp_path / "vault", 5)
    work = work_of(source)
    (tmp_path / "vault/001.md").unlink()
    with reading(source, work, SETTINGS) as found:
        assert [one.row.path if isinstance(one, Read) else None for one in islice(found, 6)] == [
            "000.md", None, "002.md", "003.md", "004.md", None,
        ]  # fmt: skip


def test_a_large_sync_makes_the_rows_of_small_ones(tmp_path: Path) -> None:
    parts = {"large": [sorted(notes(MANY))], "small": [sorted(notes(MANY))[k : k + 110] for k in range(0, MANY, 110)]}
    for name, groups in parts.items():
        (tmp_path / name).mkdir()
        with opened(tmp_path / name) as index:
            write(tmp_path / name / "vault", notes(MANY))
            reports = [index.sync([tmp_path / name / "vault" / path for path in group]) for group in groups]
            assert sum(report.added for report in reports) == MANY
    assert rows(tmp_path / "large/home/index.db") == rows(tmp_path / "small/home/index.db")


@pytest.mark.parametrize("python", ["/bin/false", "/no/such/python"])
def test_where_it_cannot_run_everything_is_read_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python: str
) -> None:
    monkeypatch.setattr(sys, "executable", python)
    with opened(tmp_path) as index:
        write(tmp_path / "vault", notes(MANY))
        assert index.sync().added == MANY


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_it_ends_with_the_sync_that_is_left(tmp_path: Path) -> None:
    source = vault_of(tmp_path / "vault", MANY)
    before = set(children(os.getpid()))
    with closing(read_ahead(source, work_of(source), SETTINGS)) as found:
        next(found)
        assert len(set(children(os.getpid())) - before) == 1
    assert set(children(os.getpid())) <= before


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_it_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    vault_of(tmp_path / "vault", MANY, length=50)  # more than a pipe holds
    parent = subprocess.Popen(
        [sys.executable, "-c", READ_AND_WAIT, str(tmp_path / "vault")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"begun\n"
        (child,) = children(parent.pid)
        parent.send_signal(signal.SIGKILL)
    until(lambda: not _runs(child))


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
