"""The exceptions of the package, with their exit codes.

    VaultIndexError          1  failed
    ├── DefectError          1  defect       an unexpected error; the log has the details
    ├── UsageError           2  usage        the command, the query or an argument is wrong
    │   ├── ConfigError      2  config       the configuration is wrong
    │   ├── NotInSourceError 2  usage        a path outside all sources
    │   └── ForbiddenError   2  forbidden    the caller's token does not allow it
    ├── NotFoundError        3  not_found    no such document, memory or source
    ├── NotSetUpError        4  not_set_up   no configuration, or no index yet
    ├── BusyError            5  busy         another process holds the lock
    │   └── ConflictError    5  conflict     the file changed after it was read; it was not changed
    ├── EmbedderError        6  embedder     the embedder cannot answer
    │   ├── EmbedderRefused  6               a retry will not help: key, quota, model, daily limit
    │   └── RequestRefused   6               the server rejected the texts; fewer texts may pass
    ├── PoolError            6  pool         the team's pool does not answer, or refuses
    ├── IndexTooNewError     1  index_too_new
    ├── IndexCorruptError    1  index_corrupt
    │   └── IndexTooOldError 1  index_too_old    an older version made it; the next sync rebuilds it
    ├── CacheDamagedError    1  cache_damaged
    ├── PoolUnreachable      1  pool_unreachable   the team's pool does not answer; retry later
    └── StateDamagedError    1  state_damaged    until it is repaired, nothing is sent or read

`message` says what happened, `hint` what to do next; both in lower case, without a full stop.
Foreign exceptions are translated at the foreign call, with `from`. Only the command line prints.
"""

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word closest to a misspelled one, or an empty string."""
    from difflib import get_close_matches  # 3 ms, and only mistakes need it

    return next(iter(get_close_matches(word.lower(), list(known), n=1, cutoff=0.6)), "")


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """Return a hint with the closest known word, else `otherwise`."""
    meant = nearest(word, known)
    return f"did you mean {meant!r}?" if meant else otherwise


class VaultIndexError(Exception):
    """Base of every error that this package raises on purpose."""

    code = "failed"
    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def in_one_line(self) -> str:
        """The message and the hint, separated by a semicolon."""
        return f"{self.message.removesuffix('.')}; {self.hint}" if self.hint else self.message


class DefectError(VaultIndexError):
    """An unexpected error; the log has the details."""

    code = "defect"


class UsageError(VaultIndexError):
    """The command, the query or an argument is wrong."""

    code = "usage"
    exit_code = 2


class ConfigError(UsageError):
    """The configuration is wrong."""

    code = "config"


class NotInSourceError(UsageError):
    """A path outside all sources."""


class ForbiddenError(UsageError):
    """The caller's token does not allow the request."""

    code = "forbidden"


class NotFoundError(VaultIndexError):
    """There is no such document, memory or source."""

    code = "not_found"
    exit_code = 3


class NotSetUpError(VaultIndexError):
    """There is no configuration, or no index yet."""

    code = "not_set_up"
    exit_code = 4


class BusyError(VaultIndexError):
    """Another process holds the lock, or a limit is reached; a retry may succeed."""

    code = "busy"
    exit_code = 5


class ConflictError(BusyError):
    """The file changed after it was read, so it was not overwritten."""

    code = "conflict"


class EmbedderError(VaultIndexError):
    """The embedder cannot answer."""

    code = "embedder"
    exit_code = 6


class PoolError(VaultIndexError):
    """The team's pool does not answer, or refuses."""

    code = "pool"
    exit_code = 6


class EmbedderRefused(EmbedderError):
    """The embedder refused; retry only after a key, a quota, a limit or a setting has changed."""


class RequestRefused(EmbedderError):
    """The server rejected the texts of one request; a request with fewer texts may pass."""


class IndexTooNewError(VaultIndexError):
    """A newer version made the index."""

    code = "index_too_new"


class IndexCorruptError(VaultIndexError):
    """The index is damaged; `repair` rebuilds it."""

    code = "index_corrupt"


class IndexTooOldError(IndexCorruptError):
    """An older version made the index; the next sync rebuilds it."""

    code = "index_too_old"


class CacheDamagedError(VaultIndexError):
    """The vector cache is damaged."""

    code = "cache_damaged"


class RemoteError(VaultIndexError):
    """A remote source does not answer, or refuses; a later attempt may succeed."""

    code = "remote"


class PoolUnreachable(VaultIndexError):
    """The team's pool does not answer; a later attempt may succeed."""

    code = "pool_unreachable"


class StateDamagedError(VaultIndexError):
    """The state is damaged; until it is repaired, nothing is sent and no session is read."""

    code = "state_damaged"
