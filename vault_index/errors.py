"""The error tree: every failure a user can meet, with its exit code and what to do next.

    VaultIndexError          1  failed
    ├── DefectError          1  defect       what nobody expected, which the log tells
    ├── UsageError           2  usage        the command, the query or an argument is wrong
    │   ├── ConfigError      2  config       the configuration is wrong
    │   ├── NotInSourceError 2  usage        a path that lies in no source
    │   └── ForbiddenError   2  forbidden    the token of a caller does not allow it
    ├── NotFoundError        3  not_found    no such document, memory or source
    ├── NotSetUpError        4  not_set_up   no configuration, or no index yet
    ├── BusyError            5  busy         another process holds the lock
    │   └── ConflictError    5  conflict     the file changed since it was read, and was left as it is
    ├── EmbedderError        6  embedder     the embedder cannot answer
    │   ├── EmbedderRefused  6               it never will as things are: key, quota, model, daily limit
    │   └── RequestRefused   6               the server did not embed these texts; fewer of them may pass
    ├── IndexTooNewError     1  index_too_new
    ├── IndexCorruptError    1  index_corrupt
    │   └── IndexTooOldError 1  index_too_old    an older version made it: the next sync builds it again
    ├── CacheDamagedError    1  cache_damaged
    └── StateDamagedError    1  state_damaged    nothing is sent, and no session read, before it is mended

`message` says what happened, `hint` what to do next. Foreign exceptions are translated where the foreign call is
made, with `from`; only the command line prints. A message is in lower case and without a full stop, and so is a hint.
"""

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that was probably meant, or empty."""
    from difflib import get_close_matches  # 3 ms, and only mistakes need it

    return next(iter(get_close_matches(word.lower(), list(known), n=1, cutoff=0.6)), "")


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """A hint with the known word that was probably meant, else the one given."""
    meant = nearest(word, known)
    return f"did you mean {meant!r}?" if meant else otherwise


class VaultIndexError(Exception):
    """Base of every error this package raises on purpose."""

    code = "failed"
    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def in_one_line(self) -> str:
        """What happened, and what to do next."""
        return f"{self.message.removesuffix('.')}; {self.hint}" if self.hint else self.message


class DefectError(VaultIndexError):
    code = "defect"


class UsageError(VaultIndexError):
    code = "usage"
    exit_code = 2


class ConfigError(UsageError):
    code = "config"


class NotInSourceError(UsageError):
    """The path of a file that nothing is indexed of."""


class ForbiddenError(UsageError):
    code = "forbidden"


class NotFoundError(VaultIndexError):
    code = "not_found"
    exit_code = 3


class NotSetUpError(VaultIndexError):
    code = "not_set_up"
    exit_code = 4


class BusyError(VaultIndexError):
    code = "busy"
    exit_code = 5


class ConflictError(BusyError):
    code = "conflict"


class EmbedderError(VaultIndexError):
    code = "embedder"
    exit_code = 6


class EmbedderRefused(EmbedderError):
    """Trying again will not help before somebody changes a key, a quota, a limit or a setting."""


class RequestRefused(EmbedderError):
    """The server did not embed the texts of one request; a request with fewer of them may pass."""


class IndexTooNewError(VaultIndexError):
    code = "index_too_new"


class IndexCorruptError(VaultIndexError):
    code = "index_corrupt"


class IndexTooOldError(IndexCorruptError):
    code = "index_too_old"


class CacheDamagedError(VaultIndexError):
    code = "cache_damaged"


class StateDamagedError(VaultIndexError):
    code = "state_damaged"
