"""The texts of chunks as they are stored: packed, those of one document together, some 8,000 bytes at a time.

A few hundred bytes compress to half by themselves, and to a third beside their neighbours; a hit costs the reading of
one block. A block is a JSON array of the context, the headings (JSON again) and the text of chunk after chunk. Which
chunks share one follows from their texts alone, so that equal files give equal rows.
"""

import json
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, groupby
from typing import cast

import apsw

UNREADABLE = (zlib.error, ValueError, LookupError, TypeError)
"""What is raised for a block that is damaged."""
_BLOCK_BYTES = 8192
_LEVEL = 6  # of zlib
BODY = "(SELECT body FROM text_block WHERE text_block.id = chunk.block_id)"
"""The block of a chunk, which with its `place` tells its headings and text."""
HEADINGS = f"in_block({BODY}, chunk.place, 1)"
CONTEXT = f"in_block({BODY}, chunk.place, 0)"
TEXT = f"in_block({BODY}, chunk.place, 2)"


def in_blocks(texts: Sequence[tuple[str, str, str]]) -> Iterator[tuple[bytes, list[int]]]:
    """The blocks of a document, of whose chunks these are context, headings and text; each with the bytes of the texts
    it holds."""
    sizes = [len(text.encode()) for *_, text in texts]
    starts = accumulate(sizes, initial=0)
    for _, those in groupby(zip(starts, sizes, texts, strict=False), key=lambda one: one[0] // _BLOCK_BYTES):
        block = list(those)
        body = pack(json.dumps([text for *_, one in block for text in one], ensure_ascii=False))
        yield body, [size for _, size, _ in block]


def headings_and_text(body: bytes, place: int) -> tuple[tuple[str, ...], str]:
    """What `BODY` and the place of a chunk say of it."""
    _, headings, text = _unpack(body)[place * 3 : place * 3 + 3]
    return _headings(headings), text


@lru_cache(maxsize=16)  # the parts of a long section stand under the same
def _headings(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def pack(text: str) -> bytes:
    return zlib.compress(text.encode(), _LEVEL)


@lru_cache(maxsize=16)  # the chunks of a document are asked for one after the other
def _unpack(body: bytes) -> list[str]:
    found: list[str] = json.loads(zlib.decompress(body))
    return found


def add_functions(connection: apsw.Connection) -> None:
    """Have SQL read blocks: `in_block(body, place, part)`."""
    connection.create_scalar_function("in_block", _in_block, 3, deterministic=True)


def _in_block(*values: "apsw.SQLiteValue") -> str:
    body, place, part = values
    return _unpack(cast("bytes", body))[cast("int", place) * 3 + cast("int", part)]
