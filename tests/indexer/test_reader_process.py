"""Large syncs read in a second process: its results and its end."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.api.vaults import opened, write
from tests.sources.trees import build, vault_at
from tests.waiting import until
from vault_index.indexer.reader_process import read_ahead
from vault_index.indexer.reading import Read, RowSettings, read_document
from vault_index.models import DocumentRef, as_indexed
from vault_index.sources.vault import VaultSource

SETTINGS = RowSettings(200, 0, "memories")
MANY = 640
READ_AND_WAIT = """
import sys
from pathlib import Path
from tests.indexer.test_reader_process import SETTINGS, work_of
from tests.sources.trees import vault_at
from vault_index.indexer.reader_process import _FIRST, read_ahead
source = vault_at(Path(sys.argv[1]))
found = read_ahead(source, work_of(source), SETTINGS)
for _ in range(_FIRST + 1):
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


def parent_of(pid: int) -> int:
    """The parent of a process, on Linux; 0 for one that has ended."""
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return 0
    return 0 if state == "Z" else int(parent)


def children(pid: int) -> set[int]:
    return {int(folder.name) for folder in Path("/proc").glob("[0-9]*") if parent_of(int(folder.name)) == pid}


def test_reader_process_returns_the_same_documents(tmp_path: Path) -> None:
    source = vault_of(tmp_path / "vault", MANY)
    work = work_of(source)
    (tmp_path / "vault/100.md").unlink()
    with closing(read_ahead(source, work, SETTINGS)) as found:
        ahead = list(zip(found, work, strict=True))
    assert len(ahead) == MANY
    assert [read is None for read, _ in ahead] == [number < 60 or number == 100 for number in range(MANY)]
    for read, (ref, _) in ahead:
        if isinstance(read, Read):
            # The moment of reading decides whether a stamp is too fresh to trust.
            assert as_indexed(read.row.stamp, ref.stamp)
            here = read_document(source, ref, SETTINGS)
            assert isinstance(here, Read)
            assert with_stamp_of(ref, read) == with_stamp_of(ref, here)


@pytest.mark.parametrize("python", ["/bin/false", "/no/such/python"])
def test_sync_reads_itself_if_the_process_cannot_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python: str
) -> None:
    monkeypatch.setattr(sys, "executable", python)
    with opened(tmp_path) as index:
        write(tmp_path / "vault", notes(MANY))
        assert index.sync().added == MANY


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_reader_process_ends_with_its_sync(tmp_path: Path) -> None:
    source = vault_of(tmp_path / "vault", MANY)
    before = children(os.getpid())
    with closing(read_ahead(source, work_of(source), SETTINGS)) as found:
        next(found)
        assert len(children(os.getpid()) - before) == 1
    assert children(os.getpid()) <= before


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_reader_process_ends_with_its_parent(tmp_path: Path) -> None:
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
    until(lambda: not parent_of(child))
