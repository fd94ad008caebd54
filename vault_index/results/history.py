"""The answers of `history` and `diff`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Version:
    """What the file of a memory said at one time."""

    number: int | None
    """None for a commit."""
    seen: str
    by: str
    action: str
    """The command that wrote it; `added`, `edited`, `moved`, `copied` or `removed` where that was done by hand; or what
    a commit says of itself."""
    path: str
    bytes: int | None
    commit: str | None = None
    """The hash of the commit, where it is one of the git repository that the vault lies in."""


@dataclass(frozen=True, slots=True)
class History:
    """The versions of one memory, the newest first."""

    id: str
    path: str
    title: str
    results: tuple[Version, ...]
    total: int
    forgotten: int
    """Older versions that are not kept any more."""


@dataclass(frozen=True, slots=True)
class Diff:
    """What one version of a memory says otherwise than another."""

    id: str
    path: str
    before: int | str | None
    """A number, or the hash of a commit; None: there was nothing."""
    after: int | str
    text: str
    """A unified diff; empty where they say the same."""
