"""Report the progress of long work, and cancel it: it checks a token between documents."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""A progress callback: stage, done, total (0 if unknown)."""


def no_progress(stage: str, done: int, total: int) -> None:
    """Ignore the progress."""


class CancelToken:
    """A cancel token for one call.

    Work done before the cancellation is kept, and the report of the call is not `finished`.
    """

    def __init__(self, condition: Callable[[], bool] | None = None) -> None:
        """Cancel when `condition` first returns true; each check of the token calls it."""
        self._condition = condition
        self._cancelled = False

    def cancel(self) -> None:
        """Request cancellation. Safe in any thread and in signal handlers."""
        self._cancelled = True

    @property
    def cancelled(self) -> bool:
        """Whether the work should stop; stays true once it is true."""
        if not self._cancelled and self._condition is not None:
            self._cancelled = self._condition()
        return self._cancelled
