"""Store the texts of chunks in compressed blocks of about 8,000 bytes per document.

A few hundred bytes compress to half their size alone, but to a third in a block. A hit reads one
block.
A block is a JSON array of context, headings (JSON again) and text of each chunk. The division
depends only on the texts, so equal files give equal rows.
"""

import json
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, groupby
from typing import cast

import apsw

UNREADABLE = (zlib.error, ValueError, LookupError, TypeError)
"""Exceptions for a damaged block."""
_BLOCK_BYTES = 8192
_LEVEL = 6  # compression level of zlib
BODY = "(SELECT body FROM text_block WHERE text_block.id = chunk.block_id)"
"""SQL for the block of a chunk, which holds its headings and text at its `place`."""
HEADINGS = f"in_block({BODY}, chunk.place, 1)"
CONTEXT = f"in_block({BODY}, chunk.place, 0)"
TEXT = f"in_block({BODY}, chunk.place, 2)"


def in_blocks(texts: Sequence[tuple[str, str, str]]) -> Iterator[tuple[bytes, list[int]]]:
    """Yield the blocks of a document, each with the byte lengths of its texts.

    `texts` are context, headings (as JSON) and text of each chunk.
    """
    sizes = [len(text.encode()) for *_, text in texts]
    starts = accumulate(sizes, initial=0)
    for _, those in groupby(
        zip(starts, sizes, texts, strict=False), key=lambda one: one[0] // _BLOCK_BYTES
    ):
        block = list(those)
        body = pack(json.dumps([text for *_, one in block for text in one], ensure_ascii=False))
        yield body, [size for _, size, _ in block]


def headings_and_text(body: bytes, place: int) -> tuple[tuple[str, ...], str]:
    """Return the headings and the text of a chunk from its block and place."""
    _, headings, text = _unpack(body)[place * 3 : place * 3 + 3]
    return _headings(headings), text


@lru_cache(maxsize=16)  # the parts of a long section share their headings
def _headings(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def pack(text: str) -> bytes:
    """Compress a text."""
    return zlib.compress(text.encode(), _LEVEL)


@lru_cache(maxsize=16)  # the chunks of a document are read in order
def _unpack(body: bytes) -> list[str]:
    found: list[str] = json.loads(zlib.decompress(body))
    return found


def add_functions(connection: apsw.Connection) -> None:
    """Add the SQL function `in_block(body, place, part)`."""
    connection.create_scalar_function("in_block", _in_block, 3, deterministic=True)


def _in_block(*values: "apsw.SQLiteValue") -> str:
    body, place, part = values
    return _unpack(cast("bytes", body))[cast("int", place) * 3 + cast("int", part)]
