"""Reading ahead: a second process reads the documents of a large sync while the first one writes their rows.

    first  --(source, documents, settings)-->  second
    first  <--(rows, or None, in their order)--  second

It is an optional speed-up: a document that it cannot read, and every document that is left when it dies, is None, and
the first process reads it, and reports what is wrong with it. The second process ends with the pipe, however the first
one ends, and the pipe keeps it no more than a few documents ahead. The multiprocessing module would import the program
of whoever calls us a second time.
"""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, islice, repeat
from typing import IO

from vault_index.indexer.reading import ROWS_VERSION, Job, Read, RowSettings, Work, read_document
from vault_index.models import DocumentRef, FileStamp
from vault_index.sources.source import Source
from vault_index.store.writer import KnownDocument

_FIRST = 60
"""Documents that the first process reads while the other one begins."""
_AHEAD = 1 << 20
"""Bytes it may be ahead, on Linux as many as anybody may have: it goes on while words are counted."""


def read_ahead(source: Source, work: Work, settings: RowSettings) -> Generator[Read | FileStamp | None]:
    """What each of the documents gives; None for those to be read here."""
    with reading(source, work[_FIRST:], settings) as found:
        yield from repeat(None, min(_FIRST, len(work)))
        yield from islice(found, max(len(work) - _FIRST, 0))


@contextmanager
def reading(source: Source, work: Iterable[Job], settings: RowSettings) -> Iterator[Iterator[Read | FileStamp | None]]:
    """The second process at work, and what it reads; endless, with None behind the last document."""
    try:
        process = _started(source, work, settings)
    except OSError:  # too many processes, or no space: it goes without
        yield repeat(None)
        return
    with process:
        assert process.stdout is not None
        try:
            yield _answers(process.stdout)
        finally:
            process.kill()


def _started(source: Source, work: Iterable[Job], settings: RowSettings) -> subprocess.Popen[bytes]:
    with tempfile.TemporaryFile() as asked:  # a pipe would keep us waiting until it is read
        for one in chain(
            [(ROWS_VERSION, source, settings)], work
        ):  # one by one: all of them would be held in memory twice
            pickle.dump(one, asked)
        asked.seek(0)
        return subprocess.Popen(
            [sys.executable, "-P", "-m", __name__],  # -P: the folder we are in holds no modules of ours
            stdin=asked,
            stdout=subprocess.PIPE,
            pipesize=_AHEAD,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )


def _answers(pipe: IO[bytes]) -> Iterator[Read | FileStamp | None]:
    with suppress(EOFError, pickle.UnpicklingError):
        while True:
            yield pickle.load(pipe)
    yield from repeat(None)


def _main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process says when it is over
    rows_version, source, settings = pickle.load(sys.stdin.buffer)
    if rows_version != ROWS_VERSION:
        return  # the first process is from before an upgrade
    with suppress(EOFError):
        while True:
            ref, known = pickle.load(sys.stdin.buffer)
            pickle.dump(_read(source, ref, settings, known), sys.stdout.buffer)
            sys.stdout.buffer.flush()


def _read(
    source: Source, ref: DocumentRef, settings: RowSettings, known: KnownDocument | None
) -> Read | FileStamp | None:
    try:
        return read_document(source, ref, settings, known)
    except Exception:  # noqa: BLE001 - the first process meets it again, and says what it is
        return None


if __name__ == "__main__":
    _main()
