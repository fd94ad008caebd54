"""Write the vocabulary of a unigram model as one file for `vault_index.embeddings.multilingual`."""

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
    """Return the bytes of the file, which is mapped into memory.

    `folds` maps a code point to its replacement. Special pieces keep their number and never match a
    text.

    Numbers are little-endian, of four bytes if not stated otherwise. In this order: magic; the
    numbers of pieces, slots and folds; the unknown piece and its score; the slots (number of a
    piece plus one, or 0) of a hash table by CRC-32 with linear probing; the CRC-32 of each piece;
    the start of its text (one more for the end); its score; the character of each fold; the start
    of its text (one more for the end); for each Unicode character, in one byte, the length of the
    longest piece that begins with it; the texts of the pieces, then of the folds, in UTF-8.
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
