"""Writes the vocabulary of a unigram model as the one file that `vault_index.embeddings.unigram` maps into memory."""

import struct
import zlib
from array import array
from collections.abc import Mapping, Sequence

UNKNOWN_PENALTY = 10.0
"""How far below the rarest piece an unknown character scores, as in SentencePiece."""


def pack(
    pieces: Sequence[str],
    scores: Sequence[float],
    special: set[int],
    unknown: int,
    folds: Mapping[int, str],
) -> bytes:
    """`folds`: what becomes of a character, by its code. Special pieces keep their number and are never found in a
    text.

    Numbers are little-endian, of four bytes where nothing else is said: magic, the counts of pieces, slots and folds,
    the unknown piece and its score; slots (the number of a piece plus one, or 0) of a hash table by CRC-32 with linear
    probing; for each piece its CRC-32; where its text begins (one more for the end); its score; for each fold the
    character; where its text begins (one more for the end); for each character of Unicode the length of the longest
    piece that begins with it, in one byte; the texts of the pieces, then of the folds, in UTF-8.
    """
    size = 1 << (2 * len(pieces) - 1).bit_length()
    slots, longest = array("I", bytes(4 * size)), bytearray(0x110000)
    texts = [piece.encode() for piece in pieces]
    sums = [zlib.crc32(text) for text in texts]
    for number, piece in enumerate(pieces):
        if number in special:
            continue
        slot = sums[number] & (size - 1)
        while slots[slot]:
            slot = (slot + 1) & (size - 1)
        slots[slot] = number + 1
        longest[ord(piece[0])] = max(longest[ord(piece[0])], len(piece))
    characters = sorted(folds)
    replacements = [folds[character].encode() for character in characters]
    lowest = min(score for number, score in enumerate(scores) if number not in special)
    head = struct.pack(
        "<4s4if", b"VIU1", len(pieces), size, len(folds), unknown, lowest - UNKNOWN_PENALTY
    )
    parts = [
        slots,
        array("I", sums),
        array("I", _starts(texts)),
        array("f", scores),
        array("I", characters),
        array("I", _starts(replacements)),
    ]
    return head + b"".join(map(_little, parts)) + bytes(longest) + b"".join((*texts, *replacements))


def _starts(texts: Sequence[bytes]) -> list[int]:
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + len(text))
    return starts


def _little(numbers: array) -> bytes:
    assert numbers.itemsize == 4
    if struct.pack("=H", 1) != b"\1\0":
        numbers.byteswap()
    return numbers.tobytes()
