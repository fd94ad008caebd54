"""Binary codes of a large vector space: one sign bit per dimension, in a file next to `index.db`.

The codes only propose candidates; vec0 has the vectors and computes the cosines. So an outdated row
costs time but never gives a wrong hit. Chunks added since the file was written are in `uncoded` and
compared exactly. The file is written completely under a new name and synced before `index.db` names
it. So a reader finds a complete file for its snapshot of the index, or no file. Without a file it
searches with vec0 alone.

Layout: the chunk ids in ascending order, then for every 64 dimensions one word per chunk, then the
CRC-32 of the file's name and of all these bytes. Every item has 64 bits, little-endian.
"""

import contextlib
import logging
import os
import secrets
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from vault_index.models import Vector
from vault_index.store.connection import Database, any_of
from vault_index.store.filters import Candidates
from vault_index.store.spaces import CODED_BITS, CODES_SUFFIX, MAX_K, cosines, most_uncoded

log = logging.getLogger(__name__)

_MOST_AT_ONCE = 65_536
"""Maximum number of chunks coded under one lock."""
_BLOCK_ROWS = 65_536
"""Rows per block, so that the intermediate results fit in the cache of a core."""
_SAMPLE = 16_384
_FARTHEST = 65_535
_WANTED, _AT_LEAST = 4, 600
"""4 times the wanted number plus 600 candidates are compared exactly."""
_ROUNDS, _FIRST, _MORE = 3, 10, 2
"""Rounds, decisive hits and growth.

If one of the first 10 hits is in the less likely half of the candidates, their number is doubled,
in up to 3 rounds.
"""
_BY_SIGNS = 12_000
"""Number of nearest chunks by Hamming distance that are scored again.

The score is the product of the query with the signs. It has a third of the error of Hamming
distance, at a hundred times the cost.
"""
_ASKED, _WIDER, _ENOUGH = 3, 4, 0.75
_FEW = 5
"""Cost of testing whether one chunk passes the filters, relative to listing one that does."""

Words = np.ndarray[Any, np.dtype[np.uint64]]
Ids = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float32]]
Allowed = Callable[[Sequence[int] | None, int], list[int]]
"""Function that returns the ids of chunks that pass the filters.

Its parameters are the ids to test (None: all chunks) and the maximum number to return (-1: all).
"""


