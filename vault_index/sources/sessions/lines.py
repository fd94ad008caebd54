"""Files of one JSON object a line, which their client appends to while we read."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

from vault_index.sources.sessions.values import Json, read_object

_LONGEST = 64 << 20
"""In bytes. Nobody says as much in a line; an image may be as large."""
_PIECE = 1 << 20
_BACK = 1 << 16
_WRITING = 1.0
"""Seconds."""
_JOINED = b'}{"'
_MOST_JOINED = 64
"""Places of a line where an object may begin: in one that is nested deeply, each costs reading it all."""
_BLANK = b" \t\r\n\0"
"""A crash leaves zeros."""
_DECODER = json.JSONDecoder()


def plain(file: Path) -> IO[bytes]:
    return file.open("rb")


def objects_in(
    file: Path,
    problems: list[str],
    offset: int = 0,
    *,
    passed_over: bytes = b"\n",
    opened: Callable[[Path], IO[bytes]] = plain,
) -> Iterator[tuple[int, int, Json]]:
    """The objects from `offset` on, each with where it begins and where the next one does, in bytes.

    A line may hold several: a client that was killed wrote no line feed, and went on behind it. The last line is read
    as soon as it is whole; until it has not grown for a second, it may be half written. What else is no JSON is a
    problem, and so is a line of more than 64 MiB, which is passed over; what begins with `passed_over` is not looked
    at. `opened` opens a file that is packed; its offsets are those of what was packed. OSError passes through.
    """
    with opened(file) as lines:
        lines.seek(offset)
        while line := lines.readline(_LONGEST):
            begin, offset = offset, offset + len(line)
            if line.endswith(b"\n") or len(line) < _LONGEST:
                faults = list[str]()
                for start, stop, found in _objects_of(line, passed_over, f"{file}: the line at byte {begin}", faults):
                    yield begin + start, begin + stop, found
                if faults and (line.endswith(b"\n") or not 0 <= time.time() - file.stat().st_mtime < _WRITING):
                    problems += faults
            else:
                while rest := lines.readline(_PIECE):
                    offset += len(rest)
                    if rest.endswith(b"\n"):
                        break
                problems.append(f"{file}: the line at byte {begin} has more than {_LONGEST >> 20} MiB and is left out")


def _objects_of(line: bytes, passed_over: bytes, what: str, problems: list[str]) -> Iterator[tuple[int, int, Json]]:
    """The objects on a line, with where each begins and where the next one does, in bytes."""
    said = line.strip(_BLANK)
    if not said or (said.startswith(passed_over) and _JOINED not in said):
        return
    faults = list[str]()
    whole = read_object(said, what, faults)
    found = [(0, len(line), whole)] if whole is not None else list(_joined(line))
    if sum(stop - start for start, stop, _ in found) < len(line.lstrip(_BLANK)):
        problems += faults
    yield from (one for one in found if not line.startswith(passed_over, one[0]))


def _joined(line: bytes) -> Iterator[tuple[int, int, Json]]:
    """The objects that another one, or the end of the line, stands behind. What is no JSON is passed over."""
    text, at = line.decode("latin-1"), 0  # a character for each byte
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


def _last_first(line: bytes, passed_over: bytes) -> list[Json]:
    found = [value for _, _, value in _objects_of(line, passed_over, "", [])][::-1]
    return found if found or line.startswith(passed_over) else [{}]


def objects_before(file: Path, offset: int, passed_over: bytes = b"\n") -> Iterator[Json]:
    """The objects of the lines before `offset`, the last first; an empty one for a line that cannot be read, and where
    no line ends at `offset`."""
    with file.open("rb") as lines:
        rest = b""
        while offset > 0:
            length = min(offset, max(_BACK, len(rest)))  # growing, for a line of megabytes
            offset -= length
            lines.seek(offset)
            piece = lines.read(length)
            if len(piece) < length or not (rest or piece.endswith(b"\n")):
                yield {}
            first, *whole = (piece + rest).split(b"\n")
            for line in filter(None, reversed(whole)):
                yield from _last_first(line, passed_over)
            rest = first + b"\n"
        yield from _last_first(rest, passed_over)
