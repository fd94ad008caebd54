"""What the daemon answers: itself (ping, status), the index for reading, the writer for writing."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from vault_index.api import to_json
from vault_index.api.methods import WRITING
from vault_index.daemon import protocol
from vault_index.daemon.server import Request
from vault_index.daemon.watcher import Watcher
from vault_index.daemon.work_queue import Job
from vault_index.daemon.writer import Writer
from vault_index.models import Progress
from vault_index.results.status import DaemonStatus, Status, WatchStatus

_PROGRESS_SECONDS = 0.1
"""At most one progress line in this time."""

Call = Callable[[str, dict[str, Any]], Any]
Render = Callable[[str, dict[str, Any], str], str]


class Answers:
    """Called by the threads of the connections, several at a time. Answers are dataclasses until here, then JSON."""

    def __init__(
        self,
        version: str,
        call: Call,
        status: Callable[[DaemonStatus, WatchStatus], Status],
        render: Render,
        writer: Writer,
        watcher: Callable[[], Watcher],
    ) -> None:
        self._version = version
        self._call = call
        self._status_with = status
        self._render = render
        self._writer = writer
        self._watcher = watcher
        self._since = datetime.now().astimezone().isoformat(timespec="seconds")

    def __call__(self, request: Request, progress: Progress) -> dict[str, Any] | str:
        answer = to_json(self._answer(request, progress))
        return answer if request.format is None else self._render(request.method, answer, request.format)

    def _answer(self, request: Request, progress: Progress) -> Any:
        if request.method == "ping":
            return {
                "version": self._version,
                "protocol": protocol.VERSION,
                "pid": os.getpid(),
                "since": self._since,
            }
        if request.method in WRITING:
            return _follow(self._writer.submit(request.method, request.params), progress)
        if request.method == "status" and not request.params.get("privacy"):  # the ledger knows nothing of a daemon
            return self._with_own_problems(self._status())
        answer = self._call(request.method, request.params)
        if request.method == "doctor":
            answer = self._with_own_problems(answer)
            return replace(answer, healthy=not answer.problems)
        return answer

    def _status(self) -> Status:
        state = self._writer.state()
        daemon = DaemonStatus(running=True, pid=os.getpid(), since=self._since, work=state.work)
        watch = replace(state.watch, backend=self._watcher().backend)
        return self._status_with(daemon, watch)

    def _with_own_problems(self, answer: Any) -> Any:
        known = {problem.code for problem in answer.problems}
        own = (*self._watcher().problems, *self._writer.state().problems)
        return replace(answer, problems=(*answer.problems, *(one for one in own if one.code not in known)))


def _follow(job: Job, progress: Progress) -> Any:
    """Report how far a job is until it is over: each change, but not too many, and one at least every heartbeat."""
    seen, beat = job.step, time.monotonic()
    while True:
        try:
            return job.answer.result(_PROGRESS_SECONDS)
        except TimeoutError:
            step, now = job.step, time.monotonic()
            if step != seen or now >= beat + protocol.HEARTBEAT_SECONDS:
                progress(*step)
                seen, beat = step, now
