"""The tokens that callers of `serve` show: a file of their own, in which each is kept as a hash.

A token is 256 random bits, so one round of SHA-256 hides it: there is nothing to guess by trying words.
"""

from pathlib import Path
from typing import NamedTuple

from vault_index.callers import Caller


class Token(NamedTuple):
    """One token as it is listed: without its secret, which nobody has but the caller."""

    caller: Caller
    created: float
    expires: float | None
    """Seconds since the epoch; None: never."""


class Tokens:
    """The tokens of one home (`Home.tokens_file`). The file is read again when it changed, so a revoked token is
    refused by the next request."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def all(self) -> tuple[Token, ...]:
        """Also those that have expired, by name."""
        raise NotImplementedError

    def find(self, secret: str, now: float) -> Caller | None:
        """Who shows this; None for a token that is unknown, revoked or expired."""
        raise NotImplementedError

    def add(self, caller: Caller, *, created: float, expires: float | None = None) -> str:
        """Keep a new token, and return it: it is not shown again. Raises UsageError for a name that is taken."""
        raise NotImplementedError

    def revoke(self, name: str) -> Token:
        """Raises NotFoundError."""
        raise NotImplementedError
