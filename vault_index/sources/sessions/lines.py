"""Files of one JSON object a line, which their client appends to while we read."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from vault_index.sources.sessions.values import Json, read_object

_LONGEST = 64 << 20
"""In bytes. Nobody says as much in a line; an image may be as large."""
_PIECE = 1 << 20
_BACK = 1 << 16


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
    """The objects of the whole lines from `offset` on, each with where its line begins and where the next one does.

    A last line without an end is still being written, and left for the next time. What is no JSON is a problem, and
    so is a line of more than 64 MiB, which is passed over; what begins with `passed_over` is not looked at. `opened`
    opens a file that is packed; its offsets are those of what was packed. OSError passes through.
    """
    with opened(file) as lines:
        lines.seek(offset)
        while line := lines.readline(_LONGEST):
            begin, offset = offset, offset + len(line)
            if not line.endswith(b"\n"):
                if len(line) < _LONGEST:
                    return
                while rest := lines.readline(_PIECE):
                    offset += len(rest)
                    if rest.endswith(b"\n"):
                        break
                problems.append(f"{file}: the line at byte {begin} has more than {_LONGEST >> 20} MiB and is left out")
            elif not line.startswith(passed_over) and line.strip(b" \t\r\n\0"):  # a crash leaves zeros
                found = read_object(line.strip(b"\0"), f"{file}: the line at byte {begin}", problems)
                if found is not None:
                    yield begin, offset, found


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
                if not line.startswith(passed_over):
                    yield read_object(line, "", []) or {}
            rest = first + b"\n"
        yield read_object(rest, "", []) or {}
