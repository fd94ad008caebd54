"""How long work is ended early: it asks a token between two documents, and between two batches of texts."""

from collections.abc import Callable


class CancelToken:
    """For one call. What was done before it was cancelled stays done, and the report of the call is not `finished`."""

    def __init__(self, condition: Callable[[], bool] | None = None) -> None:
        """`condition` is asked each time the token is, until it holds for the first time."""
        self._condition = condition
        self._cancelled = False

    def cancel(self) -> None:
        """May be called by any thread, and by a signal handler."""
        self._cancelled = True

    @property
    def cancelled(self) -> bool:
        """Whether to return now; once true, it stays so."""
        if not self._cancelled and self._condition is not None:
            self._cancelled = self._condition()
        return self._cancelled
