"""Read documents ahead in a second process during a large sync, while the first one writes rows.

    first  --(source, documents, settings)-->  second
    first  <--(rows, or None, in their order)--  second

It only speeds up the sync. The result is None for a document that the second process cannot read,
and for every document after its death. The first process then reads the document and reports its
problem. The second process ends with the pipe, and the size of the pipe limits how far it reads
ahead. The multiprocessing module is not used, because it would import the caller's main program
again.
"""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice, repeat
from typing import IO

from vault_index.indexer.reading import ROWS_VERSION, Job, Read, RowSettings, Work, read_document
from vault_index.models import DocumentRef, FileStamp
from vault_index.sources.source import Source
from vault_index.store.writer import KnownDocument

_FIRST = 60
"""Documents that the first process reads while the second one starts."""
_AHEAD = 1 << 20
"""Size of the pipe in bytes, the maximum on Linux.

So the second process continues while the first one counts words.
"""


def read_ahead(
    source: Source, work: Work, settings: RowSettings
) -> Generator[Read | FileStamp | None]:
    """Yield the result for each document; None for a document that the caller must read."""
    try:
        process = _started(source, work[_FIRST:], settings)
    except OSError:  # too many processes, or no space: continue without it
        yield from repeat(None, len(work))
        return
    with process:
        assert process.stdout is not None
        try:
            yield from islice(chain(repeat(None, _FIRST), _answers(process.stdout)), len(work))
        finally:
            process.kill()


def _started(source: Source, work: Iterable[Job], settings: RowSettings) -> subprocess.Popen[bytes]:
    with tempfile.TemporaryFile() as asked:  # a pipe would block until it is read
        for one in chain([(ROWS_VERSION, source, settings)], work):  # one at a time, to save memory
            pickle.dump(one, asked)
        asked.seek(0)
        return subprocess.Popen(
            # -P: do not import modules from the working folder.
            [sys.executable, "-P", "-m", __name__],
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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process decides when to stop
    rows_version, source, settings = pickle.load(sys.stdin.buffer)
    if rows_version != ROWS_VERSION:
        return  # the first process runs an older version
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
    except Exception:  # noqa: BLE001 - the first process meets the same error and reports it
        return None


if __name__ == "__main__":
    _main()
