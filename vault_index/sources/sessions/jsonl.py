"""Read JSON Lines files while a client appends to them."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

from vault_index.sources.sessions.json_access import Json, read_object

_LONGEST = 64 << 20
"""Largest line, in bytes: images are stored inline."""
_PIECE = 1 << 20
_LARGEST_FILE = 256 << 20
"""Largest file of one JSON object, in bytes."""
_WRITING = 1.0
"""Seconds without growth after which an incomplete last line is reported."""
_JOINED = b'}{"'
_MOST_JOINED = 64
"""Maximum number of object starts to try on a line, because each may parse the rest of it."""
_BLANK = b" \t\r\n\0"
"""Whitespace, and the zero bytes that a crash leaves."""
_DECODER = json.JSONDecoder()


def plain(file: Path) -> IO[bytes]:
    """Open an uncompressed file."""
    return file.open("rb")


def records_in(file: Path, problems: list[str]) -> Iterator[Json]:
    """Yield the lines of a file, or the one value of a `.json` file. Raises OSError.

    A list becomes an object with the key `messages`.
    """
    if file.suffix == ".jsonl":
        yield from (record for _, _, record in objects_in(file, problems))
    elif file.stat().st_size > _LARGEST_FILE:
        problems.append(f"{file}: skipped, larger than {_LARGEST_FILE >> 20} MiB")
    else:
        data = file.read_bytes()
        value = b'{"messages":%b}' % data if data[:1] == b"[" else data
        if (record := read_object(value, str(file), problems)) is not None:
            yield record


def objects_in(
    file: Path,
    problems: list[str],
    offset: int = 0,
    *,
    passed_over: bytes = b"\n",
    opened: Callable[[Path], IO[bytes]] = plain,
) -> Iterator[tuple[int, int, Json]]:
    """Yield (begin, end, object) from `offset` on, in bytes; `end` is where the next one begins.

    A line may hold several objects, because a killed client omits the line feed. The last line is
    read once it is complete, and reported as invalid only if the file has not changed for a second.
    Invalid JSON is a problem, and so is a line over 64 MiB, which is skipped. Lines that begin with
    `passed_over` are skipped unparsed. `opened` opens a compressed file; offsets then count
    decompressed bytes. Raises OSError.
    """
    with opened(file) as lines:
        lines.seek(offset)
        while line := lines.readline(_LONGEST):
            begin, offset = offset, offset + len(line)
            if line.endswith(b"\n") or len(line) < _LONGEST:
                faults = list[str]()
                for start, stop, found in _objects_of(
                    line, passed_over, f"{file}: the line at byte {begin}", faults
                ):
                    yield begin + start, begin + stop, found
                if faults and (
                    line.endswith(b"\n") or not 0 <= time.time() - file.stat().st_mtime < _WRITING
                ):
                    problems += faults
            else:
                while rest := lines.readline(_PIECE):
                    offset += len(rest)
                    if rest.endswith(b"\n"):
                        break
                problems.append(f"{file}: skipped line at byte {begin}, over {_LONGEST >> 20} MiB")


def _objects_of(
    line: bytes, passed_over: bytes, what: str, problems: list[str]
) -> Iterator[tuple[int, int, Json]]:
    """Yield (begin, end, object) for the objects on a line, in bytes."""
    content = line.strip(_BLANK)
    if not content or (content.startswith(passed_over) and _JOINED not in content):
        return
    faults = list[str]()
    whole = read_object(content, what, faults)
    found = [(0, len(line), whole)] if whole is not None else list(_joined(line))
    if sum(stop - start for start, stop, _ in found) < len(line.lstrip(_BLANK)):
        problems += faults
    yield from (one for one in found if not line.startswith(passed_over, one[0]))


def _joined(line: bytes) -> Iterator[tuple[int, int, Json]]:
    """Yield the objects that end at another object or at the line end; skip invalid JSON."""
    text, at = line.decode("latin-1"), 0  # one character per byte
    for _ in range(_MOST_JOINED):
        if (begin := text.find('{"', at)) < 0:
            return
        at = begin + 1
        with suppress(ValueError, RecursionError):
            stop = _DECODER.raw_decode(text, begin)[1]
            rest = line[stop:].lstrip(_BLANK)
            found = read_object(line[begin:stop], "", []) if rest[:1] in (b"", b"{") else None
            if found is not None:
                at = len(line) - len(rest)
                yield begin, at, found
