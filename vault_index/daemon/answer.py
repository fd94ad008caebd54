"""What the daemon answers: itself (ping, status), the index for reading, the writer for writing."""

import os
from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol

from vault_index.api.methods import WRITING
from vault_index.daemon import protocol
from vault_index.daemon.jobs import Job, Step
from vault_index.daemon.server import Request
from vault_index.daemon.writer import Writer
from vault_index.models import Progress
from vault_index.results import DaemonStatus, Problem, WatchStatus

_PROGRESS_SECONDS = 0.1
"""At most one progress line in this time."""

Dispatch = Callable[[str, dict[str, Any]], dict[str, Any]]
Render = Callable[[str, dict[str, Any], str], str]


class Watching(Protocol):
    """What an answer tells of the watcher."""

    @property
    def backend(self) -> str | None: ...

    @property
    def problems(self) -> tuple[Problem, ...]: ...


class Answers:
    """Called by the threads of the connections, several at a time."""

    def __init__(
        self,
        version: str,
        dispatch: Dispatch,
        status: Callable[[DaemonStatus, WatchStatus], dict[str, Any]],
        render: Render,
        writer: Writer,
        watcher: Callable[[], Watching],
    ) -> None:
        self._version = version
        self._dispatch = dispatch
        self._status_with = status
        self._render = render
        self._writer = writer
        self._watcher = watcher
        self._since = datetime.now().astimezone().isoformat(timespec="seconds")

    def __call__(self, request: Request, progress: Progress) -> dict[str, Any] | str:
        result = self._result(request, progress)
        return result if request.format is None else self._render(request.method, result, request.format)

    def _result(self, request: Request, progress: Progress) -> dict[str, Any]:
        if request.method == "ping":
            return {
                "version": self._version,
                "protocol": protocol.VERSION,
                "pid": os.getpid(),
                "since": self._since,
            }
        if request.method in WRITING:
            return _follow(self._writer.submit(request.method, request.params), progress)
        if request.method == "status":
            return self._with_own_problems(self._status(request.params))
        if request.method == "doctor":
            result = self._with_own_problems(self._dispatch("doctor", request.params))
            return result | {"healthy": not result["problems"]}
        return self._dispatch(request.method, request.params)

    def _status(self, params: dict[str, Any]) -> dict[str, Any]:
        if params.get("privacy"):  # the ledger tells nothing of a daemon
            return self._dispatch("status", params)
        state = self._writer.state()
        daemon = DaemonStatus(running=True, pid=os.getpid(), since=self._since, work=state.work)
        watch = WatchStatus(self._watcher().backend, state.last_event, state.last_reconcile, state.missed)
        return self._status_with(daemon, watch)

    def _with_own_problems(self, result: dict[str, Any]) -> dict[str, Any]:
        if "problems" not in result:  # the ledger of `--privacy`
            return result
        known = {problem["code"] for problem in result["problems"]}
        own = [
            {"code": problem.code, "message": problem.message, "hint": problem.hint}
            for problem in (*self._watcher().problems, *self._writer.state().problems)
            if problem.code not in known
        ]
        return result | {"problems": [*result["problems"], *own]}


def _follow(job: Job, progress: Progress) -> dict[str, Any]:
    """Report a job's steps until it is over: not too many, and one at least every heartbeat."""
    seen = Step("waiting", 0, 0)
    while (step := job.wait(seen, protocol.HEARTBEAT_SECONDS)) is not None:
        progress(*step)
        seen = step
        job.over_within(_PROGRESS_SECONDS)
    return job.answer()
