"""The answers of `history` and `diff`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Version:
    """One recorded version of the file of a memory."""

    number: int | None
    """None for a git commit."""
    seen: str
    by: str
    action: str
    """The command that wrote the version, or the subject of the commit. Changes by hand are
    `added`, `edited`, `moved`, `copied` or `removed`."""
    path: str
    bytes: int | None
    commit: str | None = None
    """The hash of the commit, if the vault is in a git repository and the version comes from it."""


@dataclass(frozen=True, slots=True)
class History:
    """The versions of one memory, newest first."""

    id: str
    path: str
    title: str
    results: tuple[Version, ...]
    total: int
    forgotten: int
    """Number of older versions that were dropped."""


@dataclass(frozen=True, slots=True)
class Diff:
    """The difference between two versions of a memory."""

    id: str
    path: str
    before: int | str | None
    """A version number or a commit hash; None if there was no earlier version."""
    after: int | str
    text: str
    """A unified diff; empty if the versions are equal."""
