"""Count cl100k_base tokens with the ranks that ship with the package, without network access."""

from binascii import a2b_base64
from functools import cache
from pathlib import Path

import tiktoken

_RANKS = Path(__file__).parent / "data" / "cl100k_base.tiktoken"

# The split pattern and special tokens of cl100k_base (tiktoken, MIT licence).
_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_SPECIAL_TOKENS = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}


@cache
def _encoding() -> tiktoken.Encoding:
    """Load the encoding, about 80 ms, when the first text needs it."""
    # Each token is followed by its rank, which equals its position.
    tokens = _RANKS.read_bytes().split()[0::2]
    ranks = dict(zip(map(a2b_base64, tokens), range(len(tokens)), strict=True))
    return tiktoken.Encoding(
        "cl100k_base", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens=_SPECIAL_TOKENS
    )


def release() -> None:
    """Free the memory of the ranks, about 40 MB; the next text loads them again."""
    _encoding.cache_clear()


def encode(text: str) -> list[int]:
    """Return the tokens of `text`; special tokens in it count as plain text."""
    return _encoding().encode_ordinary(text)


def decode(tokens: list[int]) -> str:
    """Return the text of `tokens`; a character cut in two becomes U+FFFD."""
    return _encoding().decode(tokens)


def count(text: str) -> int:
    """Return the number of tokens of `text`."""
    return len(_encoding().encode_ordinary(text))