class Codes:
    """The memory-mapped codes of one space; safe for several threads."""

    def __init__(self, path: Path, rows: int, words: int) -> None:
        """Map a file. Raises OSError if it is missing, and ValueError if it is invalid.

        An invalid file is deleted. Missing codes are soon written again.
        """
        if path.stat().st_size == 8 * (rows * (1 + words) + 1) and rows:
            # Slicing a plain view takes a tenth of the time.
            file: Words = np.memmap(path, "<u8", "r").view(np.ndarray)
            self.ids: Ids = file[:rows].view("<i8")
            self.columns = file[rows:-1].reshape(words, rows)
            if zlib.crc32(file[:-1].data, zlib.crc32(path.name.encode())) == file[-1]:
                return
        path.unlink()
        raise ValueError(path)

    def nearest(self, vector: Vector, count: int, without: Ids, among: Ids | None = None) -> Ids:
        """Return the `count` chunks that are probably the nearest, most likely first.

        `among` restricts them to these chunks, in ascending order.
        """
        int8 = len(vector) == CODED_BITS * len(self.columns)
        query = np.frombuffer(vector, np.int8 if int8 else "<f4").astype(np.float32)
        columns, ids = self.columns, self.ids
        if among is not None:
            rows = self._rows(np.setdiff1d(among, without, assume_unique=True))
            columns, ids = columns[:, rows], ids[rows]
        if len(ids) > count:
            wanted = max(count, min(_BY_SIGNS, len(ids) // 4))
            skipped = self._rows(without if among is None else without[:0])
            rows = _nearest_by_signs(columns, query, wanted, skipped)
            ids = ids[rows[np.argsort(-_estimates(columns[:, rows], query), kind="stable")[:count]]]
        elif among is None:
            ids = np.setdiff1d(ids, without, assume_unique=True)
        return ids

    def _rows(self, chunk_ids: Ids) -> Ids:
        """Return the rows of the chunks that have a code."""
        rows = np.searchsorted(self.ids, chunk_ids)
        there: Ids = rows[self.ids.take(rows, mode="clip") == chunk_ids]
        return there


def _nearest_by_signs(columns: Words, query: Floats, count: int, without: Ids) -> Ids:
    """Return the nearest `count` to `2 * count` rows by Hamming distance, except rows `without`."""
    signs = np.packbits(query > 0, bitorder="little").view("<u8")
    total = columns.shape[1]
    distances = np.zeros(total, np.uint16)
    differing, bits = np.empty(_BLOCK_ROWS, np.uint64), np.empty(_BLOCK_ROWS, np.uint8)
    for start in range(0, total, _BLOCK_ROWS):
        block = distances[start : start + _BLOCK_ROWS]
        for column, word in zip(columns[:, start : start + _BLOCK_ROWS], signs, strict=True):
            np.bitwise_xor(column, word, out=differing[: len(block)])
            np.bitwise_count(differing[: len(block)], out=bits[: len(block)])
            block += bits[: len(block)]
    distances[without] = _FARTHEST
    # Estimate the limit from a sample: sorting all distances takes longer than computing them.
    step = -(-total // _SAMPLE)
    limit = min(
        int(np.sort(distances[::step])[min(count, total - 1) // step]), CODED_BITS * len(columns)
    )
    while len(rows := np.flatnonzero(distances <= limit)) < min(count, total - len(without)):
        limit += 1
    return rows[np.argsort(distances[rows], kind="stable")[: 2 * count]]


def _estimates(columns: Words, query: Floats) -> Floats:
    """Return the product of the query with the signs (1 or -1) of each code, by table look-up."""
    signs = (
        np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(
            np.float32
        )
        * 2
        - 1
    )
    products = query.reshape(-1, 8) @ signs.T
    bytes_of_rows = np.ascontiguousarray(columns.T).view(np.uint8)
    places = bytes_of_rows + np.arange(0, products.size, 256, dtype=np.intp)
    return products.ravel().take(places).sum(axis=1)  # type: ignore[no-any-return]


def nearest(
    db: Database,
    space_id: int,
    codes: Codes,
    uncoded: Ids,
    vector: Vector,
    most: int,
    allowed: Allowed | None,
) -> Candidates:
    """Return the `most` nearest allowed chunks by cosine, best first."""
    count, best = _WANTED * min(most, MAX_K) + _AT_LEAST, Candidates()
    every = (
        codes.nearest(vector, count * _MORE ** (_ROUNDS - 1), uncoded)
        if allowed is None
        else uncoded
    )
    compared: dict[int, float] = {}
    for _ in range(_ROUNDS):
        if allowed is None:
            near, new = every[:count], uncoded
        else:
            near, new = _nearest_allowed(codes, uncoded, vector, count, allowed)
        others = {*near.tolist(), *new.tolist()}.difference(compared)
        compared |= cosines(db, space_id, vector, sorted(others))
        best = sorted(compared.items(), key=lambda one: (-one[1], one[0]))[:most]
        unlikely = near[len(near) // 2 :].tolist()
        if len(near) < count * _ENOUGH or not dict(best[:_FIRST]).keys() & unlikely:
            break
        count *= _MORE
    return best


def _nearest_allowed(
    codes: Codes, uncoded: Ids, vector: Vector, count: int, allowed: Allowed
) -> tuple[Ids, Ids]:
    """Return the nearest allowed chunks, and the allowed chunks without a code.

    If few chunks are allowed, list them first; otherwise test the nearest. Ask for more until there
    are enough.
    """
    asked = _ASKED * count
    while True:
        few = _FEW * asked
        among = np.unique(np.array(allowed(None, few), np.int64))
        if len(among) < few:
            return codes.nearest(vector, count, uncoded, among), np.intersect1d(among, uncoded)
        near = codes.nearest(vector, asked, uncoded)
        near = near[np.isin(near, np.array(allowed(near.tolist(), -1), np.int64))]
        if len(near) >= count * _ENOUGH:
            return near[:count], np.array(allowed(uncoded.tolist(), -1), np.int64)
        asked *= _WIDER


def read_codes(db: Database, name: str, coded: int, dimensions: int) -> tuple[Codes, Ids] | None:
    """Return the codes in a file and the ids of chunks without a current code; None if unusable."""
    most = 2 * most_uncoded(coded)
    uncoded = db.execute("SELECT chunk_id FROM uncoded ORDER BY chunk_id LIMIT ?", (most,))
    with contextlib.suppress(OSError, ValueError):
        codes = _opened(db.path.with_name(name), coded, dimensions // CODED_BITS)
        return (codes, np.array(uncoded, np.int64).reshape(-1)) if len(uncoded) < most else None
    return None


@lru_cache(2)  # a file name is never reused
def _opened(path: Path, rows: int, words: int) -> Codes:
    return Codes(path, rows, words)


def write_codes(db: Database) -> bool:
    """Code changed chunks of the serving space, in a batch that takes under a second.

    The caller holds the write lock. Returns False if the file cannot be written; search then uses
    vec0 alone.
    """
    (space_id, dimensions, name, coded), *_ = db.execute(
        "SELECT id, dimensions, coalesce(codes, ''), coded FROM vector_space"
        " WHERE state = 'serving'"
    )
    words, table = dimensions // CODED_BITS, f"vector_{space_id:d}"
    try:
        old = Codes(db.path.with_name(name), coded, words) if name else None
    except (OSError, ValueError):
        old = None
    if old is None:
        with db.transaction():
            db.execute("UPDATE vector_space SET codes = '', coded = 0 WHERE id = ?", (space_id,))
            db.execute("DELETE FROM uncoded")
            db.execute(f"INSERT INTO uncoded SELECT rowid FROM {table}")
    changed = [
        id_
        for (id_,) in db.execute(
            "SELECT chunk_id FROM uncoded ORDER BY chunk_id LIMIT ?", (_MOST_AT_ONCE,)
        )
    ]
    now = db.execute(
        f"SELECT value, vec_quantize_binary(embedding) FROM json_each(?) CROSS JOIN {table}"
        f" ON {table}.rowid = value ORDER BY value",
        (any_of(changed),),
    )
    path = db.path.with_name(f"{db.path.name}{CODES_SUFFIX}{secrets.token_hex(8)}")
    try:
        coded = _write(path, old, np.array(changed, np.int64), now, words)
    except OSError as error:
        log.warning("the codes of the vectors cannot be written: %s", error)
        with contextlib.suppress(OSError):
            path.unlink()
        return False
    with db.transaction():
        db.execute(
            "UPDATE vector_space SET codes = ?, coded = ? WHERE id = ?",
            (path.name, coded, space_id),
        )
        db.execute("DELETE FROM uncoded WHERE chunk_id <= ?", (max(changed, default=0),))
    return True


def _write(
    path: Path, old: Codes | None, changed: Ids, now: list[tuple[int, bytes]], words: int
) -> int:
    """Write a file with the codes of `old` except `changed`, plus those of `now`.

    Return its row count.
    """
    columns: Iterable[Words] = (
        np.frombuffer(b"".join(code for _, code in now), "<u8").reshape(-1, words).T
    )
    ids = np.array([id_ for id_, _ in now], "<i8")
    if old is not None:
        kept = np.flatnonzero(~np.isin(old.ids, changed, assume_unique=True))
        ids = np.concatenate((old.ids[kept], ids))
        columns = (
            np.concatenate((was[kept], column))
            for was, column in zip(old.columns, columns, strict=True)
        )
    order = np.argsort(ids, kind="stable")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as file:
        check = zlib.crc32(path.name.encode())
        # One column at a time: 8 MB of memory instead of 50 for a million chunks.
        for part in chain((ids,), columns):
            data = part[order].tobytes()
            check = zlib.crc32(data, check)
            file.write(data)
        file.write(check.to_bytes(8, "little"))
        file.flush()
        os.fsync(descriptor)
    return len(ids)
