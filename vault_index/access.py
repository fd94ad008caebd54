"""Store the access tokens of `serve`, hashed, in their own file.

A token is 256 random bits, so one round of SHA-256 is enough: it cannot be guessed from a word
list.
"""

import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from vault_index import disk
from vault_index.callers import Caller, caller_from_json, caller_to_json
from vault_index.config.home import private_folder
from vault_index.errors import NotFoundError, UsageError, VaultIndexError

_VERSION = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
"""ASCII only: a name in a lookalike alphabet could pose as another author."""
_HASH = re.compile(r"[0-9a-f]{64}")
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Token(NamedTuple):
    """One token without its secret, which only the caller has."""

    caller: Caller
    created: float
    expires: float | None
    """Seconds since the epoch; None if the token does not expire."""
    once: bool = False
    """Whether this is a one-time code that the page exchanges for a token (`exchange`)."""

    def expired(self, now: float) -> bool:
        """Return whether the token has expired at `now`, in seconds since the epoch."""
        return self.expires is not None and now >= self.expires


class Tokens:
    """The tokens of one home (`Home.tokens_file`).

    The file is read again when it changes, so the next request with a revoked token is refused.
    Every method raises VaultIndexError if the file is damaged or writable by others. Then no token
    is valid, and the file is not overwritten.
    """

    is_remote = False
    """Whether a database has the tokens instead of the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: tuple[tuple[int, ...], Mapping[str, Token]] = ((), {})
        """File identity and the tokens by hash, in one value because several threads read it."""

    def all(self) -> tuple[Token, ...]:
        """Return the tokens by name, expired ones included, without one-time codes."""
        tokens = (token for token in self._by_hash().values() if not token.once)
        return tuple(sorted(tokens, key=lambda token: token.caller.name))

    def find(self, secret: str, now: float, port: str = "", run: str = "") -> Caller | None:
        """Return the caller with this secret, or with a page's signature of `run`, as `secret`.

        The page signs with its key for `port` (`page_key`). None if the token is unknown, revoked
        or expired.
        """
        token = self._by_hash().get(hash_of(secret)) or (
            self._signer(secret, port, run) if run else None
        )
        if token is None or token.once or token.expired(now):
            return None
        return token.caller

    def exchange(self, code: str, now: float, *, expires: float) -> tuple[str, str] | None:
        """Exchange a one-time code for a new token; return its secret and name.

        None if the code is unknown, used or expired.
        """
        token = self._by_hash().get(hash_of(code))
        if token is None or not token.once or token.expired(now):
            return None
        secret = _new_secret()
        with disk.locked(str(self._path.parent)):
            tokens = dict(self._by_hash())
            if tokens.pop(hash_of(code), None) is None:  # another process used the code first
                return None
            kept = {
                key: one
                for key, one in tokens.items()
                if not (one.caller.owner and one.expired(now))
            }
            self._write(
                {**kept, hash_of(secret): token._replace(created=now, expires=expires, once=False)}
            )
        return secret, token.caller.name

    def drop(self, code: str) -> None:
        """Remove an unused one-time code."""
        with disk.locked(str(self._path.parent)):
            tokens = dict(self._by_hash())
            if (found := tokens.get(hash_of(code))) and found.once:
                self._write({key: one for key, one in tokens.items() if one != found})

    def add(
        self, caller: Caller, *, created: float, expires: float | None = None, once: bool = False
    ) -> str:
        """Store a new token and return its secret, which cannot be read again.

        Raises UsageError if the name is invalid or taken.
        """
        if not _NAME.fullmatch(caller.name):
            hint = "use up to 64 ASCII letters, digits, and . _ @ - after the first"
            raise UsageError(f"{caller.name!r} is not a valid token name", hint)
        secret = _new_secret()
        folder = private_folder(self._path.parent)
        with disk.locked(str(folder)):
            tokens = self._by_hash()
            if any(token.caller.name == caller.name for token in tokens.values()):
                hint = (
                    "choose another name, or revoke the token: "
                    f"vault-index token revoke {caller.name}"
                )
                raise UsageError(f"the token {caller.name} already exists", hint)
            self._write({**tokens, hash_of(secret): Token(caller, created, expires, once)})
        return secret

    def revoke(self, name: str) -> Token:
        """Delete a token and return it. Raises NotFoundError."""
        gone = NotFoundError(
            f"there is no token {name!r}", "list the tokens: vault-index token list"
        )
        if not self._path.parent.is_dir():
            raise gone
        with disk.locked(str(self._path.parent)):
            tokens = self._by_hash()
            revoked = next(
                (key for key, token in tokens.items() if token.caller.name == name), None
            )
            if revoked is None:
                raise gone
            self._write({key: token for key, token in tokens.items() if key != revoked})
        return tokens[revoked]

    def _signer(self, proof: str, port: str, run: str) -> Token | None:
        import hmac  # imported here because most calls do not need it

        for key, token in self._by_hash().items():
            signed = _signed(_signed(key, port), run) if token.caller.owner else ""
            if signed and hmac.compare_digest(signed.encode(), proof.encode()):
                return token
        return None

    def _by_hash(self) -> Mapping[str, Token]:
        with disk.os_errors_as(
            f"cannot read {self._path}", f"correct its permissions: chmod 600 {self._path}"
        ):
            disk.must_be_own(self._path)
            try:
                file = open(self._path, "rb")  # noqa: SIM115 - closed below
            except FileNotFoundError:
                return {}
            with file:
                found = os.fstat(file.fileno())
                like = (
                    found.st_dev,
                    found.st_ino,
                    found.st_size,
                    found.st_mtime_ns,
                    found.st_ctime_ns,
                )
                if found.st_mode & _OTHERS_WRITE:
                    raise VaultIndexError(
                        f"other users can write to {self._path}, so serve accepts no token",
                        f"run chmod 600 {self._path}, then check the tokens: "
                        "vault-index token list",
                    )
                if like == self._read[0]:
                    return self._read[1]
                data = file.read()
        try:
            tokens = _parse_tokens(json.loads(data))
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            raise VaultIndexError(
                f"{self._path} is damaged, so serve accepts no token",
                "restore it from a backup, or delete it and create new tokens: "
                "vault-index token add",
            ) from error
        self._read = like, tokens
        return tokens

    def _write(self, tokens: Mapping[str, Token]) -> None:
        kept = [
            {**token._asdict(), "caller": caller_to_json(token.caller), "hash": key}
            for key, token in tokens.items()
        ]
        text = json.dumps({"version": _VERSION, "tokens": kept}, indent=1) + "\n"
        with disk.os_errors_as(
            f"cannot write {self._path}", "free disk space, or make its folder writable"
        ):
            disk.replace(str(self._path), text.encode(), mode=0o600)


def _new_secret() -> str:
    import secrets  # imported here because most calls do not need it

    return f"vx_{secrets.token_urlsafe(32)}"


def page_key(secret: str, port: str) -> str:
    """Return the key that a page at `port` stores instead of its token.

    The page signs requests to one run of `serve` with it. A program that listens at that port
    later can only capture a signature, which the next run refuses.
    """
    return _signed(hash_of(secret), port)


def _signed(key: str, text: str) -> str:
    import hmac

    return hmac.digest(bytes.fromhex(key), text.encode(), "sha256").hex()


def hash_of(secret: str) -> str:
    """Return the hash of a token, in hexadecimal."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _parse_tokens(data: Any) -> dict[str, Token]:
    """Parse the token file into tokens by hash.

    Raises ValueError, TypeError, KeyError or OverflowError for any deviation from the format,
    because a lenient parser could grant too much access.
    """
    found: dict[str, Token] = {}
    for one in data["tokens"]:
        expires = None if one["expires"] is None else _seconds(one["expires"])
        caller, created = caller_from_json(one["caller"]), _seconds(one["created"])
        token = Token(caller, created, expires, one["once"])
        if (
            not _HASH.fullmatch(one["hash"])
            or not isinstance(token.once, bool)
            or not _NAME.fullmatch(token.caller.name)
        ):
            raise ValueError("invalid hash or name")
        found[one["hash"]] = token
    names = {token.caller.name for token in found.values()}
    if data["version"] != _VERSION or not len(data["tokens"]) == len(found) == len(names):
        raise ValueError("unknown version, or duplicates")
    return found


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError("not a time")
    return float(value)
