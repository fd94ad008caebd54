"""A piece of work that a client asked of the writer, and what the client may see of it meanwhile."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vault_index.errors import BusyError, VaultIndexError
from vault_index.results import SyncReport


class Step(NamedTuple):
    """How far a job is; `total` is 0 where it is not known."""

    stage: str
    done: int
    total: int


class Job:
    """Filled by the writer's thread, watched by the client's. Nobody watching it is no harm to the work."""

    def __init__(self, method: str, params: Mapping[str, Any]) -> None:
        self.method = method
        self.params = dict(params)
        self.earlier: list[SyncReport] = []
        """What was done of it before it was interrupted."""
        self._changed = threading.Condition()
        self._step = Step("waiting", 0, 0)
        self._result: dict[str, Any] | None = None
        self._error: VaultIndexError | None = None

    @property
    def over(self) -> bool:
        return self._result is not None or self._error is not None

    def rest(self, done: SyncReport | None) -> "Job":
        """The same job, as far as it is left: an interrupted rebuild has marked all rows, and goes on as a sync."""
        self.earlier += [done] if done else []
        self.method = "sync"
        return self

    def report(self, stage: str, done: int, total: int) -> None:
        with self._changed:
            self._step = Step(stage, done, total)
            self._changed.notify_all()

    def finish(self, result: dict[str, Any]) -> None:
        with self._changed:
            self._result = result
            self._changed.notify_all()

    def fail(self, error: VaultIndexError) -> None:
        with self._changed:
            self._error = error
            self._changed.notify_all()

    def wait(self, seen: Step, timeout: float) -> Step | None:
        """The newest step, as soon as it is not the one `seen` before; None when the job is over.

        After `timeout` seconds the step it has, seen or not.
        """
        with self._changed:
            self._changed.wait_for(lambda: self.over or self._step != seen, timeout)
            return None if self.over else self._step

    def over_within(self, timeout: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self.over, timeout)

    def answer(self) -> dict[str, Any]:
        """The result of a job that is over. Raises what it failed with."""
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result


def with_earlier(result: dict[str, Any], earlier: Sequence[SyncReport]) -> dict[str, Any]:
    """The report of a sync with what was done before it was interrupted, which it found unchanged."""
    if not earlier or "unchanged" not in result:
        return result
    whole = dict(result)
    for done in earlier:
        for key in ("added", "changed", "moved", "removed", "chunks", "cached"):
            whole[key] += getattr(done, key)
        whole["unchanged"] -= done.added + done.changed + done.moved
        whole["seconds"] = round(whole["seconds"] + done.seconds, 3)
    return whole


def stopping() -> BusyError:
    """What a job fails with that the daemon no longer gets to."""
    return BusyError("the daemon is stopping", "run the command again; it works without a daemon")
