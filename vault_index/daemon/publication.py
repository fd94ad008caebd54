"""A thread that publishes to the team's pool, or exchanges files with remotes, after changes."""

import logging
import threading
import time
from collections.abc import Callable, Sequence

from vault_index.daemon.log import error_location, log_event
from vault_index.errors import VaultIndexError
from vault_index.results.base import Problem

log = logging.getLogger(__name__)

_QUIET_SECONDS = 0.5
"""Seconds between a change and its publication, so that a burst is published once."""
_PAUSE = 1
"""Wait this many times the duration of a publication before the next one."""
_PROBLEM_SECONDS = 60.0
"""Seconds after which a source that could not be published is tried again."""
_FIRST_RETRY, _LAST_RETRY = 1.0, 300.0


class Publication:
    """Publishes in a thread of its own, so that a slow pool delays neither files nor queries."""

    def __init__(
        self, publish: Callable[[bool], Sequence[Problem]], poll_seconds: Callable[[], float | None]
    ) -> None:
        """Call `publish` after each `wake`, and once in `poll_seconds` (None: no limit).

        Its argument is whether sources may have changed.
        """
        self.problems: tuple[Problem, ...] = ()
        """The problems of the last publication."""
        self._publish = publish
        self._poll_seconds = poll_seconds
        self._changed = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="publication", daemon=True)

    def start(self) -> None:
        """Start the thread, which publishes at once, if it does not run yet."""
        if not self._thread.ident:
            self._thread.start()

    def wake(self) -> None:
        """Publish soon, because the index may have changed. Any thread may call it."""
        self._changed.set()

    def stop(self, timeout: float) -> bool:
        """Stop before the next publication; False if one is still running after `timeout`."""
        self._closing.set()
        self._changed.set()
        if self._thread.ident:
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        pause = retry = 0.0
        changed = True
        while not self._closing.wait(pause):
            self._changed.clear()
            began = time.monotonic()
            if self._try_to_publish(changed):
                retry = 0.0
                took = time.monotonic() - began
                failed = bool(self.problems)
                longest = _PROBLEM_SECONDS if failed else self._poll_seconds()
                changed = self._changed.wait(longest) or failed
                pause = max(_QUIET_SECONDS, _PAUSE * took)
            else:
                pause = retry = min(max(retry * 2, _FIRST_RETRY), _LAST_RETRY)

    def _try_to_publish(self, changed: bool) -> bool:
        """Publish, and return whether it was possible."""
        try:
            self.problems = tuple(self._publish(changed))
        except VaultIndexError as error:
            problem = Problem("pool", f"not published: {error.message}", error.hint)
        except Exception as error:  # noqa: BLE001 - a defect must not end the daemon
            log_event(log, logging.ERROR, "not published", error=error_location(error))
            hint = "see the daemon's log: vault-index logs"
            problem = Problem("pool", f"publishing failed: {type(error).__name__}", hint)
        else:
            return True
        if (problem,) != self.problems:
            log_event(log, logging.WARNING, "not published", message=problem.message)
        self.problems = (problem,)
        return False
